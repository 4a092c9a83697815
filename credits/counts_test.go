package credits

import (
	"bytes"
	"testing"

	"photon/units"
	"photon/wire"
)

// met are two ends that know each other, of lanes 1 and 3.
func met(c Config) (a, b *Port) {
	a, b = NewPort(c, 0b1010, units.Gbps, 640), NewPort(c, 0b1010, units.Gbps, 640)
	for range 3 {
		exchange(0, a, b)
		exchange(0, b, a)
	}
	return a, b
}

// Packets are counted at both ends, and so are blocks that did not arrive, up to all that is promised at a time.
func TestCounts(t *testing.T) {
	a, b := met(Config{Buffer: units.MB, Period: units.Millisecond})
	before, received := a.Counters(0), b.Counters(0)
	if before.Sent != received.Received || before.Sent < 4 || before.Lanes != 0b1010 {
		t.Fatalf("%+v, %+v", before, received)
	}
	if list := a.Poll(1, nil); len(list) != 0 || a.Due(1) != units.Millisecond {
		t.Errorf("there is nothing to say before the period ends: %+v, due at %v", list, a.Due(1))
	}
	a.Send(3, 2048)
	a.Send(1, 10)
	b.CountReceived(1, 9)
	exchange(units.Millisecond, a, b)
	if k := b.Counters(units.Millisecond); k.Lost != [Lanes]uint64{1: 1, 3: 2048} || k.Received != received.Received+2 {
		t.Errorf("%+v", k)
	}
	if k := a.Counters(units.Millisecond); k.Sent != before.Sent+2 || k.Credits != [Lanes]uint16{1: 2038} {
		t.Errorf("%+v", k)
	}
	if exchange(units.Millisecond, b, a); a.Counters(0).Credits != [Lanes]uint16{1: 2048, 3: 2048} {
		t.Errorf("what was lost does not hold credits: %+v", a.Counters(0))
	}
}

// Lanes without credits wait for nothing, and packets about them change nothing.
func TestLanesWithoutCredits(t *testing.T) {
	a, _ := met(Config{Buffer: 6400})
	was := *a
	if a.Want(0, 2, 4000); !a.May(2, 4000) || a.Paused() != 0 {
		t.Error("a lane without credits waits for some")
	}
	if on := a.Process(0, &Packet{Lane: 2, Sent: 7, Limit: 7}); on != 0 || *a != was {
		t.Errorf("%08b went on", on)
	}
}

// What ports know of time moves with it: periods, and since when a lane waits.
func TestTimeMoves(t *testing.T) {
	a, b := met(Config{Buffer: 6400, Period: units.Millisecond})
	a.Send(1, 100)
	a.Want(100, 1, 5)
	b.CountReceived(1, 100)
	exchange(units.Microsecond, b, a)
	a.Want(units.Microsecond, 3, 101) // never
	const by = 3 * units.Second
	last, due, waited := a.lane, a.Due(units.Microsecond), a.Counters(units.Microsecond).Waited
	a.Rebase(by)
	for i := range last {
		if from, until := a.Last(i); last[i].since != 0 && from != last[i].since-by || a.off>>i&1 == 0 && last[i].ended != 0 && until != last[i].ended-by {
			t.Errorf("lane %d was off from %v to %v, and is said to have been from %v to %v", i, last[i].since, last[i].ended, from, until)
		}
	}
	if got := a.Due(units.Microsecond - by); got != due-by {
		t.Errorf("due at %v, not %v", got, due-by)
	}
	if got := a.Counters(units.Microsecond - by).Waited; got != waited || waited[1] == 0 {
		t.Errorf("waited for %v, not %v", got, waited)
	}
}

// A frame has the address of who sends it, and nothing of what was in its buffer before.
func TestFramesAreWhole(t *testing.T) {
	b := bytes.Repeat([]byte{0xEE}, 100)
	Encode(b, 0x02_0000_0000_07, []Packet{{Lane: 1}})
	if wire.MACAt(b) != Destination || wire.MACAt(b[6:]) != 0x02_0000_0000_07 {
		t.Errorf("%x", b[:12])
	}
	if n := FrameLen(1); bytes.Contains(b[:n], []byte{0xEE}) || b[n] != 0xEE {
		t.Errorf("%x", b)
	}
}

// At XON the peer may send a packet of the longest kind, and with a block more it may not.
func TestXON(t *testing.T) {
	const longest = 2000
	c := Config{Buffer: 6400, Period: 100 * units.Microsecond}
	for more, want := range map[units.Size]uint8{0: 0, Block: 1 << 3} {
		p := NewPort(c, 1<<3, 10*units.Gbps, longest)
		p.SetBuffered(3, p.XON(3)+more)
		p.Poll(0, nil)
		if got := p.PeerStopped(); got != want {
			t.Errorf("%d bytes more than XON: stopped %08b, want %08b", more, got, want)
		}
	}
}
