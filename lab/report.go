package lab

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"photon/config"
	"photon/scheme"
)

//go:embed report.html
var reportTemplate string

// worlds in the order in which reports show them.
var worlds = []string{"sim", "dpdk"}

// reportData is what the template shows.
type reportData struct {
	E          *Experiment
	Worlds     []string
	Command    string
	Schemes    []reportScheme
	Claims     []reportClaim
	Parameters []reportParameter
	Docs       []reportDoc
	Metrics    []string
	Others     []reportOther
}

type reportScheme struct {
	Name     string
	Summary  string
	Source   string
	Plots    []template.HTML // by world
	Metrics  []reportMetric
	Runs     []string // by world: what held, and how the clock went
	Settings []scheme.Setting
}

type reportMetric struct {
	Name   string
	Values []string // by world
	Agree  string   // yes or no; empty if there is one world only
}

type reportClaim struct {
	Text, Schemes, Paper, Note string
	Measured                   []string  // by world
	Verdicts                   []Verdict // by world
}

type reportParameter struct{ Name, Value, Source string }

type reportDoc struct{ Name, Doc string }

// reportOther is a choice that was made otherwise.
type reportOther struct {
	Scheme, Params string
	Values         []string // by metric
}

// Report writes an experiment's report.html from the results of the worlds that
// are in the output folder, and returns its path. The page needs nothing else.
func (e *Experiment) Report(out string) (path string, err error) {
	var results []*Result
	for _, w := range worlds {
		r, err := e.Load(out, w)
		if err != nil {
			return "", err
		}
		if r != nil {
			results = append(results, r)
		}
	}
	if len(results) == 0 {
		return "", fmt.Errorf("%s: there are no results", e.Folder(out))
	}
	data, err := e.reportData(results)
	if err != nil {
		return "", err
	}
	t, err := template.New("report").Parse(reportTemplate)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return "", err
	}
	path = filepath.Join(e.Folder(out), "report.html")
	return path, os.WriteFile(path, b.Bytes(), 0o644)
}

func (e *Experiment) reportData(results []*Result) (*reportData, error) {
	d := &reportData{E: e, Command: "photon replay " + e.ID}
	for _, r := range results {
		d.Worlds = append(d.Worlds, r.World)
	}
	switch {
	case len(results) == 2:
		d.Command += " --world both"
	case d.Worlds[0] != "sim":
		d.Command += " --world " + d.Worlds[0]
	}
	d.Claims = reportClaims(results)
	for _, use := range e.ran(results) {
		s, err := e.reportScheme(use, results)
		if err != nil {
			return nil, err
		}
		if s != nil {
			d.Schemes = append(d.Schemes, *s)
		}
	}
	p := &e.Parameters
	d.Parameters = []reportParameter{
		{"link rate", p.LinkRate.Value.V.String(), p.LinkRate.Source},
		{"delay of a host's link", p.HostDelay.Value.V.String(), p.HostDelay.Source},
		{"delay between switches", p.TrunkDelay.Value.V.String(), p.TrunkDelay.Source},
		{"payload", p.Payload.Value.V.String(), p.Payload.Source},
		{"MTU", p.MTU.Value.V.String(), p.MTU.Source},
		{"lossless priority", fmt.Sprint(p.Priority.Value.V), p.Priority.Source},
		{"XOFF", p.XOFF.Value.V.String(), p.XOFF.Source},
		{"XON", p.XON.Value.V.String(), p.XON.Source},
		{"buffer of a switch", p.Buffer.Value.V.String(), p.Buffer.Source},
	}
	for _, m := range e.MetricNames() {
		d.Docs = append(d.Docs, reportDoc{m, e.metricDoc(m)})
	}
	d.Metrics = e.metricRows(results)
	for _, r := range results {
		for _, a := range r.alternatives {
			row := reportOther{Scheme: a.Scheme}
			for _, name := range slices.Sorted(maps.Keys(a.Params)) {
				row.Params = strings.TrimPrefix(row.Params+", "+name+" "+a.Params[name], ", ")
			}
			for _, m := range e.metricRows(results) {
				row.Values = append(row.Values, number(a.Metrics[m], unitOf(m)))
			}
			d.Others = append(d.Others, row)
		}
	}
	return d, nil
}

func reportClaims(results []*Result) (claims []reportClaim) {
	for i, c := range results[0].Claims {
		row := reportClaim{Text: c.Text, Schemes: strings.Join(c.Schemes, " / "), Paper: number(c.Paper, c.Unit), Note: c.Note}
		for _, r := range results {
			row.Measured = append(row.Measured, number(r.Claims[i].Measured, c.Unit))
			row.Verdicts = append(row.Verdicts, r.Claims[i].Verdict)
		}
		claims = append(claims, row)
	}
	return claims
}

// reportScheme gathers one scheme's part; nil if no world ran it.
func (e *Experiment) reportScheme(use SchemeUse, results []*Result) (*reportScheme, error) {
	recipe, err := scheme.Get(use.Name.V)
	if err != nil {
		return nil, err
	}
	known, err := e.known()
	if err != nil {
		return nil, err
	}
	s := &reportScheme{Name: recipe.Name, Summary: recipe.Summary, Source: recipe.Source}
	if s.Settings, err = recipe.Settings(known, use.overrides()); err != nil {
		return nil, err
	}
	var runs []*Run
	for _, r := range results {
		for i := range r.Runs {
			if run := &r.Runs[i]; run.Scheme == recipe.Name {
				svg, err := e.plot(r, run.Scheme, "svg")
				if err != nil {
					return nil, err
				}
				s.Plots = append(s.Plots, template.HTML(stripProlog(svg)))
				s.Runs = append(s.Runs, run.describe(r))
				runs = append(runs, run)
			}
		}
	}
	if len(runs) == 0 {
		return nil, nil
	}
	for _, m := range e.metricRows(results) {
		row := reportMetric{Name: m}
		for _, run := range runs {
			row.Values = append(row.Values, number(run.Metrics[m], unitOf(m)))
		}
		if len(runs) == 2 {
			row.Agree = "no"
			if e.Agree(m, runs[0].Metrics[m], runs[1].Metrics[m]) {
				row.Agree = "yes"
			}
		}
		s.Metrics = append(s.Metrics, row)
	}
	return s, nil
}

// known is what schemes know of the experiment's network.
func (e *Experiment) known() (scheme.Network, error) {
	p, err := e.plan()
	if err != nil {
		return scheme.Network{}, err
	}
	flows, err := e.flows(p, e.Seed)
	if err != nil {
		return scheme.Network{}, err
	}
	return e.network(p, flows, 0), nil
}

// ran lists the schemes of results: the experiment's, then others that were asked for.
func (e *Experiment) ran(results []*Result) (uses []SchemeUse) {
	uses = slices.Clone(e.Schemes)
	for _, r := range results {
		for _, run := range r.Runs {
			if !slices.ContainsFunc(uses, func(u SchemeUse) bool { return u.Name.V == run.Scheme }) {
				uses = append(uses, SchemeUse{Name: config.Set(run.Scheme)})
			}
		}
	}
	return uses
}

// metricRows lists all metrics of results: those of a sweep once for each value.
func (e *Experiment) metricRows(results []*Result) (names []string) {
	if e.Sweep == nil {
		return e.MetricNames()
	}
	for _, m := range e.MetricNames() {
		for _, v := range e.variants {
			name := key(m, v.value)
			if slices.ContainsFunc(results, func(r *Result) bool { _, ok := r.Runs[0].Metrics[name]; return ok }) {
				names = append(names, name)
			}
		}
	}
	return names
}

// metricDoc says what a metric is.
func (e *Experiment) metricDoc(name string) string {
	if doc := MetricDoc[name]; doc != "" {
		return doc
	}
	for _, m := range e.Measure.Metrics {
		if m.Name == name {
			if m.Doc != "" {
				return m.Doc
			}
			return metricKinds[m.Do.V].doc
		}
	}
	return ""
}

// describe says in a line what held in a run.
func (run *Run) describe(r *Result) string {
	text := fmt.Sprintf("%s: %d packet-hops in %g s of virtual time, %d lost", r.World, run.PacketHops, run.Virtual, run.Invariants.LostFrames)
	if run.Invariants.ConservationOK {
		text += ", every frame accounted for on every node"
	} else {
		text += ", FRAMES UNACCOUNTED FOR"
	}
	if run.TraceHash != nil {
		text += ", trace " + *run.TraceHash
	}
	return text
}

func unitOf(metric string) string {
	switch {
	case strings.HasSuffix(metric, "_s"):
		return "s"
	case strings.HasSuffix(metric, "_bps"):
		return "bit/s"
	case strings.Contains(metric, "_bytes"):
		return "B"
	}
	return ""
}

// stripProlog leaves the svg element, which is what a page can hold.
func stripProlog(svg []byte) []byte {
	if i := bytes.Index(svg, []byte("<svg")); i > 0 {
		return svg[i:]
	}
	return svg
}

// Table prints the claims beside what the worlds measured, for a terminal.
func Table(w io.Writer, results []*Result) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	head := "claim\tpaper"
	for _, r := range results {
		head += "\t" + r.World
	}
	fmt.Fprintln(t, head+"\tverdict")
	for i, c := range results[0].Claims {
		row := c.ID + "\t" + number(c.Paper, c.Unit)
		var verdicts []string
		for _, r := range results {
			row += "\t" + number(r.Claims[i].Measured, c.Unit)
			if v := string(r.Claims[i].Verdict); !slices.Contains(verdicts, v) {
				verdicts = append(verdicts, v)
			}
		}
		fmt.Fprintln(t, row+"\t"+strings.Join(verdicts, " | "))
	}
	return t.Flush()
}
