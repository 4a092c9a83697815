package topology

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/units"
)

// uneven is two ToRs and three spines, which have links of these rates to the second.
func uneven(rates ...units.Rate) *Plan {
	p := New()
	p.Host("H0")
	p.Host("H1")
	p.Switch("tor", "T0")
	p.Switch("tor", "T1")
	link := func(a, b int, r units.Rate) {
		p.Connect(a, b, fabric.Link{Rate: r * units.Gbps, Delay: units.Microsecond})
	}
	link(0, 2, 10)
	link(1, 3, 10)
	for i, r := range rates {
		p.Switch("spine", "C%d", i)
		link(2, 4+i, 100)
		link(4+i, 3, r)
	}
	return p
}

// How often a port is there among the equal ones: by hand.
func TestWeights(t *testing.T) {
	for _, c := range []struct {
		rates []units.Rate
		want  []uint16 // at T0, whose first port is H0's
	}{
		{[]units.Rate{100, 100, 100}, []uint16{1, 2, 3}},
		{[]units.Rate{100, 50, 100}, []uint16{1, 2, 3, 1, 3}},
		{[]units.Rate{400, 200, 100}, []uint16{1, 2, 3}}, // no more than T0's own links
		{[]units.Rate{25, 100, 50}, []uint16{1, 2, 3, 2, 3, 2, 2}},
		{[]units.Rate{40}, []uint16{1}},
	} {
		if got := uneven(c.rates...).RoutesOver(nil, true).Ports(2, 1); !slices.Equal(got, c.want) {
			t.Errorf("%v: ports %v, want %v", c.rates, got, c.want)
		}
	}
	p := uneven(100, 100, 100)
	if got := p.RoutesOver(Down{{5, 1}: true, {3, 2}: true}, true).Ports(2, 1); !slices.Equal(got, []uint16{1, 3}) {
		t.Errorf("without C1's link: ports %v", got)
	}
	// Rates without a divisor, and many ports, have weights that are near, and not too many.
	got := uneven(99, 1, 37).RoutesOver(nil, true).Ports(2, 1)
	times := map[uint16]int{}
	for _, port := range got {
		times[port]++
	}
	if !maps.Equal(times, map[uint16]int{1: 46, 2: 1, 3: 17}) {
		t.Errorf("99, 1 and 37: %v", times)
	}
}

// A port is there in proportion to its rate among the 64 places that there are: as near as whole numbers come, and at
// least once. Rates with a divisor that 64 places are enough for are there exactly.
func TestWeightsAreProportional(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rates := make([]units.Rate, rapid.IntRange(2, 6).Draw(t, "ports"))
		for i := range rates {
			rates[i] = units.Rate(rapid.IntRange(1, 100).Draw(t, "rate"))
		}
		sum, divisor := units.Rate(0), units.Rate(0)
		for _, r := range rates {
			sum += r
		}
		for d := units.Rate(1); d <= 100; d++ {
			if !slices.ContainsFunc(rates, func(r units.Rate) bool { return r%d != 0 }) {
				divisor = d
			}
		}
		list := uneven(rates...).RoutesOver(nil, true).Ports(2, 1)
		for i, r := range rates {
			times, want := 0, float64(r)*mostWeight/float64(sum)
			for _, port := range list {
				if int(port) == i+1 {
					times++
				}
			}
			switch {
			case sum/divisor <= mostWeight && times != int(r/divisor):
				t.Fatalf("%v: port %d is there %d times", rates, i+1, times)
			case sum/divisor > mostWeight && math.Abs(float64(times)-max(1, want)) > 0.5:
				t.Fatalf("%v: port %d is there %d times, and %.2f are its part", rates, i+1, times, want)
			}
		}
	})
}

// Weights change how often a port is chosen, never which there are.
func TestWeightsKeepPorts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New()
		n := rapid.IntRange(2, 9).Draw(t, "switches")
		for i := range n {
			p.Switch("switch", "S%d", i)
		}
		for i := range 3 {
			p.Host("H%d", i)
		}
		rate := func() units.Rate {
			return rapid.SampledFrom([]units.Rate{10, 25, 40, 100, 400}).Draw(t, "rate") * units.Gbps
		}
		for i := 1; i < n; i++ {
			p.Connect(rapid.IntRange(0, i-1).Draw(t, "tree"), i, fabric.Link{Rate: rate()})
		}
		for range rapid.IntRange(0, 12).Draw(t, "more") {
			if a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b"); a != b {
				p.Connect(a, b, fabric.Link{Rate: rate()})
			}
		}
		for i := range 3 {
			p.Connect(rapid.IntRange(0, n-1).Draw(t, "of"), n+i, fabric.Link{Rate: rate()})
		}
		equal, weighted := p.Routes(), p.RoutesOver(nil, true)
		for i := range n {
			for to := n; to < n+3; to++ {
				ports := slices.Clone(weighted.Ports(i, to))
				if len(ports) > mostWeight+len(equal.Ports(i, to)) {
					t.Fatalf("%d ports at S%d", len(ports), i)
				}
				slices.Sort(ports)
				if ports = slices.Compact(ports); !slices.Equal(ports, equal.Ports(i, to)) {
					t.Fatalf("S%d to H%d: ports %v, and %v without weights", i, to-n, ports, equal.Ports(i, to))
				}
			}
		}
	})
}
