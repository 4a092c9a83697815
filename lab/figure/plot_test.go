package figure

import (
	"context"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/run"
)

// However many samples there are, the one peak among them is drawn.
func TestPeaksAreKept(t *testing.T) {
	xy := make(plotter.XYs, 100_001)
	for i := range xy {
		xy[i].X, xy[i].Y = float64(i), 5
	}
	xy[77_777].Y, xy[33_333].Y = 900, -3
	some := thin(xy)
	if len(some) > mostPoints {
		t.Errorf("%d points", len(some))
	}
	peak, low, last := false, false, -1.0
	for _, p := range some {
		peak, low = peak || p.X == 77_777 && p.Y == 900, low || p.X == 33_333 && p.Y == -3
		if p.X <= last {
			t.Fatalf("%v comes after %v", p.X, last)
		}
		last = p.X
	}
	if !peak || !low {
		t.Errorf("peak %v, lowest %v", peak, low)
	}
	if few := thin(xy[:100]); len(few) != 100 {
		t.Errorf("of 100 samples %d are left", len(few))
	}
}

// What was not measured is no bar of height 0, and a line is broken there.
func TestMissingIsNotZero(t *testing.T) {
	e, err := experiment.Parse("figure.yaml", []byte(strings.Replace(text, "[20KB, 300KB]", "[20KB, 100KB, 300KB]", 1)+
		"plots: [{bars: [most@20KB, most@100KB, most@300KB]}, {y: queue, sweep: [most]}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	queue := 5e3
	one := run.Run{Scheme: "dcqcn", Metrics: measure.Metrics{"most@20KB": &queue, "most@100KB": nil, "most@300KB": &queue}}
	all := one
	all.Metrics = measure.Metrics{"most@20KB": &queue, "most@100KB": &queue, "most@300KB": &queue}
	drawn := func(r run.Run) string {
		svg, err := overview(e, &run.Result{World: "sim", Runs: []run.Run{r}}, "svg")
		if err != nil {
			t.Fatal(err)
		}
		return string(svg)
	}
	with, without := drawn(all), drawn(one)
	if strings.Contains(with, ">none<") || strings.Count(without, ">none<") != 1 {
		t.Errorf("%d bars of one that is missing are said to be", strings.Count(without, ">none<"))
	}
}

// Slowdown by flow size is drawn of every experiment with a workload that has sizes.
func TestSlowdownIsDrawn(t *testing.T) {
	workload := "workloads: [{name: web, sizes: pareto, mean: 10KB, shape: 1.5, from: H0..H1, to: H2, load: 60%, capacity: 10Gbps, end: 10ms}]\n"
	with := strings.Replace(strings.Replace(text, "schemes:", workload+"schemes:", 1), "duration: 1ms", "duration: 40ms", 1)
	e, err := experiment.Parse("figure.yaml", []byte(with))
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Replay(context.Background(), e, run.Options{World: "sim", Schemes: []string{"none"}})
	if err != nil {
		t.Fatal(err)
	}
	svg, err := overview(e, r, "svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">slowdown<", ">flow size, up to<", ">none, 99th percentile<", ">none, median<"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %s", want)
		}
	}
}
