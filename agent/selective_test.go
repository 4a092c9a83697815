package agent

import (
	"math/rand/v2"
	"slices"
	"testing"

	"photon/units"
	"photon/wire"
)

// newSelective is a cable between hosts with selective repeat.
func newSelective(t *testing.T, s *Selective) *cable {
	return newCable(t.Fatalf, rand.New(rand.NewPCG(1, 5)), func(i int) Config {
		c := cableConfig(i)
		c.Selective = s
		return c
	})
}

// packetOf is which packet of a flow a frame is, counted from the first PSN; it is not ok if it has no data.
func packetOf(frame []byte, first uint32) (n uint32, ok bool) {
	var h wire.Header
	wire.Parse(frame, &h)
	bth := wire.BTH(frame[h.BTH:])
	return (bth.PSN() - first) & psnMask, bth.Opcode() <= wire.OpSendOnly
}

// repeats sends a flow, of which some packets are lost when they are sent first, and returns how many packets it
// repeated.
func (c *cable) repeats(t *testing.T, packets int, lost ...int) int {
	t.Helper()
	sent := map[uint32]int{}
	f := c.send(0, 1, packets)
	first := c.hosts[0].h.flows[f.slot].first
	c.lost = func(b []byte) bool {
		n, ok := packetOf(b, first)
		if !ok {
			return false
		}
		sent[n]++
		return sent[n] == 1 && slices.Contains(lost, int(n))
	}
	c.run(c.now + 20*units.Millisecond)
	if !f.done || c.whole(f) != 1 {
		t.Fatalf("lost %v: done %v, arrived %d times", lost, f.done, c.whole(f))
	}
	again := 0
	for n, times := range sent {
		if again += times - 1; times > 1 && !slices.Contains(lost, int(n)) {
			t.Errorf("lost %v: packet %d was sent %d times", lost, n, times)
		}
	}
	return again
}

// What is lost is repeated once, and nothing else is: whichever packets they are, the first and the last too, across
// the end of the numbers.
func TestOnlyWhatIsLostIsRepeated(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 6))
	cases := [][]int{nil, {0}, {1}, {50}, {50, 51, 52}, {0, 1, 2}, {10, 20, 30, 40}, {0, 99, 150}, {199}, {198, 199}, {0, 199}}
	for range 100 {
		cases = append(cases, random.Perm(200)[:1+random.IntN(40)])
	}
	for _, lost := range cases {
		for _, window := range []int{64, 256, 1000} {
			c := newSelective(t, &Selective{Window: window, Reorder: 1})
			c.hosts[0].h.near(1<<24 - 100)
			if again := c.repeats(t, 200, lost...); again != len(lost) {
				t.Errorf("window %d: %v were lost, and %d packets sent again", window, lost, again)
			}
		}
	}
}

// Beside it, the sender that goes back to the first that is missing sends what was under way again.
func TestGoBackNRepeatsMore(t *testing.T) {
	c := newSelective(t, nil)
	f := c.send(0, 1, 200)
	first := c.hosts[0].h.flows[f.slot].first
	sent, dropped := 0, false
	c.lost = func(b []byte) bool {
		n, ok := packetOf(b, first)
		if !ok {
			return false
		}
		sent++
		lose := !dropped && n == 50
		dropped = dropped || lose
		return lose
	}
	c.run(c.now + 20*units.Millisecond)
	if !f.done || sent < 200+20 {
		t.Errorf("done %v, %d packets sent", f.done, sent)
	}
}

// Packets that overtake each other, as on several paths, are placed. None is repeated if a missing one counts as
// lost only when more have come than can overtake it; and some are if it counts as lost at once.
func TestOvertakingIsNoLoss(t *testing.T) {
	for _, c := range []struct {
		reorder int
		none    bool
	}{{100, true}, {1, false}} {
		cable := newSelective(t, &Selective{Window: 400, Reorder: c.reorder})
		cable.trouble.late, cable.trouble.upTo = 500, 10*units.Microsecond // 48 packets
		if again := cable.repeatsAny(t, 3000); (again == 0) != c.none {
			t.Errorf("lost when %d have come: %d packets were sent again", c.reorder, again)
		}
	}
}

func (c *cable) repeatsAny(t *testing.T, packets int) int {
	t.Helper()
	f := c.send(0, 1, packets)
	c.run(c.now + 20*units.Millisecond)
	if !f.done || c.whole(f) != 1 {
		t.Fatalf("done %v, arrived %d times", f.done, c.whole(f))
	}
	return int(c.hosts[0].h.flows[f.slot].repeated)
}

// No more is under way than the window, from the first packet that is not acknowledged on; and so much is: a window in
// each round trip.
func TestWindowOfSelectiveRepeat(t *testing.T) {
	for _, window := range []int{1, 7, 64} {
		c := newSelective(t, &Selective{Window: window, Reorder: 1})
		f := c.send(0, 1, 2000)
		most := uint64(0)
		for !f.done && c.now < units.Second {
			c.run(c.now + units.Microsecond)
			if r := &c.hosts[0].h.flows[f.slot].requester; !f.done {
				most = max(most, max(r.next, r.high)-r.acked)
			}
		}
		const trip = 10_300 * units.Nanosecond // there and back, and two frames
		if trips := int(c.now / trip); !f.done || most != uint64(window) || trips > 13*2000/window/10 {
			t.Errorf("window %d: done %v after %d round trips, up to %d packets under way", window, f.done, trips, most)
		}
	}
}

func TestSelectiveErrors(t *testing.T) {
	for _, s := range []Selective{{0, 1}, {MostWindow + 1, 1}, {10, 0}, {10, 11}} {
		c := cableConfig(0)
		if c.Selective = &s; c.Check() == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}
