package cnp

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// slowTCD gathers the marks of every flow in a set, and tells the worst.
type slowTCD struct {
	interval units.Time
	waiting  []int // flows with marks, in the order of their first one
	at       map[int]units.Time
	marks    map[int]map[uint8]bool
	lastCNP  map[int]units.Time // missing: none yet
}

func newSlowTCD(interval units.Time) *slowTCD {
	return &slowTCD{interval: interval, at: map[int]units.Time{}, marks: map[int]map[uint8]bool{}, lastCNP: map[int]units.Time{}}
}

func (s *slowTCD) data(now units.Time, flow int, ecn uint8) {
	if ecn != 0b11 && ecn != 0b10 {
		return
	}
	if s.marks[flow] == nil {
		s.marks[flow] = map[uint8]bool{}
	}
	s.marks[flow][ecn] = true
	if !slices.Contains(s.waiting, flow) {
		s.waiting = append(s.waiting, flow)
		s.at[flow] = now
		if last, before := s.lastCNP[flow]; before {
			s.at[flow] = max(now, last+s.interval)
		}
	}
}

// next follows a choice: who has a later first mark waits for those before it.
func (s *slowTCD) next() units.Time {
	if len(s.waiting) == 0 {
		return units.Never
	}
	return s.at[s.waiting[0]]
}

func (s *slowTCD) poll(now units.Time) (got []report) {
	for s.next() <= now {
		flow := s.waiting[0]
		s.waiting = s.waiting[1:]
		switch {
		case s.marks[flow][0b11]:
			got = append(got, report{now, flow, Notice{ECN: 0b11}})
		case s.marks[flow][0b10]:
			got = append(got, report{now, flow, Notice{ECN: 0b10}})
		default:
			continue // forgotten
		}
		delete(s.marks, flow)
		s.lastCNP[flow] = now
	}
	return got
}

// forget leaves the place in the queue, for nothing or for the slot's next flow.
func (s *slowTCD) forget(flow int) {
	delete(s.marks, flow)
	delete(s.lastCNP, flow)
}

func TestTCDAgainstSlowTwin(t *testing.T) {
	thousands(t, func(t *rapid.T) {
		p := DCQCNParams{Interval: units.Time(evenly(0, 60).Draw(t, "interval")) * us}
		flows := rapid.IntRange(1, 8).Draw(t, "flows")
		compare(t, NewTCD(p, flows), newSlowTCD(p.Interval), flows, 20*us)
	})
}

// CE tells more than UE, whatever came first and however often; UE alone is UE,
// and never the CE that the two codepoints 0b01 and 0b10 would make together.
func TestTCDTellsTheWorst(t *testing.T) {
	const ue = TCDUndetermined
	for _, c := range []struct {
		seen []uint8
		want uint8
		ok   bool
	}{
		{[]uint8{}, 0, false},
		{[]uint8{wire.ECT1, wire.NotECT, wire.ECT1}, 0, false},
		{[]uint8{ue}, ue, true},
		{[]uint8{wire.ECT1, ue, ue, wire.ECT1, wire.NotECT}, ue, true},
		{[]uint8{wire.CE}, wire.CE, true},
		{[]uint8{wire.CE, ue, ue, ue}, wire.CE, true},
		{[]uint8{ue, ue, wire.CE, ue}, wire.CE, true},
	} {
		np := NewTCD(DCQCNParams{Interval: 50 * us}, 2)
		np.Data(100*us, 0, wire.CE, 1000)
		np.Poll(100 * us)
		for i, ecn := range c.seen {
			np.Data(110*us+units.Time(i), 0, ecn, 1000)
			np.Data(110*us+units.Time(i), 1, wire.ECT1, 1000) // another flow's frames say nothing of this one
			if _, _, ok := np.Poll(150*us - 1); ok {
				t.Fatalf("%v: told before the interval ended", c.seen)
			}
		}
		flow, n, ok := np.Poll(150 * us)
		if ok != c.ok || flow != 0 || n != (Notice{ECN: c.want}) {
			t.Errorf("%v: %+v of flow %d, %v; want %d", c.seen, n, flow, ok, c.want)
		}
		// What was told is not told again.
		if _, n, ok := np.Poll(units.Second); ok || np.Next() != units.Never {
			t.Errorf("%v: then %+v", c.seen, n)
		}
	}
}

// The codepoint that a switch writes for "undetermined" is the one looked for here.
func TestTCDCodepoint(t *testing.T) {
	if TCDUndetermined != 0b10 {
		t.Errorf("%02b", TCDUndetermined)
	}
}
