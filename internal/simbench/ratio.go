package main

import (
	"fmt"
	"io"
	"slices"

	"photon/internal/table"
	"photon/lab/stat"
)

// ratio is how two things compare, by each turn for itself. The two were measured beside
// each other, so this says more than the ratio of two medians, which may be of seconds in
// which the machine had different speeds.
type ratio struct {
	What   string    `json:"what"`
	Ack    string    `json:"ack"` // for each flow, or packet
	Median float64   `json:"median"`
	Lower  float64   `json:"lower_quartile"`
	Upper  float64   `json:"upper_quartile"`
	Least  float64   `json:"least"`
	Most   float64   `json:"most"`
	Turns  []float64 `json:"turns"`             // in their order
	Goal   string    `json:"goal,omitempty"`    // what it should be; empty: there is no such figure
	Met    int       `json:"turns_within_goal"` // of the turns; 0 without a goal
}

// goal is what a ratio should be at least, or at most. Zero: it has none.
type goal struct {
	limit float64
	most  bool
}

// What docs/performance/simulator.md measures the simulator by.
var (
	tenTimes   = goal{limit: 10}              // ns-3
	growthGoal = goal{limit: 1.5, most: true} // the cost of a packet-hop in the largest network by the smallest
)

func (g goal) String() string {
	switch {
	case g.limit == 0:
		return ""
	case g.most:
		return fmt.Sprintf("%g or less", g.limit)
	}
	return fmt.Sprintf("%g or more", g.limit)
}

func (g goal) within(v float64) bool {
	return g.limit != 0 && (v == g.limit || (v < g.limit) == g.most)
}

// newRatio wants the ratios of at least one turn.
func newRatio(what string, each bool, turns []float64, g goal) ratio {
	v := slices.Sorted(slices.Values(turns))
	r := ratio{
		What: what, Ack: perWhat(each), Turns: turns, Goal: g.String(),
		Median: stat.Median(v), Lower: stat.Quantile(0.25, v), Upper: stat.Quantile(0.75, v), Least: v[0], Most: v[len(v)-1],
	}
	for _, one := range v {
		if g.within(one) {
			r.Met++
		}
	}
	return r
}

func (r *ratio) String() string {
	s := fmt.Sprintf("%.2f (%.2f to %.2f), least %.2f, most %.2f", r.Median, r.Lower, r.Upper, r.Least, r.Most)
	if r.Goal != "" {
		s += fmt.Sprintf("; %s in %d of %d turns", r.Goal, r.Met, len(r.Turns))
	}
	return s
}

// byTurn is a value of a over one of b for each turn. Both have as many.
func byTurn(a, b []measured, value func(*measured) float64) []float64 {
	var v []float64
	for i := range a {
		v = append(v, value(&a[i])/value(&b[i]))
	}
	return v
}

// comparisons are the ratios of one case, of which runs are on one core, shared on two
// and loop the bare loop, turn by turn; shared may be empty. Those that are not known
// are left zero and have no turns.
type comparisons struct {
	twice          ratio // two cores by one, by the wall
	ns3, ns3Scaled ratio // the rate by that of ns-3, as measured, and if the machine were that of ns-3
	ns3Twice       ratio // by the wall, on two cores, of which ns-3 uses one
}

func newComparisons(c *testCase, each bool, runs, shared, loop []measured) (r comparisons) {
	wall := func(m *measured) float64 { return m.Wall.Seconds() }
	if len(shared) > 0 {
		r.twice = newRatio(c.name+", 2 cores by 1", each, byTurn(runs, shared, wall), goal{})
	}
	if c.ns3.hopsPerSecond == 0 || !each {
		return r
	}
	var ns3, scaled, twice []float64
	for i := range runs {
		ns3 = append(ns3, runs[i].rate()/c.ns3.hopsPerSecond)
		scaled = append(scaled, ns3[i]/(loop[i].rate()/bareThere))
	}
	for i := range shared {
		twice = append(twice, c.ns3.seconds/wall(&shared[i]))
	}
	r.ns3 = newRatio(c.name+", x ns-3 on 1 core", each, ns3, tenTimes)
	r.ns3Scaled = newRatio(c.name+", x ns-3 on 1 core, scaled", each, scaled, tenTimes)
	if len(twice) > 0 {
		r.ns3Twice = newRatio(c.name+", x ns-3 on 2 cores", each, twice, tenTimes)
	}
	return r
}

// known are those that have turns.
func (r *comparisons) known() (list []ratio) {
	for _, one := range []ratio{r.twice, r.ns3, r.ns3Twice, r.ns3Scaled} {
		if len(one.Turns) > 0 {
			list = append(list, one)
		}
	}
	return list
}

// newGrowth is what a packet-hop costs in the larger network by the smaller, on one core.
func newGrowth(large, small *testCase, each bool, runsLarge, runsSmall []measured) ratio {
	cost := byTurn(runsLarge, runsSmall, func(m *measured) float64 { return 1 / m.rate() })
	return newRatio(fmt.Sprintf("cost per packet-hop, %s by %s", large.name, small.name), each, cost, growthGoal)
}

// printRatios prints what belongs beneath the table.
func printRatios(w io.Writer, list []ratio) error {
	if len(list) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nOf each turn for itself, median (quartiles):\n")
	t := table.New(3)
	for _, r := range list {
		t.Row(r.Ack, r.What+":", r.String())
	}
	return t.Print(w)
}
