package credits

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// The fields lie where 7.9.4 has them, and a packet with a wrong bit is none.
func TestPackets(t *testing.T) {
	p := Packet{Init: true, Lane: 3, Sent: 0x123, Limit: 0xABC}
	var b [PacketLen]byte
	p.Put(b[:])
	if !bytes.Equal(b[:4], []byte{0x11, 0x23, 0x3A, 0xBC}) {
		t.Errorf("%x", b)
	}
	for i := range 8 * PacketLen {
		bad := b
		bad[i/8] ^= 1 << (i % 8)
		var q Packet
		if q.Get(bad[:]) {
			t.Errorf("with bit %d turned over it is %+v", i, q)
		}
	}
}

// The CRC is the rest of a long division by x^16+x^12+x^3+x+1, bit by bit, of what begins inverted; it is inverted
// itself.
func TestCRCIsTheRestOfADivision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, second := rapid.Uint16().Draw(t, "first"), rapid.Uint16().Draw(t, "second")
		rest := uint64(first^0xFFFF)<<32 | uint64(second)<<16
		for bit := 47; bit >= 16; bit-- {
			if rest>>bit&1 != 0 {
				rest ^= (1<<16 | 1<<12 | 1<<3 | 1<<1 | 1) << (bit - 16)
			}
		}
		b := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, first), second)
		if got, want := lpcrc(b), ^uint16(rest); got != want {
			t.Fatalf("%x: %04x, not %04x", b, got, want)
		}
	})
}

// Frames carry as many packets as there are lanes, and are no longer than they must be.
func TestFrames(t *testing.T) {
	for n := range Lanes + 1 {
		var list []Packet
		for i := range n {
			list = append(list, Packet{Lane: uint8(i), Sent: uint16(i), Limit: uint16(4095 - i)})
		}
		b := make([]byte, FrameLen(n))
		Encode(b, wire.MAC(0x02_0000_0000_01), list)
		got, err := Decode(nil, b)
		if err != nil || len(got) != n {
			t.Fatalf("%d packets: %+v, %v", n, got, err)
		}
		for i := range got {
			if got[i] != list[i] {
				t.Errorf("%+v is %+v", list[i], got[i])
			}
		}
		if n > 0 {
			b[headerLen+PacketLen*n-1] ^= 1
			if got, err = Decode(nil, b); !errors.Is(err, ErrPacket) || len(got) != n-1 {
				t.Errorf("the last of %d packets is broken: %d, %v", n, len(got), err)
			}
		}
	}
	if _, err := Decode(nil, make([]byte, 64)); !errors.Is(err, ErrFrame) {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	b := make([]byte, FrameLen(2))
	Encode(b, 1, []Packet{{Lane: 1, Sent: 7, Limit: 4095}, {Init: true}})
	f.Add(b)
	f.Add(b[:20])
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := Decode(nil, b)
		if err != nil {
			return
		}
		again := make([]byte, FrameLen(len(list)))
		Encode(again, 0, list)
		if n := headerLen + PacketLen*len(list); !bytes.Equal(again[12:n], b[12:n]) {
			t.Errorf("%x is read as %+v, which is %x", b, list, again)
		}
		p := NewPort(Config{Buffer: 100_000}, 0xFF, units.Gbps, 1500)
		for i := range list {
			if on := p.Process(0, &list[i]); bits.OnesCount8(on) > 1 {
				t.Errorf("%08b went on", on)
			}
		}
	})
}

func exchange(now units.Time, from, to *Port) {
	for _, p := range from.Poll(now, nil) {
		to.Process(now, &p)
	}
}

// A port sends nothing before its peer has said what it takes; and not again when the peer was made anew, until it says so.
func TestBeginnings(t *testing.T) {
	c := Config{Buffer: 12_800}
	a, b := NewPort(c, 1, units.Gbps, 1500), NewPort(c, 1, units.Gbps, 1500)
	a.Want(0, 0, 10)
	if a.May(0, 1) || a.Paused() != 1 {
		t.Fatal("it sends to a peer that has said nothing")
	}
	b.Poll(0, nil) // is lost
	exchange(0, a, b)
	if b.Due(0) > 0 {
		t.Error("who hears that its peer does not know what was sent says nothing")
	}
	exchange(5, b, a)
	if !a.May(0, 200) || a.May(0, 201) || a.Paused() != 0 {
		t.Errorf("it may send: %+v", a.Counters(5))
	}
	for range 5 {
		exchange(5, a, b)
		exchange(5, b, a)
	}
	a.Send(0, 150)
	a.CountReceived(0, 3000)            // all that b sent; a new peer begins at 0, and nothing is missing
	b = NewPort(c, 1, units.Gbps, 1500) // what it was sent is gone
	exchange(9, b, a)
	if a.May(0, 1) {
		t.Error("it goes on by what the old peer said")
	}
	exchange(9, a, b)
	exchange(9, b, a)
	if !a.May(0, 200) || a.May(0, 201) || a.Counters(9).Lost[0] != 0 {
		t.Errorf("it may send: %+v", a.Counters(9))
	}
	b.Send(0, 7) // and is lost
	exchange(9+b.config.PeriodAt(units.Gbps), b, a)
	if lost := a.Counters(9).Lost[0]; lost != 7 {
		t.Errorf("of 7 blocks that did not come %d are lost", lost)
	}
}

// However much buffer there is, 2048 blocks are all that is promised; what is waited for is counted.
func TestLongLinksCrawl(t *testing.T) {
	c := Config{Buffer: units.MB}
	a, b := NewPort(c, 1, units.Gbps, 1500), NewPort(c, 1, units.Gbps, 1500)
	for range 3 {
		exchange(0, a, b)
		exchange(0, b, a)
	}
	for range 128 {
		if !a.May(0, 16) {
			t.Fatal("2048 blocks are not promised")
		}
		a.Send(0, 16)
		b.CountReceived(0, 16)
	}
	if a.Want(100, 0, 1); a.Paused() != 1 {
		t.Fatal("more than 2048 blocks are")
	}
	exchange(300, b, a)
	if k := a.Counters(400); a.Paused() != 0 || k.Waits[0] != 1 || k.Waited[0] != 200 || k.Credits[0] != 2048 {
		t.Errorf("%+v", k)
	}
	if from, until := a.Last(0); from != 100 || until != 300 {
		t.Errorf("it was off from %v to %v", from, until)
	}
}

// A flow control packet leaves at the end of a period, when much was freed, and when the peer's next packet may wait for it.
func TestWhenPacketsAreDue(t *testing.T) {
	c := Config{Buffer: 64 * 100, Update: 64 * 20, Period: units.Millisecond}
	a, b := NewPort(c, 1, units.Gbps, 640), NewPort(c, 1, units.Gbps, 640)
	for range 3 {
		exchange(0, a, b)
		exchange(0, b, a)
	}
	buffer := func(arrived uint16, buffered units.Size) {
		b.CountReceived(0, arrived)
		b.SetBuffered(0, buffered*Block)
	}
	buffer(60, 60)
	if b.Due(5) != units.Millisecond {
		t.Errorf("nothing was freed, and one is due at %v", b.Due(5))
	}
	if buffer(0, 41); b.Due(5) != units.Millisecond {
		t.Error("19 blocks are not worth a packet")
	}
	if buffer(0, 40); b.Due(5) != 5 {
		t.Error("20 blocks are")
	}
	exchange(5, b, a)
	buffer(51, 40+51) // of 100-60+20 that may come, 9 are left: fewer than a longest frame has
	if b.Due(6) != 5+units.Millisecond {
		t.Error("there is nothing to tell")
	}
	if buffer(0, 90); b.Due(6) != 6 {
		t.Error("a block more, and the peer can send any frame: it is to know")
	}
	if held := b.PeerStopped(); held != 1 {
		t.Errorf("of %08b the peer may not send any frame", held)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []Config{{}, {Buffer: 1500}, {Buffer: 10_000, Extra: -1}, {Buffer: 10_000, Period: -1}, {Buffer: 10_000, Update: 20_000}, {Buffer: units.GB}} {
		if c.Validate(1522) == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if err := (&Config{Buffer: 1536}).Validate(1522); err != nil {
		t.Error(err)
	}
}

// A packet of an operand or a lane that there is not is broken, though its CRC is right; a frame has as many packets as
// there are lanes, at most.
func TestPacketsThatAreNone(t *testing.T) {
	b := make([]byte, PacketLen)
	for first, want := range map[[2]uint16]bool{
		{0x0001, 0x7001}: true, {0x1001, 0x7001}: true, {0x2001, 0x7001}: false, {0x0001, 0x8001}: false,
	} {
		binary.BigEndian.PutUint16(b, first[0])
		binary.BigEndian.PutUint16(b[2:], first[1])
		binary.BigEndian.PutUint16(b[4:], lpcrc(b[:4]))
		var p Packet
		if p.Get(b) != want {
			t.Errorf("%x: %v", b, !want)
		}
	}
	nine := make([]Packet, Lanes+1)
	for i := range nine {
		nine[i] = Packet{Lane: uint8(i % Lanes), Limit: 1}
	}
	frame := make([]byte, FrameLen(len(nine)))
	Encode(frame, 1, nine)
	if got, err := Decode(nil, frame); err != nil || len(got) != Lanes {
		t.Errorf("%d packets, %v", len(got), err)
	}
	for i := 12; i < headerLen; i++ { // type, opcode and organisation
		frame[i]++
		if _, err := Decode(nil, frame); err != ErrFrame {
			t.Errorf("byte %d is another: %v", i, err)
		}
		frame[i]--
	}
}

// Where a configuration says nothing: a packet at least every 65 536 symbol times of a link of four lanes (7.9.4), and
// sooner after a sixteenth of the buffer, or a block.
func TestDefaults(t *testing.T) {
	c := Config{Buffer: 5 * Block}
	const symbols = 65536 * units.Time(4*8)
	if got, want := c.PeriodAt(10*units.Gbps), symbols*units.Second/units.Time(10*units.Gbps); got != want {
		t.Errorf("period %v, want %v", got, want)
	}
	for buffer, want := range map[units.Size]uint16{5 * Block: 1, 64 * Block: 4, 100_000 * Block: most / 16} {
		if c.Buffer = buffer; c.update() != want {
			t.Errorf("buffer %v: a packet after %d blocks, want %d", buffer, c.update(), want)
		}
	}
}
