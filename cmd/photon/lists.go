package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"photon/internal/table"
	"photon/lab/experiment"
	"photon/lab/workload"
	"photon/scheme"
	"photon/telemetry/metrics"
)

// lists are what `photon list` lists. Without a kind it prints those that have a title.
var lists = []struct {
	kind, title string
	read        func() (listing, error)
}{
	{"experiments", "Experiments (photon replay ID):", listExperiments},
	{"schemes", "\nSchemes (photon explain NAME):", listSchemes},
	{"workloads", "", listWorkloads},
	{"measurements", "", listMeasurements},
	{"metrics", "", listMetrics},
}

// listing can be printed in columns, and encoded as an array of JSON.
type listing interface{ print(w io.Writer) error }

// listed are the kinds of lists.
func listed() (kinds []string) {
	for _, l := range lists {
		kinds = append(kinds, l.kind)
	}
	return kinds
}

type experimentRows []experimentRow

type experimentRow struct {
	Kind  string `json:"kind"` // experiment
	ID    string `json:"id"`
	Title string `json:"title"`
	Paper string `json:"paper"`
	Venue string `json:"venue"`
	Place string `json:"place"` // the figure or table
}

func listExperiments() (listing, error) {
	all, err := experiment.Catalogue()
	var rows experimentRows
	for _, e := range all {
		rows = append(rows, experimentRow{"experiment", e.ID, e.Title, e.Paper.Name, e.Paper.Venue, e.Paper.Place()})
	}
	return rows, err
}

func (rows experimentRows) print(w io.Writer) error {
	t := table.New(3)
	for _, r := range rows {
		t.Row(r.ID, r.Title, fmt.Sprintf("%s %s, %s", r.Paper, r.Venue, r.Place))
	}
	return t.Print(w)
}

type schemeRows []schemeRow

type schemeRow struct {
	Kind    string `json:"kind"` // scheme
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Source  string `json:"source"`
}

func listSchemes() (listing, error) {
	var rows schemeRows
	for _, name := range scheme.Names() {
		s, err := scheme.Get(name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, schemeRow{"scheme", s.Name, s.Summary, s.Source})
	}
	return rows, nil
}

func (rows schemeRows) print(w io.Writer) error {
	t := table.New(3)
	for _, r := range rows {
		t.Row(r.Name, r.Summary, r.Source)
	}
	return t.Print(w)
}

type workloadRows []workloadRow

type workloadRow struct {
	Kind string  `json:"kind"` // workload
	Name string  `json:"name"`
	Mean float64 `json:"mean_bytes"`
}

func listWorkloads() (listing, error) {
	var rows workloadRows
	for _, name := range workload.Names() {
		c, err := workload.Named(name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, workloadRow{"workload", name, c.Mean()})
	}
	return rows, nil
}

func (rows workloadRows) print(w io.Writer) error {
	t := table.New(3)
	for _, r := range rows {
		t.Row(r.Name, "mean "+experiment.Number(&r.Mean, "B"))
	}
	return t.Print(w)
}

type measurementRows []measurementRow

type measurementRow struct {
	Kind string `json:"kind"` // probe: is read every sample; metric: is made of samples
	Name string `json:"name"`
	Help string `json:"help"`
}

func listMeasurements() (listing, error) {
	var rows measurementRows
	for _, kind := range []string{"probe", "metric"} {
		docs := experiment.ProbeDocs()
		if kind == "metric" {
			docs = experiment.MetricDocs()
		}
		for _, name := range slices.Sorted(maps.Keys(docs)) {
			rows = append(rows, measurementRow{kind, name, docs[name]})
		}
	}
	return rows, nil
}

func (rows measurementRows) print(w io.Writer) error {
	heads := map[string]string{
		"probe":  "Probes, in `kind:` (what is read, every sample):",
		"metric": "\nMetrics, in `do:` (what is made of it):",
	}
	t := table.New(2)
	for i, r := range rows {
		if i == 0 || rows[i-1].Kind != r.Kind {
			t.Row(heads[r.Kind])
		}
		t.Row(r.Name, r.Help)
	}
	return t.Print(w)
}

type metricRows []metricRow

type metricRow struct {
	Kind   string `json:"kind"` // prometheus; a metric is what experiments make of samples
	Name   string `json:"name"`
	Type   string `json:"type"`
	Help   string `json:"help"`
	Switch bool   `json:"switch"` // a switch has it
	Agent  bool   `json:"agent"`  // an agent has it
}

func listMetrics() (listing, error) {
	var rows metricRows
	for _, m := range metrics.All() {
		rows = append(rows, metricRow{"prometheus", m.Name, m.Type, m.Help, m.Switch, m.Agent})
	}
	return rows, nil
}

func (rows metricRows) print(w io.Writer) error {
	t := table.New(3)
	for _, r := range rows {
		t.Row(r.Name, r.Type, r.Help)
	}
	return t.Print(w)
}
