package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/run"
	"photon/lab/web"
	"photon/units"
)

// The summary says what was lost, and of an experiment without claims who has least and who most.
func TestSummary(t *testing.T) {
	e, err := experiment.Parse("x.yaml", []byte(swept))
	if err != nil {
		t.Fatal(err)
	}
	r := &claim.Judged{Result: &run.Result{World: "sim", Runs: []run.Run{
		{Scheme: "a", Metrics: measure.Metrics{"m": ptr(2000)}}, {Scheme: "b", Metrics: measure.Metrics{"m": ptr(30)}}, {Scheme: "c", Metrics: measure.Metrics{"m": nil}},
	}}}
	say := func(want string, results ...*claim.Judged) {
		t.Helper()
		if got := summary(e, results); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	say("3 schemes ran; no frame was lost. m: from 30 B with b to 2 KB with a; not in every run with c.", r)
	r.Runs[1].Metrics["m"] = ptr(2000)
	r.Runs[2].Invariants.LostFrames = 1
	say("3 schemes in both worlds ran; 2 frames were lost. m: 2 KB; not in every run with c.", r, r)
	r.Runs = r.Runs[:1]
	r.Runs[0].Invariants.Discarded = 7
	r.Claims = []claim.Result{{}}
	say("1 scheme ran; no lossless frame was lost, and 7 of lossy priorities were discarded.", r)
}

// A ratio that the paper prints is marked on the bar of the scheme that has less, where the other's bar puts it.
func TestRatiosAreMarked(t *testing.T) {
	text := swept + `schemes: [none, pcn]
plots: [{bars: [m]}]
claims:
  - {id: half, text: half, schemes: [pcn, none], metric: m, paper: 0.5}
  - {id: more, text: more, schemes: [none, pcn], metric: m, paper: 4, bound: at_least}
  - {id: saved, text: saved, schemes: [pcn, none], metric: m, as: reduction, paper: 0.9, bound: at_most}
  - {id: number, text: number, schemes: [none], metric: m, paper: 70}
`
	e, err := experiment.Parse("x.yaml", []byte(strings.Replace(text, "schemes: [none]\n", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	r := &claim.Judged{Result: &run.Result{Runs: []run.Run{{Scheme: "none", Metrics: measure.Metrics{"m": ptr(100)}}, {Scheme: "pcn", Metrics: measure.Metrics{"m": ptr(40)}}}}}
	want := map[web.Mark]bool{
		{Y: 70}: true, {Line: 1, At: 1, Y: 50, Ratio: true}: true, {Line: 1, At: 1, Y: 25, Bound: "at_most", Ratio: true}: true,
		{Line: 1, At: 1, Y: 10, Bound: "at_least", Ratio: true}: true,
	}
	c := charter{e: e, styles: LineStyles([]string{"none", "pcn"})}
	charts := c.charts([]*claim.Judged{r})
	if len(charts) != 1 || len(charts[0].Paper) != len(want) {
		t.Fatalf("%+v", charts)
	}
	for _, m := range charts[0].Paper {
		if !want[m] {
			t.Errorf("%+v", m)
		}
	}
	if note := charts[0].Note; note != "◇ paper, △ paper: at least, ▽ paper: at most; ratios are of the other scheme's value here" {
		t.Error(note)
	}
	// Pictures have the paper's own numbers only.
	if panels := Charts(e, r.Result); len(panels[0][0].Paper) != 1 {
		t.Errorf("%+v", panels[0][0].Paper)
	}
}

// Where slowdowns are measured a page shows them by flow size: the median, the 95th and the 99th percentile. Of one size
// there is nothing to show.
func TestSlowdownsBySize(t *testing.T) {
	text := strings.Replace(swept, "metrics: [", "metrics: [{name: slow, do: slowdown, stat: p99}, ", 1)
	e, err := experiment.Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var ended []measure.Ended
	for i := range 200 {
		f := measure.Ended{Size: units.Size(1000 * (1 + i%2)), Ideal: units.Microsecond, FCT: 2 * units.Microsecond}
		if i%20 < 4 { // more than a twentieth of both sizes
			f.FCT = 8 * units.Microsecond
		}
		ended = append(ended, f)
	}
	titles := func(of []measure.Ended) (list []string) {
		r := &claim.Judged{Result: &run.Result{Runs: []run.Run{{Scheme: "none", Metrics: measure.Metrics{"m": ptr(1)}}}}}
		r.Runs[0].Recorded("", &measure.Series{}, of)
		c := charter{e: e, styles: LineStyles([]string{"none"})}
		for _, chart := range c.charts([]*claim.Judged{r}) {
			if strings.HasPrefix(chart.Title, "slowdown by flow size") {
				list = append(list, fmt.Sprintf("%s %v", chart.Title, chart.Lines[0].Values))
			}
		}
		return list
	}
	want := []string{"slowdown by flow size: median [2 2]", "slowdown by flow size: 95th percentile [8 8]", "slowdown by flow size: 99th percentile [8 8]"}
	if got := titles(ended); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for i := range ended {
		ended[i].Size = 1000
	}
	if got := titles(ended); got != nil {
		t.Errorf("of one size: %q", got)
	}
}
