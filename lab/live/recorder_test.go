package live

import (
	"testing"

	"photon/fabric"
	"photon/lab/topology"
	"photon/units"
)

// A page has 300 values of a run, each of four samples. In a large network samples are four delays apart or more, as
// long as there are a hundred.
func TestSpansOfARun(t *testing.T) {
	of := func(hosts int, delay units.Time) *topology.Plan {
		return topology.Star(hosts, fabric.Link{Rate: units.Gbps, Delay: delay})
	}
	for _, c := range []struct {
		plan     *topology.Plan
		duration units.Time
		look     units.Time
		perSpan  int
		spans    int
	}{
		{of(4, units.Microsecond), 12 * units.Millisecond, 10 * units.Microsecond, 4, 300},
		{of(4, units.Microsecond), 12 * units.Microsecond, 10 * units.Nanosecond, 4, 300},
		{of(300, units.Microsecond), 12 * units.Millisecond, 10 * units.Microsecond, 4, 300},
		{of(300, units.Microsecond), 2400 * units.Microsecond, 4 * units.Microsecond, 2, 300},
		{of(300, units.Microsecond), 800 * units.Microsecond, 4 * units.Microsecond, 1, 200},
		{of(300, units.Microsecond), 100 * units.Microsecond, units.Microsecond, 1, 100},
		{of(300, 0), 1200 * units.Nanosecond, units.Nanosecond, 4, 300},
		{of(4, 0), 100, 1, 4, 25},
	} {
		var l recorder
		if l.divide(c.duration, c.plan); l.look != c.look || l.perSpan != c.perSpan || l.spans != c.spans {
			t.Errorf("%d links, %v: %d spans of %d samples, one every %v",
				len(c.plan.Cables), c.duration, l.spans, l.perSpan, l.look)
		}
	}
}
