package cnp

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// slowTicks are the CNPs of one flow's arrivals: at each tick from the first frame
// on, one if a marked frame came after the tick before and no later than this one.
func slowTicks(interval units.Time, arrivals []arrival) (want []units.Time) {
	if len(arrivals) == 0 {
		return nil
	}
	last := arrivals[len(arrivals)-1].at
	for tick := arrivals[0].at; tick < last+interval; tick += interval {
		for _, a := range arrivals {
			if a.ecn == wire.CE && a.at > tick-interval && a.at <= tick {
				want = append(want, tick)
				break
			}
		}
	}
	return want
}

// Polled whenever Next says, every CNP comes at its flow's tick; and those of all
// flows come in the order of time.
func TestDCQCNTicksAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := units.Time(rapid.IntRange(1, 60).Draw(t, "interval")) * units.Microsecond
		all := drawArrivals(t, 60*units.Microsecond)
		np := NewDCQCNTicks(DCQCNParams{Interval: interval}, 4)
		var got [4][]units.Time
		poll := func(until units.Time) {
			for before := units.Time(0); np.Next() <= until; {
				at := np.Next()
				flow, n, ok := np.Poll(at)
				if !ok || n != (Notice{ECN: wire.NotECT}) || at < before {
					t.Fatalf("at %v after %v: %+v %v", at, before, n, ok)
				}
				got[flow], before = append(got[flow], at), at
			}
		}
		var arrivals [4][]arrival
		for _, a := range all {
			poll(a.at - 1) // a frame that comes at a tick counts for it
			np.Data(a.at, a.flow, a.ecn, a.nbytes)
			arrivals[a.flow] = append(arrivals[a.flow], a)
			if rapid.IntRange(0, 3).Draw(t, "at once") == 0 {
				poll(a.at)
			}
		}
		poll(units.Never - 1)
		for flow := range arrivals {
			want := slowTicks(interval, arrivals[flow])
			if len(want) != len(got[flow]) {
				t.Fatalf("flow %d: CNPs at %v, want %v", flow, got[flow], want)
			}
			for i := range want {
				if want[i] != got[flow][i] {
					t.Fatalf("flow %d: CNPs at %v, want %v", flow, got[flow], want)
				}
			}
		}
	})
}

// A slot that goes to another flow has a new clock, and no CNP of the old one; the
// others' come as if nothing had been.
func TestForgottenTicks(t *testing.T) {
	const interval = 100
	np := NewDCQCNTicks(DCQCNParams{Interval: interval}, 8)
	for flow := range 8 {
		np.Data(units.Time(10+flow), flow, wire.ECT0, 1)
		np.Data(units.Time(50+flow), flow, wire.CE, 1) // due at 110+flow
	}
	for _, flow := range []int{0, 3, 6} {
		if np.Quiet(flow) {
			t.Fatal("quiet with a CNP to come")
		}
		if np.Forget(flow); !np.Quiet(flow) {
			t.Fatal("a forgotten flow has a CNP to come")
		}
	}
	np.Data(90, 3, wire.CE, 1) // another flow's first frame is a tick
	for _, want := range []struct {
		at   units.Time
		flow int
	}{{90, 3}, {111, 1}, {112, 2}, {114, 4}, {115, 5}, {117, 7}} {
		at := np.Next()
		if flow, _, ok := np.Poll(at); at != want.at || flow != want.flow || !ok {
			t.Fatalf("flow %d at %v, want %+v", flow, at, want)
		}
	}
	if np.Next() != units.Never {
		t.Fatal("one more")
	}
	if _, _, ok := np.Poll(units.Second); ok {
		t.Fatal("a notice of nobody")
	}
}

// Many flows, some of which are forgotten with a CNP to come: of those that are left the next is always the first, at
// one tick that of the lowest slot.
func TestTicksOfManyFlows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const interval, flows = 100, 40
		np := NewDCQCNTicks(DCQCNParams{Interval: interval}, flows)
		type clock struct{ first, last, due units.Time }
		clocks := map[int]*clock{}
		now := units.Time(0)
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			flow := rapid.IntRange(0, flows-1).Draw(t, "flow")
			if rapid.IntRange(0, 5).Draw(t, "forgotten") == 0 {
				np.Forget(flow)
				delete(clocks, flow)
			} else {
				np.Data(now, flow, wire.CE, 1)
				c := clocks[flow]
				if c == nil {
					c = &clock{now, -1, -1}
					clocks[flow] = c
				}
				if c.due <= c.last { // none is to come
					for c.due = c.first; c.due < now || c.due <= c.last; {
						c.due += interval
					}
				}
			}
			now += units.Time(rapid.IntRange(0, 9).Draw(t, "on"))
			for {
				at, first := units.Never, -1
				for flow := range flows {
					if c := clocks[flow]; c != nil && c.due > c.last && c.due < at {
						at, first = c.due, flow
					}
				}
				if np.Next() != at {
					t.Fatalf("next at %v, not at %v", np.Next(), at)
				}
				got, _, ok := np.Poll(now)
				if ok != (at <= now) || ok && got != first {
					t.Fatalf("at %v: flow %d, %v, not flow %d, due at %v", now, got, ok, first, at)
				}
				if !ok {
					break
				}
				clocks[first].last = at
			}
		}
	})
}
