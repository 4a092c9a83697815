package figure

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"

	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/run"
	"photon/lab/web"
)

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
	with := drawn(t, e, &run.Result{World: "sim", Runs: []run.Run{all}})
	without := drawn(t, e, &run.Result{World: "sim", Runs: []run.Run{one}})
	if strings.Contains(with, ">–<") || strings.Count(without, ">–<") != 1 {
		t.Errorf("%d bars of one that is missing are said to be", strings.Count(without, ">–<"))
	}
	line := web.Line{Values: web.Numbers{1, math.NaN(), 3}}
	if broken, whole := parts([]float64{1, 2, 3}, &line, true), parts([]float64{1, 2, 3}, &line, false); len(broken) != 2 || len(whole) != 1 || len(whole[0]) != 2 {
		t.Errorf("a line with a gap is %v, over time %v", broken, whole)
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
	svg := drawn(t, e, r)
	for _, want := range []string{
		">slowdown, median<", ">slowdown, 99th percentile<", ">size of flows that ended, up to<", ">none<",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s", want)
		}
	}
}

// An axis has some round values, and a short logarithmic one more than its powers of ten.
func TestTicks(t *testing.T) {
	labels := func(m plot.Ticker, low, high float64) (list []string) {
		for _, x := range m.Ticks(low, high) {
			if x.Value < low || x.Value > high {
				t.Errorf("%v is not from %v to %v", x.Value, low, high)
			}
			if x.Label != "" {
				list = append(list, x.Label)
			}
		}
		return list
	}
	for _, c := range []struct {
		m         plot.Ticker
		low, high float64
		want      string
	}{
		{ticks{}, 0, 60, "0 10 20 30 40 50 60"}, {ticks{}, 0, 1.06, "0 0.2 0.4 0.6 0.8 1"}, {ticks{}, 0, 8.2, "0 2 4 6 8"}, {ticks{}, 0, 1.6e6, "0 200000 400000 600000 800000 1000000 1200000 1400000 1600000"},
		{ticks{}, -3, 9, "-2 0 2 4 6 8"}, {decades{}, 1, 1200, "1 10 100 1000"}, {decades{}, 18, 320, "20 50 100 200"}, {decades{}, 2, 5, "2 3 4 5"},
	} {
		if got := strings.Join(labels(c.m, c.low, c.high), " "); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

// Names are broken at their joints.
func TestWrapped(t *testing.T) {
	for name, want := range map[string]string{"most": "most", "queue_bytes@20": "queue_|bytes@|20", "a b c d": "a b c|d", "": ""} {
		if got := strings.Join(wrapped(name, 6), "|"); got != want {
			t.Errorf("%q is broken as %q", name, got)
		}
	}
}

// Panels with one chart each are below each other, or in two columns if there are many; the charts
// of a panel with several are beside each other.
func TestGrid(t *testing.T) {
	panels := func(sizes ...int) (list [][]*web.Chart) {
		for _, n := range sizes {
			charts := make([]*web.Chart, n)
			for i := range charts {
				charts[i] = &web.Chart{}
			}
			list = append(list, charts)
		}
		return list
	}
	for want, sizes := range map[string][]int{"x x x ": {1, 1, 1}, "xx xx x. ": {1, 1, 1, 1, 1}, "xxx x.. ": {3, 1}, "xxx xx. ": {4, 1}, "xx ": {2}, "xx x. xx ": {1, 1, 1, 2}, "x.. xxx x.. ": {1, 3, 1}} {
		got := ""
		for _, row := range grid(panels(sizes...)) {
			for _, ch := range row {
				if ch == nil {
					got += "."
				} else {
					got += "x"
				}
			}
			got += " "
		}
		if got != want {
			t.Errorf("%v: %s, want %s", sizes, got, want)
		}
	}
}

// Curves have the unit that their metric's name ends with, each scheme its colour, and an interval.
func TestCurves(t *testing.T) {
	p := Panel{Title: "a/b", X: "load", Y: "short_p99_s", Curves: []Curve{
		{Name: "pcn", Points: []Point{{0.5, 0.002, 0.001, 0.004}, {0.8, 0.02, 0.01, 0.05}}}, {Name: "none", Points: []Point{{0.8, 0.03, 0.03, 0.03}}},
	}}
	ch := p.chart()
	if ch.Y != "short_p99_s, ms" || ch.Lines[0].Values[1] != 20 || ch.Lines[0].High[1] != 50 || !math.IsNaN(ch.Lines[1].Values[0]) {
		t.Errorf("%+v", ch)
	}
	if ch.Lines[0].Color != web.LineStyles([]string{"pcn"})["pcn"].Color {
		t.Errorf("pcn is %s", ch.Lines[0].Color)
	}
	d, err := newDrawing(ch)
	if err != nil {
		t.Fatal(err)
	}
	if d.Y.Max < 50 {
		t.Errorf("the axis ends at %v, and an interval at 50", d.Y.Max)
	}
	if svg, err := Curves([]Panel{p}, "svg"); err != nil || !strings.Contains(string(svg), ">pcn<") || !strings.Contains(string(svg), ">short_p99_s, ms<") {
		t.Errorf("%v", err)
	}
}

// What has one value is seen, on any axis: one flow that ended, or one sample.
func TestOneValueIsSeen(t *testing.T) {
	for _, kind := range []string{"cdf", "lines", "sweep"} {
		for _, log := range []bool{false, true} {
			ch := &web.Chart{Kind: kind, X: web.Axis{Values: web.Numbers{5}, Log: log}}
			ch.Lines = []web.Line{{Name: "pcn", Values: web.Numbers{1}, LineStyle: web.LineStyle{Color: "#123456"}}}
			svg, err := render("one", [][]*web.Chart{{ch}}, "svg")
			if err != nil {
				t.Fatal(err)
			}
			inLegend := 1
			if kind != "cdf" && kind != "lines" {
				inLegend = 2 // line and point
			}
			if n := strings.Count(strings.ToLower(string(svg)), "#123456"); n <= inLegend {
				t.Errorf("%s: its colour is there %d times, the legend's included", kind, n)
			}
		}
	}
}

// Values that differ in their last digits only have an axis, too.
func TestTicksOfValuesThatHardlyDiffer(t *testing.T) {
	if list := (ticks{}).Ticks(1e18, 1e18+256); len(list) != 1 || list[0].Label != "1e+18" {
		t.Errorf("%v", list)
	}
}
