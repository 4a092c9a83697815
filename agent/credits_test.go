package agent

import (
	"testing"

	"pgregory.net/rapid"

	"photon/credits"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// creditPeer is the other end of a link with credits, in a test's hand. It counts blocks of 64 bytes by itself.
type creditPeer struct {
	*strangerPeer
	t      *rapid.T
	limit  int // blocks that the host was given in all
	got    int // blocks that the host has sent
	gave   int // blocks that were sent to the host
	lost   int // of them, those that did not arrive
	told   int // flow control packets sent to the host
	heard  int // and those that came
	init   bool
	acks   int
	buffer int // blocks that the host sets aside
}

func blocksOf(length int) int { return (length + 63) / 64 }

// grant tells the host how much was sent to it, and how much more it may send.
func (p *creditPeer) grant(more int) {
	p.limit += more
	p.told++
	b := make([]byte, credits.FrameLen(1))
	credits.Encode(b, cableMAC(1), []credits.Packet{{Lane: 3, Sent: uint16(p.gave % 4096), Limit: uint16(p.limit % 4096)}})
	p.deliver(b)
	p.init = false
}

func (p *creditPeer) deliver(b []byte) {
	f, _ := p.env.Alloc(len(b))
	copy(p.env.Bytes(&f), b)
	p.h.Receive(p.now, 0, []fabric.Frame{f})
}

// give sends the host a flow of one packet, which asks for an acknowledgement, unless it gets lost.
func (p *creditPeer) give(qp uint32, payload int, arrives bool) {
	length := wire.BTHLen + payload + wire.ICRCLen
	b := make([]byte, wire.EthernetLen+wire.IPv4Len+wire.UDPLen+length)
	r := wire.RoCE{DstMAC: cableMAC(0), SrcMAC: cableMAC(1), Src: cableAddress(1), Dst: cableAddress(0), SrcPort: 50_000}
	r.TOS = 26 << 2
	at := r.Encode(b, length)
	wire.BTH(b[at:]).Encode(wire.OpSendOnly, false, qp, true, qp)
	wire.SealICRC(b[wire.EthernetLen:], at-wire.EthernetLen)
	p.gave += blocksOf(len(b))
	if arrives {
		p.deliver(b)
	} else if p.told > 0 { // else the host does not know yet what was sent to it before
		p.lost += blocksOf(len(b))
	}
}

// hear takes what the host sends until it has nothing to send at once.
func (p *creditPeer) hear() {
	var out [1]fabric.Frame
	for p.h.Next(p.now, 0) <= p.now {
		if p.h.Transmit(p.now, 0, out[:]) == 0 {
			continue
		}
		b := p.env.Bytes(&out[0])
		p.now += cableRate.Serialize(units.Size(len(b) + wire.Overhead))
		if b[12] == 0x88 && b[13] == 0x08 {
			p.flowControl(b)
		} else {
			p.frame(b)
		}
		p.env.Free(out[0])
	}
}

func (p *creditPeer) frame(b []byte) {
	var h wire.Header
	wire.Parse(b, &h)
	if h.TOS>>2 != 26 { // an acknowledgement is in no lane
		p.acks++
		return
	}
	if p.got += blocksOf(len(b)); p.got > p.limit {
		p.t.Fatalf("%d blocks are sent, %d were granted", p.got, p.limit)
	}
}

func (p *creditPeer) flowControl(b []byte) {
	list, err := credits.Decode(nil, b)
	if err != nil || len(list) != 1 || list[0].Lane != 3 {
		p.t.Fatalf("%+v, %v", list, err)
	}
	p.heard++
	switch f := list[0]; {
	case f.Init != p.init, int(f.Sent) != p.got%4096:
		p.t.Fatalf("it says %+v, and has sent %d blocks; begins: %v", f, p.got, p.init)
	case !f.Init && int(f.Limit) != (p.gave+p.buffer)%4096:
		p.t.Fatalf("it says %+v, and was sent %d blocks, with room for %d", f, p.gave, p.buffer)
	}
}

// A host with credits sends nothing before its peer has given some, never more than that, and all that it may; what it
// receives it gives back at once, lost frames included. Acknowledgements, which are in no lane, wait for no credits,
// and pauses mean nothing.
func TestHostsKeepToTheirCredits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		buffer := rapid.SampledFrom([]int{40, 100, 3000}).Draw(t, "buffer")
		c := cableConfig(0)
		c.Payload, c.Credits = 1000, &credits.Config{Buffer: units.Size(buffer * 64), Period: units.Millisecond}
		c.AckTimeout = units.Second
		s := &strangerPeer{station: &station{env: fabric.NewEnv(fabric.NewHeaderPoolOf(2048), 1)}}
		var err error
		if s.h, err = New(c, s.env); err != nil {
			t.Fatal(err)
		}
		if _, err := s.h.AddFlow(0, FlowSpec{Peer: cableAddress(1), PeerMAC: cableMAC(1), QP: 9}); err != nil {
			t.Fatal(err)
		}
		p := &creditPeer{strangerPeer: s, t: t, init: true, buffer: min(buffer, 2048)}
		pause := make([]byte, pfc.FrameLen)
		xoff := pfc.Frame{Enable: 1<<3 | 1<<6, Quanta: [8]uint16{3: 0xFFFF, 6: 0xFFFF}}
		xoff.Encode(pause, cableMAC(1))
		p.hear()
		if p.got > 0 || s.h.Paused()&(1<<3) == 0 {
			t.Fatalf("%d blocks before any were given", p.got)
		}
		p.deliver(pause)
		arrived := 0
		for i := range rapid.IntRange(1, 40).Draw(t, "rounds") {
			for range rapid.IntRange(0, 3).Draw(t, "packets for the host") {
				arrives := rapid.Bool().Draw(t, "arrives")
				if p.give(uint32(100+arrived), 900, arrives); arrives {
					arrived = (arrived + 1) % 32
				}
			}
			p.grant(rapid.IntRange(0, min(500, 2048-(p.limit-p.got))).Draw(t, "credits"))
			p.hear()
			if left := p.limit - p.got; left >= blocksOf(1000+headMax+wire.ICRCLen) {
				t.Fatalf("round %d: it stops, and %d blocks more would be taken", i, left)
			}
			p.now += units.Time(rapid.IntRange(0, 3).Draw(t, "later")) * units.Millisecond
			p.hear()
		}
		st := s.h.Stats(p.now).Ports[0]
		if n := st.Credits; int(n.Sent) != p.heard || int(n.Received) != p.told || int(n.Lost[3]) != p.lost ||
			int(n.Credits[3]) != p.limit-p.got || n.Waiting != 1<<3 {
			t.Fatalf("%d packets sent, %d received, %d blocks lost, %d left: it counts %+v",
				p.heard, p.told, p.lost, p.limit-p.got, n)
		}
		if st.BadControl != 1 || int(st.RxControl) != p.told+1 || int(st.TxControl) != p.heard {
			t.Fatalf("%d control frames are bad, %d came, %d left", st.BadControl, st.RxControl, st.TxControl)
		}
		if err := s.h.Audit(); err != nil {
			t.Fatal(err)
		}
	})
}
