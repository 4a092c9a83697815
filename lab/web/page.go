package web

import (
	"embed"
	"encoding/json"
	"html/template"
	"io"

	"photon/telemetry/page"
)

//go:embed page.html experiment.html report.css charts.js report.js
var files embed.FS

// Page is a whole report.
type Page struct {
	Title       string
	About       string
	Papers      []Paper  // the index; empty in the report of one experiment
	Counts      Counts   // of all claims
	NotRun      []string // experiments of the catalogue without results
	Experiments []*Experiment
}

// Paper is a part of the index.
type Paper struct {
	Name, Venue string
	Counts      Counts
	Rows        []IndexRow
}

// IndexRow is an experiment in the index.
type IndexRow struct {
	Anchor, ID, Title, Figure string
	Quick                     bool // its results are of a quick run
	Counts                    Counts
}

// Counts of verdicts, by their names.
type Counts map[string]int

// Verdicts in the order in which they are shown.
var Verdicts = []string{"reproduced", "direction", "differs", "shape", "not-run"}

// Total is the number of claims.
func (c Counts) Total() (n int) {
	for _, k := range c {
		n += k
	}
	return n
}

// Add counts those of another as well.
func (c Counts) Add(other Counts) {
	for v, n := range other {
		c[v] += n
	}
}

// Experiment is a section of a report.
type Experiment struct {
	Anchor, ID, Title string
	Source            string // paper, figure and section
	About             string
	Command           string // that repeats it
	Extent            string // whether all of it ran, and how long that took
	Worlds            []string
	Schemes           []Scheme
	Charts            []*Chart
	Claims            []Claim
	Metrics           []Row // a row for each metric and world
	Docs              []Doc
	Parameters        []Parameter
	Others            []Row // choices that were made otherwise
	OtherMetrics      []string
	Runs              []Run
	Sound             bool // no run lost a frame
	Alone             bool // on its page, which has no index that says what verdicts mean
}

// Scheme is one that was run.
type Scheme struct {
	Look
	Name, Summary, Source string
	Hidden                bool // at first, in its charts
	Settings              []Parameter
}

// Claim is a statement of the paper and what became of it.
type Claim struct {
	ID, Text, Schemes, Paper, Note string
	Measured                       []string // by world
	Verdicts                       []Verdict
}

// Verdict is that of a world; World is empty where all worlds agree.
type Verdict struct{ World, Verdict string }

// Row is a row of numbers. Apart says which values the two worlds do not agree on.
type Row struct {
	Name, Detail string
	Values       []string
	Apart        []bool
}

// Doc says what a metric is.
type Doc struct{ Name, Doc string }

// Parameter is a value and where it comes from.
type Parameter struct{ Name, Value, Doc, Source string }

// Run is what held in a run of a scheme, and why a mechanism never acted.
type Run struct {
	World, Scheme, What string
	Notes               []string
	Sound               bool
}

// Data is what the charts of an experiment are drawn from.
func (e *Experiment) Data() (template.JS, error) {
	type scheme struct {
		Name   string `json:"name"`
		Hidden bool   `json:"hidden,omitempty"`
	}
	data := struct {
		Schemes []scheme `json:"schemes"`
		Charts  []*Chart `json:"charts"`
	}{Charts: e.Charts}
	for _, s := range e.Schemes {
		data.Schemes = append(data.Schemes, scheme{s.Name, s.Hidden})
	}
	b, err := json.Marshal(data) // with < as \u003c, so that no text ends the script element
	return template.JS(b), err
}

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	functions := template.FuncMap{
		"verdicts": func() []string { return Verdicts },
		"style":    func() template.CSS { return template.CSS(page.UPlotStyle() + text("report.css")) },
		"script":   script,
		"dash":     Look.svg,
	}
	t, err := template.New("page.html").Funcs(functions).ParseFS(files, "page.html", "experiment.html")
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// script is uPlot, and ours.
func script() template.JS { return template.JS(page.UPlot() + text("charts.js") + text("report.js")) }

// text of an embedded file, which is there or the program does not build.
func text(name string) string {
	b, _ := files.ReadFile(name)
	return string(b)
}
