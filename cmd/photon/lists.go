package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"photon/lab/experiment"
	"photon/lab/workload"
	"photon/scheme"
	"photon/telemetry/metrics"
)

// lists are what `photon list` lists. Without a kind it prints those that have a title.
var lists = []struct {
	kind, title string
	read        func() (table, error)
}{
	{"experiments", "Experiments (photon replay ID):", listExperiments},
	{"schemes", "\nSchemes (photon explain NAME):", listSchemes},
	{"workloads", "", listWorkloads},
	{"measurements", "", listMeasurements},
	{"metrics", "", listMetrics},
}

// table is a list that can be printed in columns, and encoded as JSON.
type table interface{ print(w io.Writer) }

// listed are the kinds of lists.
func listed() (kinds []string) {
	for _, l := range lists {
		kinds = append(kinds, l.kind)
	}
	return kinds
}

type experimentRows []experimentRow

type experimentRow struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Paper string `json:"paper"`
	Venue string `json:"venue"`
	Place string `json:"place"` // the figure or table
}

func listExperiments() (table, error) {
	all, err := experiment.Catalogue()
	var rows experimentRows
	for _, e := range all {
		rows = append(rows, experimentRow{e.ID, e.Title, e.Paper.Name, e.Paper.Venue, e.Paper.Place()})
	}
	return rows, err
}

func (rows experimentRows) print(w io.Writer) {
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s %s, %s\n", r.ID, r.Title, r.Paper, r.Venue, r.Place)
	}
}

type schemeRows []schemeRow

type schemeRow struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Source  string `json:"source"`
}

func listSchemes() (table, error) {
	var rows schemeRows
	for _, name := range scheme.Names() {
		s, err := scheme.Get(name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, schemeRow{s.Name, s.Summary, s.Source})
	}
	return rows, nil
}

func (rows schemeRows) print(w io.Writer) {
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Name, r.Summary, r.Source)
	}
}

type workloadRows []workloadRow

type workloadRow struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean_bytes"`
}

func listWorkloads() (table, error) {
	var rows workloadRows
	for _, name := range workload.Names() {
		c, err := workload.Named(name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, workloadRow{name, c.Mean()})
	}
	return rows, nil
}

func (rows workloadRows) print(w io.Writer) {
	for _, r := range rows {
		fmt.Fprintf(w, "%s\tmean %.4g KB\n", r.Name, r.Mean/1e3)
	}
}

type measurementRows []measurementRow

type measurementRow struct {
	Kind string `json:"kind"` // probe: is read every sample; metric: is made of samples
	Name string `json:"name"`
	Help string `json:"help"`
}

func listMeasurements() (table, error) {
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

func (rows measurementRows) print(w io.Writer) {
	heads := map[string]string{
		"probe":  "Probes, in `kind:` (what is read, every sample):",
		"metric": "\nMetrics, in `do:` (what is made of it):",
	}
	for i, r := range rows {
		if i == 0 || rows[i-1].Kind != r.Kind {
			fmt.Fprintln(w, heads[r.Kind])
		}
		fmt.Fprintf(w, "%s\t%s\n", r.Name, r.Help)
	}
}

type metricRows []metricRow

type metricRow struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Help   string `json:"help"`
	Switch bool   `json:"switch"` // a switch has it
	Agent  bool   `json:"agent"`  // an agent has it
}

func listMetrics() (table, error) {
	var rows metricRows
	for _, m := range metrics.All() {
		rows = append(rows, metricRow{m.Name, m.Type, m.Help, m.Switch, m.Agent})
	}
	return rows, nil
}

func (rows metricRows) print(w io.Writer) {
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Name, r.Type, r.Help)
	}
}
