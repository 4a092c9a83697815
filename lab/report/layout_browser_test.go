//go:build browser

package report

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"photon/internal/browser"
	"photon/lab/experiment"
	"photon/lab/run"
)

// ownExperiment is one of a user's own: no paper, no claims, more schemes than a table has columns for.
func ownExperiment(t *testing.T) *experiment.Experiment {
	t.Helper()
	var schemes strings.Builder
	for i := range 10 {
		fmt.Fprintf(&schemes, "  - {name: dcqcn, label: dcqcn-with-a-long-name-%d, params: {kmin: {value: %dKB, source: mine}}}\n", i, 10+i)
	}
	return parsed(t, `id: own
title: Rings of my own
duration: 1ms
topology: {kind: ring, switches: 5, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
flows: [{from: H0-0, to: H1-0}, {from: H0-1, to: H1-0}]
schemes:
`+schemes.String()+`measure:
  sample: 10us
  probes: [{name: q, kind: queue, at: ["S0>S1"]}, {name: sending, kind: sending, flows: ["*"], over: 50us}]
  metrics: [{name: the_longest_queue_anywhere_bytes, do: max, of: q}, {name: mean_bytes, do: mean, of: q}, {name: mean_rate_of_all_senders_bps, do: mean, of: sending}]
`)
}

// numbersOnly is one of which there is nothing to draw: what it waits for never comes.
func numbersOnly(t *testing.T) *experiment.Experiment {
	t.Helper()
	return parsed(t, strings.Replace(swept, "{name: m, do: max, of: q}", "{name: m, do: first_at_least, of: q, value: 1.0e+12}", 1))
}

func parsed(t *testing.T, text string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("own.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func catalogued(t *testing.T, id string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Reports of every kind, light and dark, wide and narrow: samples over time beside a paper's numbers, distributions and
// slowdowns, a large network, nothing but tables, somebody's own, a long one of both worlds, and that of all with its
// index.
func TestReportLayoutInBrowser(t *testing.T) {
	quick := func(schemes ...string) run.Options { return run.Options{World: "sim", Schemes: schemes, Quick: true} }
	for _, x := range []struct {
		name string
		of   *experiment.Experiment
		run  run.Options
		want content
	}{
		{"time", catalogued(t, "pcn/fig11"), quick("none", "dcqcn", "pcn", "timely"), content{charts: 4, paper: true, ratios: true}},
		{"completion", catalogued(t, "tcd/fct"), quick("timely", "tcd+timely"), content{charts: 6, paper: true, ratios: true, slowdowns: 3}},
		{"layers", wired(t, "{kind: fat-tree, k: 8}"), quick(), content{charts: 1}},
		{"tables", numbersOnly(t), quick(), content{}},
		{"own", ownExperiment(t), quick(), content{charts: 3}},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			replayed(t, x.of, x.run, dir)
			pageOf(t, x.of, dir)
			x.want.nodes = nodes(t, x.of)
			checkReport(t, x.name, filepath.Join(Folder(x.of, dir), "report.html"), x.want)
		})
	}
	one, all := reportPages(t)
	t.Run("long", func(t *testing.T) {
		checkReport(t, "long", one, content{nodes: 6, charts: 18, paper: true, ratios: true})
	})
	t.Run("index", func(t *testing.T) {
		checkReport(t, "index", all, content{nodes: nodes(t, fig11(t)), charts: 4, paper: true, ratios: true})
	})
}

// nodes are how many an experiment's topology has.
func nodes(t *testing.T, e *experiment.Experiment) int {
	t.Helper()
	p, err := e.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return len(p.Nodes)
}

// ratio is one in words.
var ratio = regexp.MustCompile(`twice|half|third|one [0-9]+(st|nd|rd|th)|thousandth|times| % (more|less|longer|shorter) than|the same as`)

// content is what there is to be on a page.
type content struct {
	nodes, charts, slowdowns int  // slowdowns are charts, too
	paper                    bool // its numbers are on charts
	ratios                   bool // at least one number of the paper is a ratio, or is compared by one
}

// checkReport checks the layout of a page in every width and colour, and that it has what a report must have.
func checkReport(t *testing.T, name, path string, want content) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	browser.CheckLayout(t, "report-"+name, "file://"+path, func(p *browser.Page) {
		p.JS(`charts.forEach(c => c.make())`)
		p.Becomes(`charts.every(c => c.figure.hidden || c.u && c.u.scales.y.max != null)`)
		if n := browser.Is[int](p, `charts.length`); n != want.charts {
			t.Errorf("%d charts, want %d", n, want.charts)
		}
		if n := browser.Is[int](p, `[...document.querySelectorAll('.wiring [data-nodes]')].reduce((n, e) => n + Number(e.dataset.nodes), 0)`); n != want.nodes {
			t.Errorf("%d nodes are drawn, of %d", n, want.nodes)
		}
		if s := browser.Is[string](p, `document.querySelector('.summary').textContent`); !strings.Contains(s, "no frame was lost") {
			t.Errorf("the summary is %q", s)
		}
		// Nobody has pointed at anything, and legends have values where there are any.
		if s := browser.Is[[]string](p, `charts.filter(c => c.u && !c.figure.hidden).flatMap(c => c.rows.filter((r, i) => c.u.series[i + 1].show && c.data.lines[i].value && !/^-?[0-9]/.test(r.querySelector('.u-value').textContent)).map(r => r.textContent))`); len(s) > 0 {
			t.Errorf("legends without values: %q", s)
		}
		if n := browser.Is[int](p, `charts.filter(c => c.data.lines.some(l => l.value)).length`); n != browser.Is[int](p, `charts.length`) {
			t.Errorf("%d charts have values for their legends", n)
		}
		if got := browser.Is[bool](p, `charts.some(c => c.data.paper)`); got != want.paper {
			t.Errorf("the paper's numbers are on charts: %v", got)
		}
		if n := browser.Is[int](p, `charts.filter(c => c.figure.textContent.includes('slowdown by flow size')).length`); n != want.slowdowns {
			t.Errorf("%d charts of slowdowns, want %d", n, want.slowdowns)
		}
		ratios := browser.Is[[]string](p, `[...document.querySelectorAll('small.words')].map(e => e.textContent)`)
		said := slices.ContainsFunc(ratios, func(s string) bool { return ratio.MatchString(s) })
		if said != want.ratios {
			t.Errorf("ratios in words: %q", ratios)
		}
		// Lines stand out from their ground, as far as Okabe's and Ito's do on white.
		dark := browser.Is[bool](p, `night.matches`)
		if dark != browser.Is[bool](p, `charts.every(c => c.data.lines.every((l, i) => !c.u || c.u.series[i + 1].stroke(c.u, i + 1) === l.dark))`) && want.charts != 0 {
			t.Errorf("dark: %v, and the lines are not", dark)
		}
		if n := browser.Is[int](p, `document.querySelectorAll('details.note[open], td > small.note').length`); n != 0 {
			t.Errorf("%d notes are not folded", n)
		}
	})
}
