package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/run"
	"photon/lab/web"
	"photon/lab/web/pages"
	"photon/units"
)

// everyPanel is an experiment with every kind of panel, replayed into a folder.
func everyPanel(t testing.TB) (e *experiment.Experiment, r *claim.Judged, dir string) {
	t.Helper()
	b, err := os.ReadFile("testdata/report.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if e, err = experiment.Parse("testdata/report.yaml", b); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	return e, replayed(t, e, run.Options{World: "sim", Quick: true}, dir), dir
}

// replayed replays an experiment into a folder.
func replayed(t testing.TB, e *experiment.Experiment, o run.Options, dir string) *claim.Judged {
	t.Helper()
	r, err := run.Replay(context.Background(), e, o)
	if err != nil {
		t.Fatal(err)
	}
	j := claim.Judge(e, r)
	if err := Write(e, dir, j); err != nil {
		t.Fatal(err)
	}
	return j
}

// pageOf makes the page of all results of an experiment that are in a folder.
func pageOf(t testing.TB, e *experiment.Experiment, dir string) string {
	t.Helper()
	var results []*claim.Judged
	for _, w := range experiment.Worlds {
		r, err := Load(e, dir, w)
		if err != nil {
			t.Fatal(err)
		}
		if r != nil {
			results = append(results, claim.Judge(e, r.Result))
		}
	}
	path, err := Page(e, dir, results, pages.Write)
	return readPage(t, path, err)
}

func ptr(v float64) *float64 { return &v }

func fig11(t testing.TB) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Get("pcn/fig11")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// copyWorld puts what one world measured down as the other's.
func copyWorld(t testing.TB, e *experiment.Experiment, dir string) {
	t.Helper()
	r, err := Load(e, dir, "sim")
	if err != nil {
		t.Fatal(err)
	}
	r.World = "dpdk"
	if err := Write(e, dir, r); err != nil {
		t.Fatal(err)
	}
}

func readPage(t testing.TB, path string, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// selfContained fails if a page would fetch anything.
func selfContained(t *testing.T, page string) {
	t.Helper()
	if i := strings.Index(strings.ReplaceAll(page, "http://www.w3.org/", ""), "://"); i >= 0 {
		t.Errorf("the page has an address: %q", page[max(0, i-60):i+60])
	}
	for _, m := range regexp.MustCompile(`(?i)\b(src|href|action)\s*=\s*"?([^"\s>]*)|url\(|@import|\bfetch\(|XMLHttpRequest|<link\b|<iframe\b`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[2], "#") {
			t.Errorf("the page refers to something: %q", m[0])
		}
	}
}

// chartData is the data of the page's charts.
func chartData(t *testing.T, page string) (charts []web.Chart) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?s)<script type="application/json" class="data">(.*?)</script>`).FindAllStringSubmatch(page, -1) {
		var data struct{ Charts []web.Chart }
		if err := json.Unmarshal([]byte(m[1]), &data); err != nil {
			t.Fatal(err)
		}
		charts = append(charts, data.Charts...)
	}
	return charts
}

func TestReportAndTable(t *testing.T) {
	e := fig11(t)
	dir := t.TempDir()
	if _, err := Page(e, dir, nil, pages.Write); err == nil {
		t.Error("a report of nothing")
	}
	e.Repeat, e.Alternatives = 2, e.Alternatives[:2]
	r := replayed(t, e, run.Options{World: "sim", Schemes: []string{"pcn"}}, dir)
	page := pageOf(t, e, dir)
	for _, want := range []string{"reproduced", "steady_queue_bytes_mean", "512KB", "photon replay pcn/fig11 --schemes pcn", "every frame accounted for", "period 50us", "n = 2", "Permission is hereby granted"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	selfContained(t, page)
	charts := chartData(t, page)
	if len(charts) != 4 || charts[0].Lines[0].Name != "pcn" || len(charts[0].Lines[0].Values) != linePoints {
		t.Fatalf("%d charts", len(charts))
	}
	// What the paper prints and no panel of the experiment shows has bars of its own, with the paper's marks.
	for i, want := range []web.Mark{{Y: 2, Bound: "at_most"}, {Y: 7.5, Bound: "at_most"}} {
		if c := charts[2+i]; c.Kind != "bars" || c.Y != "ms" || len(c.Paper) != 1 || c.Paper[0] != want {
			t.Errorf("chart %d: %+v", 2+i, c)
		}
	}
	var table bytes.Buffer
	if err := Table(&table, e, []*claim.Judged{r}); err != nil || !strings.Contains(table.String(), "pcn-rate") {
		t.Errorf("%v\n%s", err, table.String())
	}
	table.Reset()
	both, seconds := claim.Judged{Result: &run.Result{World: "dpdk"}}, 2e-3
	both.Runs = []run.Run{{Scheme: "pcn", Metrics: measure.Metrics{"last_pause_s": &seconds, "jain": nil}, Notes: []string{"no PAUSE was sent"}}}
	first := claim.Judged{Result: &run.Result{World: "sim", Runs: both.Runs}}
	want := "metric        pcn sim  pcn dpdk\njain          –        –\nlast_pause_s  2 ms     2 ms\n\npcn sim: no PAUSE was sent\npcn dpdk: no PAUSE was sent\n"
	if err := Table(&table, e, []*claim.Judged{&first, &both}); err != nil || table.String() != want {
		t.Errorf("without claims: %v\n%s", err, table.String())
	}
}

// Texts are texts: none of them ends a script, or begins an element.
func TestReportShowsTextsAsTheyAre(t *testing.T) {
	e, _, dir := everyPanel(t)
	page := pageOf(t, e, dir)
	selfContained(t, page)
	// Two script elements of ours: the data and the code.
	if open, end := strings.Count(page, "<script"), strings.Count(page, "</script"); open != 2 || end != 2 {
		t.Errorf("%d script elements begin and %d end", open, end)
	}
	for _, bad := range []string{"<b>not bold", "<sample>", "alert(1)</script>"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %s", bad)
		}
	}
	for _, text := range []string{e.Title, strings.TrimSpace(e.About), e.Parameters.XOFF.Source, e.Claims[0].Text, "A & B, Venue's, figure 1, section 2"} {
		if !strings.Contains(html.UnescapeString(page), text) {
			t.Errorf("the page lacks %q", text)
		}
	}
}

func TestChartsOfEveryPanel(t *testing.T) {
	e, r, dir := everyPanel(t)
	page := pageOf(t, e, dir)
	charts := chartData(t, page)
	kinds := map[string]int{}
	for _, c := range charts {
		kinds[c.Kind]++
		n := len(c.X.Values)
		if n == 0 {
			n = c.X.N
		}
		for _, l := range c.Lines {
			if len(l.Values) != n || n == 0 {
				t.Errorf("%s: %d values of %s at %d places", c.Kind, len(l.Values), l.Name, n)
			}
		}
	}
	// Rates have a chart for each scheme, because each has a line for each flow;
	// completion times one for each metric.
	if kinds["lines"] != 1+3 || kinds["sweep"] != 2 || kinds["cdf"] != 1 || kinds["bars"] != 2 {
		t.Errorf("charts: %v", kinds)
	}
	queue := charts[0]
	for i, run := range r.Runs {
		if queue.Lines[i].Name != run.Scheme || queue.Lines[i].Color == "" {
			t.Errorf("line %d is %+v", i, queue.Lines[i].Name)
		}
		highest := slices.Max(r.Series(run.Scheme, "50").Column("queue")) / 1000
		if got := slices.Max(queue.Lines[i].Values); got != web.Round(highest, 4) {
			t.Errorf("%s: the peak is %v, and was %v", run.Scheme, got, highest)
		}
	}
	if len(charts[1].Lines) != mostColumns || charts[1].Scheme != "none" {
		t.Errorf("rates: %d lines of %s", len(charts[1].Lines), charts[1].Scheme)
	}
	if sweep := charts[4]; !slices.Equal(sweep.X.Values, web.Numbers{50, 100, 200}) || !sweep.X.Log {
		t.Errorf("sweep over %v", sweep.X)
	}
	for _, want := range []string{"the first 16 of 18 columns", "by its smallest and its largest sample", "burst = 50", "photon run testdata/report.yaml --quick"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	// A page, its script included, and its data.
	if len(page) > 500_000 {
		t.Errorf("%d bytes", len(page))
	}
}

func TestReportOfBothWorlds(t *testing.T) {
	e, _, dir := everyPanel(t)
	copyWorld(t, e, dir)
	page := pageOf(t, e, dir)
	for _, want := range []string{"ours, sim", "ours, dpdk", "(dpdk)", "--world both"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := len(chartData(t, page)); n != 2*9 {
		t.Errorf("%d charts", n)
	}
	if strings.Contains(page, `class="apart" title`) {
		t.Error("equal values do not agree")
	}
}

// swept is an experiment with a metric m.
const swept = `id: test/swept
title: nothing
duration: 1ms
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
flows: [{from: H0, to: H1}]
schemes: [none]
measure: {sample: 10us, probes: [{name: q, kind: queue, at: [S0]}], metrics: [{name: m, do: max, of: q}]}
`

// A sweep whose values are not ascending numbers of one unit has them at equal distances, as
// groups of bars.
func TestSweepAxis(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   web.Numbers
	}{
		{[]string{"1us", "10us", "25us"}, web.Numbers{1, 10, 25}}, {[]string{"500us", "1ms"}, nil},
		{[]string{"off", "on"}, nil}, {[]string{"3", "1", "2"}, nil},
	} {
		text := fmt.Sprintf("about: $x\nsweep: {name: x, values: [%s]}\n", strings.Join(c.values, ", "))
		e, err := experiment.Parse("x.yaml", []byte(swept+text))
		if err != nil {
			t.Fatal(err)
		}
		r := &claim.Judged{Result: &run.Result{Runs: []run.Run{{Metrics: measure.Metrics{}}}}}
		for _, v := range c.values {
			r.Runs[0].Metrics["m@"+v] = ptr(1)
		}
		if axis, values := sweepAxis(e, r); !slices.Equal(axis.Values, c.want) || !slices.Equal(values, c.values) {
			t.Errorf("%v: %v", c.values, axis.Values)
		} else if bars := c.want == nil; bars != (axis.Step == 1 && axis.N == len(values)) || !slices.Equal(axis.Names, c.values) {
			t.Errorf("%v: %+v", c.values, axis)
		}
		ch := &charter{e: e, styles: LineStyles([]string{""})}
		if charts := ch.sweep(&experiment.Plot{Sweep: []string{"m"}}, r); (charts[0].Kind == "bars") != (c.want == nil) {
			t.Errorf("%v: %s", c.values, charts[0].Kind)
		}
	}
}

// Results of a changed copy of an experiment, which has its id, are not taken for its own without a word.
func TestReportSaysWhoseResultsTheyAre(t *testing.T) {
	e, results, dir := everyPanel(t)
	other := e.ID + ": its results (sim) are of another file than this photon's, whose claims judge them"
	for digest, want := range map[string]string{fmt.Sprintf("%x", e.Digest()): "", "5a17": other} {
		results.Digest = digest
		if err := Write(e, dir, results); err != nil {
			t.Fatal(err)
		}
		f, err := finish(e, dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Foreign(); got != want {
			t.Errorf("%s: %q, not %q", digest, got, want)
		}
	}
}

// Claims are judged as they are written now, and not as they were then.
func TestReportJudgesAgain(t *testing.T) {
	e, _, dir := everyPanel(t)
	e.Claims[0].Note, e.Claims[0].Paper = "found later", ptr(1e-9)
	f, err := finish(e, dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.results[0].Claims[0]; got.Note != "found later" || got.Verdict == claim.NotRun || got.Paper == nil || *got.Paper != 1e-9 {
		t.Errorf("%+v", got)
	}
	// A metric that the result lacks is not one that never happened.
	e.Claims[1].Metric = "younger"
	if f, err = finish(e, dir); err != nil || f.results[0].Claims[1].Verdict != claim.NotRun {
		t.Errorf("%v: %+v", err, f.results[0].Claims[1])
	}
}

// The report of all: what is below a folder, and nothing else.
func TestReportOfAll(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Finish(dir); err == nil {
		t.Error("a report of nothing")
	}
	e := fig11(t)
	e.Duration, e.Measure.Queue.To, e.Measure.Steady, e.Measure.Plot = 30*units.Millisecond, 30*units.Millisecond, experiment.Span{From: 10 * units.Millisecond, To: 20 * units.Millisecond}, 0
	replayed(t, e, run.Options{World: "sim", Schemes: []string{"pcn", "none"}, Quick: true}, dir)
	all, missing, err := Finish(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d experiments: %v", len(all), err)
	}
	if ids, err := experiment.IDs(); err != nil || len(missing) != len(ids)-1 || slices.Contains(missing, "pcn/fig11") {
		t.Errorf("missing are %v of %v", missing, ids)
	}
	path := filepath.Join(dir, "all.html")
	page := readPage(t, path, WriteReport(path, all, missing, pages.Write))
	selfContained(t, page)
	for _, want := range []string{`<a href="#pcn-fig11">pcn/fig11</a>`, `<article id="pcn-fig11">`, "PCN, NSDI", "Back to the index"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestCatalogueIsAll(t *testing.T) {
	all, err := experiment.All()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, e := range all {
		want = append(want, e.ID)
	}
	if got, err := experiment.IDs(); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v: %v", got, want, err)
	}
}

// The index counts every verdict there is: none is left out of it.
func TestIndexKnowsEveryVerdict(t *testing.T) {
	counts := web.Counts{}
	for i, v := range []claim.Verdict{
		claim.Reproduced, claim.Direction, claim.Differs, claim.Holds, claim.Contradicted, claim.Shape, claim.NotRun,
	} {
		counts[string(v)] = 100 + i
	}
	page := &web.Page{Title: "all", Counts: counts, Papers: []web.Paper{{Name: "one", Counts: counts}}}
	var b strings.Builder
	if err := pages.Write(&b, page); err != nil {
		t.Fatal(err)
	}
	for v, n := range counts {
		shown := fmt.Sprintf(`<td class="n" data-label="%[1]s"><span class="v %[1]s">%[2]d</span></td>`, v, n)
		if !slices.Contains(web.Verdicts, v) || !strings.Contains(b.String(), shown) {
			t.Errorf("%s is not in the index", v)
		}
		if !strings.Contains(b.String(), "<b>"+v+"</b>") {
			t.Errorf("the legend does not say what %s is", v)
		}
	}
	if len(web.Verdicts) != len(counts) {
		t.Errorf("the page has verdicts that no claim has: %v", web.Verdicts)
	}
}
