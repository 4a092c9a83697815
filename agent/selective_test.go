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
// the end of the numbers. Packets that come behind it show that it is lost: the timer is for the last, behind which there
// are none.
func TestOnlyWhatIsLostIsRepeated(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 6))
	cases := [][]int{nil, {0}, {1}, {50}, {50, 51, 52}, {0, 1, 2}, {10, 20, 30, 40}, {0, 99, 150}, {199}, {198, 199}, {0, 199}}
	for range 100 {
		cases = append(cases, random.Perm(200)[:1+random.IntN(40)])
	}
	for _, lost := range cases {
		for _, window := range []int{64, 256, 1000} {
			c := newSelective(t, &Selective{Window: window, Reorder: 1})
			c.hosts[0].h.setNextPSN(1<<24 - 100)
			if again := c.repeats(t, 200, lost...); again != len(lost) {
				t.Errorf("window %d: %v were lost, and %d packets sent again", window, lost, again)
			}
			if n := c.hosts[0].h.Timeouts(); n > 0 && !slices.Contains(lost, 199) {
				t.Errorf("window %d: %v were lost, and the timer ran out %d times", window, lost, n)
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
		cable.trouble.delayed, cable.trouble.upTo = 500, 10*units.Microsecond // 48 packets
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

// A receiver that places fewer packets than a sender has under way says so each time that it must leave some: the sender
// repeats these, and waits for no timer.
func TestSmallerWindowOfTheReceiver(t *testing.T) {
	for _, window := range []int{1, 8, 30} {
		c := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 5)), func(i int) Config {
			c := cableConfig(i)
			c.Selective = &Selective{Window: []int{64, window}[i], Reorder: 1}
			return c
		})
		lost := []int{0, 150, 300, 450, 600, 750}
		c.hosts[0].h.setNextPSN(1<<24 - 400)
		f, sent := c.send(0, 1, 900), map[uint32]int{}
		first := c.hosts[0].h.flows[f.slot].first
		c.lost = func(b []byte) bool {
			n, ok := packetOf(b, first)
			if ok {
				sent[n]++
			}
			return ok && sent[n] == 1 && slices.Contains(lost, int(n))
		}
		c.run(20 * units.Millisecond)
		if n := c.hosts[0].h.Timeouts(); !f.done || c.whole(f) != 1 || n > 0 {
			t.Errorf("window %d of the receiver: done %v, arrived %d times, the timer ran out %d times", window, f.done, c.whole(f), n)
		}
	}
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
				most = max(most, r.outstanding())
			}
		}
		const trip = 10_300 * units.Nanosecond // there and back, and two frames
		if trips := int(c.now / trip); !f.done || most != uint64(window) || trips > 13*2000/window/10 {
			t.Errorf("window %d: done %v after %d round trips, up to %d packets under way", window, f.done, trips, most)
		}
	}
}

// What is lost at the end of a message, or all of a short one, is repeated when nothing has come for the low timeout,
// from the last acknowledgement on, and not for the host's.
func TestLowTimeout(t *testing.T) {
	const low, usual, trip = 30 * units.Microsecond, 10 * units.Millisecond, 12 * units.Microsecond
	for _, c := range []struct {
		packets int
		lost    []int
	}{{1, []int{0}}, {2, []int{0, 1}}, {200, []int{199}}, {200, []int{198, 199}}, {500, []int{20, 497, 498, 499}}} {
		for _, x := range []struct {
			low  units.Time
			most units.Time // beside what the packets take
			few  int
		}{{low, low + 3*trip, 3}, {0, 2 * usual, 0}} {
			cable := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 5)), func(i int) Config {
				c := cableConfig(i)
				c.AckTimeout, c.Selective = usual, &Selective{Window: 64, Reorder: 1, LowTimeout: x.low, LowPackets: x.few}
				return c
			})
			f, lost := cable.send(0, 1, c.packets), map[uint32]bool{}
			first := cable.hosts[0].h.flows[f.slot].first
			cable.lost = func(b []byte) bool {
				n, ok := packetOf(b, first)
				if !ok || lost[n] || !slices.Contains(c.lost, int(n)) {
					return false
				}
				lost[n] = true
				return true
			}
			for !f.done && cable.now < units.Second {
				cable.run(cable.now + units.Microsecond)
			}
			takes := units.Time(c.packets)*cableRate.Serialize(200) + 4*trip
			if least := x.most / 4; !f.done || cable.now < least || cable.now > takes+x.most {
				t.Errorf("low timeout %v, %v of %d packets lost: done %v after %v; from %v to %v", x.low, c.lost, c.packets, f.done, cable.now, least, takes+x.most)
			}
			if again := cable.hosts[0].h.flows[f.slot].repeated; again != uint64(len(c.lost)) {
				t.Errorf("low timeout %v, %v of %d packets lost: %d sent again", x.low, c.lost, c.packets, again)
			}
		}
	}
}

// The low timeout is for few packets under way: of many, that nothing comes for longer than it takes says that there is
// a queue, and nothing is repeated.
func TestLowTimeoutIsForFew(t *testing.T) {
	cable := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 5)), func(i int) Config {
		c := cableConfig(i)
		c.AckTimeout, c.Selective = units.Millisecond, &Selective{Window: 64, Reorder: 1, LowTimeout: 30 * units.Microsecond, LowPackets: 3}
		return c
	})
	f := cable.send(0, 1, 2000)
	cable.lost = func(b []byte) bool { // acknowledgements of a while, all of which the next one makes up for
		var h wire.Header
		wire.Parse(b, &h)
		return wire.BTH(b[h.BTH:]).Opcode() == wire.OpAcknowledge && cable.now < 400*units.Microsecond
	}
	cable.run(300 * units.Microsecond)
	r := &cable.hosts[0].h.flows[f.slot].requester
	if sent := r.neverSent() - uint64(r.first); sent != 64 || r.repeated != 0 {
		t.Errorf("%d packets sent, %d again; a window of 64 is under way", sent, r.repeated)
	}
	cable.run(units.Second)
	if !f.done || cable.whole(f) != 1 {
		t.Errorf("done %v, arrived %d times", f.done, cable.whole(f))
	}
}

// An acknowledgement may come when the time of its flow is over, and it stands behind others at the port: it keeps its
// place, and goes on when it has its turn.
func TestAcknowledgedInTheQueue(t *testing.T) {
	cable := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 5)), func(i int) Config {
		c := cableConfig(i)
		c.Selective = &Selective{Window: 8, Reorder: 1, LowTimeout: 20 * units.Microsecond, LowPackets: 8}
		c.Senders, c.Receivers, c.Retries = 64, 64, 100
		return c
	})
	cable.trouble.delayed, cable.trouble.upTo = 500, 40*units.Microsecond
	for qp := range uint32(40) {
		cable.send(0, 1+qp, 300)
	}
	cable.run(100 * units.Millisecond)
	for _, f := range cable.flows {
		if !f.done || cable.whole(f) != 1 {
			t.Errorf("queue pair %d: done %v, arrived %d times", f.qp, f.done, cable.whole(f))
		}
	}
}

func TestSelectiveErrors(t *testing.T) {
	for _, s := range []Selective{{Window: 0, Reorder: 1}, {Window: MostWindow + 1, Reorder: 1}, {Window: 10}, {Window: 10, Reorder: 11}, {10, 1, -1, 1}, {10, 1, 1, 0}, {10, 1, 1, 11}} {
		c := cableConfig(0)
		if c.Selective = &s; c.Check() == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}

// With low timeouts a sender doubts after as long as with others, but before it gives up.
func TestLowTimeoutsDoubtAsLate(t *testing.T) {
	for _, c := range []struct {
		low     units.Time
		retries uint8
		want    uint8
	}{{320, 7, 2}, {100, 7, 4}, {1, 255, 21}, {1, 7, 6}, {320, 1, 2}} {
		if got := lowDoubts(c.low, &recovery{timeout: 320, retries: c.retries}); got != c.want {
			t.Errorf("%d of %d, %d retries: after %d timeouts, want %d", c.low, 320, c.retries, got, c.want)
		}
	}
}

// What acknowledgements in order pass has no place any more, and the last of it is the latest until there is more.
func TestScoreboardPasses(t *testing.T) {
	b := newScoreboard(&Selective{Window: 64, Reorder: 3}, &patient)
	b.start(10)
	b.arrived.add(12)
	b.arrived.add(17)
	for _, more := range []uint64{5, 0} {
		if b.pass(15, more); b.latest != 14 || b.arrived.has(12) || !b.arrived.has(17) {
			t.Errorf("%d more: the latest is %d", more, b.latest)
		}
	}
}
