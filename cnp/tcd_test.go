package cnp

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// slowTCD gathers the marks of every flow in a set, and tells the worst at the ticks of its clock.
type slowTCD struct {
	interval units.Time
	first    map[int]units.Time // when the flow's clock began
	notified map[int]units.Time // the tick that had the last CNP
	marks    map[int][]tcdMark
}

type tcdMark struct {
	at units.Time
	ce bool
}

func newSlowTCD(interval units.Time) *slowTCD {
	return &slowTCD{interval, map[int]units.Time{}, map[int]units.Time{}, map[int][]tcdMark{}}
}

func (s *slowTCD) data(now units.Time, flow int, ecn uint8) {
	if _, begun := s.first[flow]; !begun {
		s.first[flow] = now
	}
	if ecn == 0b11 || ecn == 0b10 {
		s.marks[flow] = append(s.marks[flow], tcdMark{now, ecn == 0b11})
	}
}

// tick is the one that tells a flow's marks: the first that is not before the first of them, and had no CNP yet.
func (s *slowTCD) tick(flow int) units.Time {
	if len(s.marks[flow]) == 0 {
		return units.Never
	}
	at := s.first[flow]
	notifiedAt, any := s.notified[flow]
	for at < s.marks[flow][0].at || any && at <= notifiedAt {
		at += s.interval
	}
	return at
}

func (s *slowTCD) next() (first units.Time) {
	first = units.Never
	for flow := range s.marks {
		first = min(first, s.tick(flow))
	}
	return first
}

func (s *slowTCD) poll(now units.Time) (got []report) {
	for s.next() <= now {
		at := s.next()
		for flow := range 8 {
			if s.tick(flow) != at {
				continue
			}
			n := Notice{ECN: 0b10}
			for _, m := range s.marks[flow] {
				if m.ce {
					n.ECN = 0b11
				}
			}
			delete(s.marks, flow)
			s.notified[flow] = at
			got = append(got, report{now, flow, n})
		}
	}
	return got
}

// forget makes room for the slot's next flow.
func (s *slowTCD) forget(flow int) {
	delete(s.marks, flow)
	delete(s.notified, flow)
	delete(s.first, flow)
}

func TestTCDAgainstSlowTwin(t *testing.T) {
	thousands(t, func(t *rapid.T) {
		p := DCQCNParams{Interval: units.Time(evenly(1, 60).Draw(t, "interval")) * us}
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
