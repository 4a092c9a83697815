package figure

import (
	"bytes"
	"context"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/report"
	"photon/lab/run"
	"photon/lab/web"
	"slices"
	"strings"
	"testing"
)

const text = `
id: test/figure
title: two flows
duration: 1ms
topology: {kind: star, hosts: 3}
parameters:
  link_rate: {value: 10Gbps, source: the test}
  host_delay: {value: 1us, source: the test}
  trunk_delay: {value: 1us, source: the test}
  payload: {value: 1000B, source: the test}
  mtu: {value: 1100B, source: the test}
  priority: {value: 3, source: the test}
  xoff: {value: 1MB, source: the test}
  xon: {value: 1MB, source: the test}
  buffer: {value: 12MB, source: the test}
flows: [{name: F, from: H0..H1, to: H2, size: 100KB}]
schemes: [{name: dcqcn, params: {kmax: {value: $kmax, source: the test}}}, {name: none}]
sweep: {name: kmax, label: Kmax, values: [20KB, 300KB]}
measure:
  sample: 100us
  probes: [{name: queue, kind: queue, at: [S0>H2]}]
  metrics: [{name: most, do: max, of: queue}]
`

// replayed is the test's experiment with something at its end, and what came of it.
func replayed(t *testing.T, more string) (*experiment.Experiment, *run.Result) {
	t.Helper()
	e, err := experiment.Parse("figure.yaml", []byte(text+more))
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Replay(context.Background(), e, run.Options{World: "sim"})
	if err != nil {
		t.Fatal(err)
	}
	return e, r
}

// drawn is a picture of a result, as SVG, in which texts can be found.
func drawn(t *testing.T, e *experiment.Experiment, r *run.Result, schemes ...string) string {
	t.Helper()
	svg, err := picture(e, r, "svg", schemes...)
	if err != nil {
		t.Fatal(err)
	}
	return string(svg)
}

// Every kind of panel is drawn, with what it is of in it and with a unit, and Write leaves
// pictures that can be decoded.
func TestWrite(t *testing.T) {
	for panel, want := range map[string]string{
		"{title: over time, lines: [queue]}": ">over time, kmax = 20KB<", "{lines: [queue]}": ">queue, KB<", "{y: queue, sweep: [most]}": ">queue<", "{sweep: [most]}": ">most, KB<",
		"{bars: [most@20KB]}": ">most@20KB, KB<", "{fct: '*'}": ">completion time, ms<",
	} {
		e, r := replayed(t, "plots: ["+panel+"]\n")
		svg := drawn(t, e, r)
		for _, want := range []string{want, ">dcqcn", ">none", "test/figure: two flows (sim)", "Sans"} {
			if !strings.Contains(svg, want) {
				t.Errorf("%s: no %s", panel, want)
			}
		}
		if strings.Contains(svg, "Serif") || strings.Contains(svg, "Times") {
			t.Errorf("%s: a text with serifs", panel)
		}
		out := t.TempDir()
		if err := report.Write(e, out, claim.Judge(e, r)); err != nil {
			t.Fatal(err)
		}
		if err := Write(e, out, r); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"overview", "dcqcn", "none"} {
			b, err := os.ReadFile(filepath.Join(out, "test-figure", "sim", name+".png"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := png.Decode(bytes.NewReader(b)); err != nil {
				t.Errorf("%s: %s.png: %v", panel, name, err)
			}
		}
	}
}

// An experiment that asks for no plot has a panel for each metric, with its own unit; what a sweep
// has no numbers for are groups of bars.
func TestWithoutPlots(t *testing.T) {
	metrics := strings.Replace(text, "of: queue}]", "of: queue}, {name: took_s, do: max_at, of: queue}]", 1)
	named := strings.Replace(metrics, "values: [20KB, 300KB]", "values: [low, high], sets: {low: {k: 20KB}, high: {k: 300KB}}", 1)
	named = strings.Replace(named, "value: $kmax", "value: $k", 1)
	none := strings.Replace(strings.Replace(metrics, "sweep: {", "#", 1), "value: $kmax", "value: 20KB", 1)
	for what, c := range map[string]struct {
		file string
		want []string
	}{
		"numbers": {metrics, []string{">most<", ">KB<", ">took_s<", ">µs<", ">Kmax<", ">300KB<"}},
		"words":   {named, []string{">most<", ">KB<", ">took_s<", ">µs<", ">Kmax<", ">low<", ">high<"}},
		"none":    {none, []string{">most<", ">KB<", ">took_s<", ">µs<", ">dcqcn<", ">none<"}},
	} {
		e, err := experiment.Parse("figure.yaml", []byte(c.file))
		if err != nil {
			t.Fatal(err)
		}
		r, err := run.Replay(context.Background(), e, run.Options{World: "sim"})
		if err != nil {
			t.Fatal(err)
		}
		svg := drawn(t, e, r)
		for _, want := range c.want {
			if !strings.Contains(svg, want) {
				t.Errorf("%s: no %s", what, want)
			}
		}
		if strings.Contains(svg, ">–<") {
			t.Errorf("%s: something is said to be missing", what)
		}
	}
}

// What a paper prints of a scheme's metric is marked on it, with one entry in the legend for each
// kind of number; what is of two schemes, or of a metric that is not drawn, is not.
func TestPaperIsMarked(t *testing.T) {
	claims := `
claims:
- {id: a, text: a, schemes: [dcqcn], metric: most@20KB, paper: 15.0e+3, unit: B}
- {id: b, text: b, schemes: [none], metric: most@300KB, paper: 80.0e+3, bound: at_most, unit: B}
- {id: c, text: c, schemes: [dcqcn, none], metric: most@20KB, paper: 0.5}
`
	for _, panel := range []string{"{sweep: [most]}", "{bars: [most@20KB, most@300KB]}", "{bars: [most@20KB]}", "{lines: [queue]}"} {
		e, r := replayed(t, "plots: ["+panel+"]"+claims)
		var marks []web.Mark
		for _, charts := range report.Charts(e, r) {
			for _, ch := range charts {
				marks = append(marks, ch.Paper...)
			}
		}
		want := map[string][]web.Mark{
			"{sweep: [most]}":                 {{Line: 0, At: 0, Y: 15}, {Line: 1, At: 1, Y: 80, Bound: "at_most"}},
			"{bars: [most@20KB, most@300KB]}": {{Line: 0, At: 0, Y: 15}, {Line: 1, At: 1, Y: 80, Bound: "at_most"}},
			"{bars: [most@20KB]}":             {{Line: 0, At: 0, Y: 15}},
		}[panel]
		if !slices.Equal(marks, want) {
			t.Errorf("%s: %+v", panel, marks)
		}
		svg := drawn(t, e, r)
		exact := strings.Count(svg, ">paper<")
		bound := strings.Count(svg, ">paper: at most<")
		if (exact == 1) != (len(want) > 0) || (bound == 1) != (len(want) > 1) || exact > 1 || bound > 1 {
			t.Errorf("%s: %d and %d entries of the paper in the legend", panel, exact, bound)
		}
		if svg = drawn(t, e, r, "none"); strings.Contains(svg, ">paper<") {
			t.Errorf("%s: a number of dcqcn on the picture of none", panel)
		}
	}
}

// A mark is where the paper's number is, and the axis goes that far.
func TestPaperIsInPlace(t *testing.T) {
	ch := &web.Chart{Kind: "bars", X: web.Axis{Names: []string{"a", "b"}, Step: 1, N: 2}, Lines: []web.Line{
		{Name: "x", LineStyle: web.Numbered(0), Values: web.Numbers{1, 2}}, {Name: "y", LineStyle: web.Numbered(1), Values: web.Numbers{2, 1}},
	}, Paper: []web.Mark{{Line: 1, At: 1, Y: 40}}}
	d, err := newDrawing(ch)
	if err != nil {
		t.Fatal(err)
	}
	if d.Y.Max < 40 {
		t.Errorf("the axis ends at %v", d.Y.Max)
	}
	if offset, width := place(ch, 1); math.Abs(offset-0.2) > 1e-9 || width != 0.4 {
		t.Errorf("its bar is at %v, %v wide", offset, width)
	}
}

// Charts whose axes need different room beside each other leave the heading alone.
func TestHeadingIsSeen(t *testing.T) {
	bars := func() *web.Chart {
		return &web.Chart{Kind: "bars", Title: "bars", Y: "times", X: web.Axis{Names: []string{"a", "b"}, Step: 1, N: 2}, Lines: []web.Line{{Name: "x", LineStyle: web.Numbered(0), Values: web.Numbers{1, 2}}}}
	}
	cdf := func() *web.Chart {
		return &web.Chart{Kind: "cdf", Title: "all flows", Y: "part of flows", X: web.Axis{Label: "completion time, ms", Log: true, Values: web.Numbers{0.1, 1, 10}}, Lines: []web.Line{{Name: "x", LineStyle: web.Numbered(0), Values: web.Numbers{0.2, 0.5, 1}}}}
	}
	sizes := func(of string) *web.Chart {
		return &web.Chart{Kind: "sweep", Title: "slowdown", Y: "slowdown, " + of, X: web.Axis{Label: "flow size, up to", Values: web.Numbers{0, 1}, Names: []string{"5.5KB", "29MB"}}, Lines: []web.Line{{Name: "x", LineStyle: web.Numbered(0), Values: web.Numbers{1, 2}}}}
	}
	// ink counts the dark pixels where the heading is.
	ink := func(panels ...[]*web.Chart) (n int) {
		t.Helper()
		b, err := render("A heading with jumping quirks", panels, "png")
		if err != nil {
			t.Fatal(err)
		}
		image, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for y := range 25 {
			for x := range 500 {
				if r, g, b, _ := image.At(x, y).RGBA(); r+g+b < 3*0x8000 {
					n++
				}
			}
		}
		return n
	}
	alone := ink([]*web.Chart{bars(), bars()})
	if n := ink([]*web.Chart{cdf()}, []*web.Chart{bars()}, []*web.Chart{bars()}, []*web.Chart{sizes("median"), sizes("99th percentile")}); n != alone || n < 500 {
		t.Errorf("%d pixels of the heading are seen, of %d", n, alone)
	}
}

// A picture of samples or of flows is of one value of a sweep, and says which; on a page the note does.
func TestPictureSaysTheValue(t *testing.T) {
	for panel, want := range map[string]bool{"{title: q, lines: [queue]}": true, "{title: q, sweep: [most]}": false, "{title: q, bars: [most@300KB]}": false} {
		e, r := replayed(t, "plots: ["+panel+"]\n")
		if got := strings.Contains(drawn(t, e, r), "kmax = 20KB"); got != want {
			t.Errorf("%s: it says which value it is of: %v", panel, got)
		}
	}
}
