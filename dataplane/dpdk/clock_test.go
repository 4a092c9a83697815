package dpdk

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

func TestClockKeepsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hz := rapid.Uint64Range(1e9, 5e9).Draw(t, "hz")
		dilation := rapid.IntRange(1, 100).Draw(t, "dilation")
		c := newClock(hz, dilation, 0)
		start := rapid.Uint64Range(0, 1<<60).Draw(t, "start")
		c.start(start)
		tsc := start
		for range rapid.IntRange(1, 1000).Draw(t, "readings") {
			tsc += rapid.Uint64Range(0, 1e7).Draw(t, "ticks")
			c.read(tsc)
		}
		want := float64(tsc-start) / float64(hz) / float64(dilation)
		if got := c.now.Seconds(); got > want+1e-9 || got < want*(1-1e-8)-1e-9 {
			t.Fatalf("%v s, want %v", got, want)
		}
	})
}

func TestClockOfAClosedWorldLeavesStallsOut(t *testing.T) {
	c := newClock(1e9, 1, 100*units.Nanosecond)
	c.start(0)
	c.read(50)        // 50 ns
	c.read(1_000_050) // a stall of a millisecond
	c.read(1_000_060) // and on
	c.read(1_000_010) // another core's counter may lag
	if c.now != 160*units.Nanosecond || c.stretched != 999_900*units.Nanosecond {
		t.Fatal(c.now, c.stretched)
	}
}

// The clock of a closed world goes by a quarter of the shortest frame of its fastest link at most, and no further than
// 100 ns.
func TestStepsOfAClosedWorld(t *testing.T) {
	for fastest, want := range map[units.Rate]units.Time{
		0: 100 * units.Nanosecond, units.Gbps: 100 * units.Nanosecond,
		10 * units.Gbps: 12_800, 100 * units.Gbps: 1_280, 400 * units.Gbps: 320,
	} {
		if got := stepOf(fastest); got != want {
			t.Errorf("%v: %v, not %v", fastest, got, want)
		}
	}
}
