package cnp

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// slowBECN keeps every mark that is not told yet, in the order in which they came.
type slowBECN struct {
	ternary bool
	untold  []struct {
		flow int
		ce   bool
	}
}

func (s *slowBECN) data(_ units.Time, flow int, ecn uint8) {
	if ecn == 0b11 || ecn == 0b10 && s.ternary {
		s.untold = append(s.untold, struct {
			flow int
			ce   bool
		}{flow, ecn == 0b11})
	}
}

func (s *slowBECN) next() units.Time {
	if len(s.untold) > 0 {
		return 0
	}
	return units.Never
}

func (s *slowBECN) poll(now units.Time) (got []report) {
	for len(s.untold) > 0 {
		flow, worst := s.untold[0].flow, uint8(0b10)
		rest := s.untold[:0:0]
		for _, m := range s.untold {
			switch {
			case m.flow != flow:
				rest = append(rest, m)
			case m.ce:
				worst = 0b11
			}
		}
		s.untold = rest
		if !s.ternary {
			worst = 0
		}
		got = append(got, report{now, flow, Notice{ECN: worst}})
	}
	return got
}

func (s *slowBECN) forget(int) {}

func TestBECNAgainstSlowTwin(t *testing.T) {
	thousands(t, func(t *rapid.T) {
		flows, ternary := rapid.IntRange(1, 8).Draw(t, "flows"), rapid.Bool().Draw(t, "ternary")
		compare(t, NewBECN(ternary, flows), &slowBECN{ternary: ternary}, flows, 20*us)
	})
}

// Every marked frame is answered, at once and by itself if each is told before the next comes.
func TestBECNAnswersEveryFrame(t *testing.T) {
	b := NewBECN(false, 2)
	for i := range 10 {
		b.Data(units.Time(i), i%2, wire.CE, 1000)
		if flow, n, ok := b.Poll(units.Time(i)); !ok || flow != i%2 || n != (Notice{}) {
			t.Fatalf("frame %d: %d, %+v, %v", i, flow, n, ok)
		}
	}
	b.Data(20, 0, TCDUndetermined, 1000) // any ECT(0) of another scheme
	if b.Next() != units.Never || !b.Quiet(0) {
		t.Error("a frame without a mark is answered")
	}
}
