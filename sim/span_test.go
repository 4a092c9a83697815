package sim

import (
	"reflect"
	"testing"

	"photon/fabric"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
)

// counting is a switch that counts what it took in spans.
type counting struct {
	fabric.Spanner
	taken int
}

func (c *counting) Span(x *fabric.Span) {
	c.Spanner.Span(x)
	c.taken += len(x.Frames)
}

// Whether switches take the arrivals of a window at once or one by one, the same happens.
func TestSpansDoNotMatter(t *testing.T) {
	taken := 0
	for seed, name := range scheme.Names() {
		build := func() *dumbbell {
			if seed%2 == 1 {
				return ring(t, pfc.WatchdogConfig{})
			}
			return newDumbbell(t, name, []units.Time{300 * units.Nanosecond, 40 * units.Microsecond}[seed/2%2])
		}
		spans, single := build(), build()
		var counts []*counting
		for i := range spans.members {
			if m := &spans.members[i]; m.spanner != nil {
				c := &counting{Spanner: m.spanner}
				m.spanner, counts = c, append(counts, c)
			}
		}
		for i := range single.members {
			single.members[i].spanner = nil
		}
		got, want := spans.play(t, uint64(seed)), single.play(t, uint64(seed))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s, seed %d: %s", name, seed, got.differs(want))
		}
		for _, c := range counts {
			taken += c.taken
		}
	}
	if taken < 1000 {
		t.Errorf("%d arrivals were taken in spans: nothing to compare", taken)
	}
}
