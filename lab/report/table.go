package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"photon/internal/table"
	"photon/lab/claim"
	"photon/lab/experiment"
)

// Table prints the claims with what the worlds measured, for a terminal. An
// experiment without claims has its metrics there, and why a mechanism never acted. So
// have schemes that the experiment does not name, about which no claim can be.
func Table(w io.Writer, e *experiment.Experiment, results []*claim.Judged) error {
	if err := valuesTable(w, e, results); err != nil {
		return err
	}
	if seeds := seedsDiffer(results); seeds != "" {
		_, err := fmt.Fprintf(w, "\nseeds, each with draws of its own: %s\n", seeds)
		return err
	}
	return nil
}

func valuesTable(w io.Writer, e *experiment.Experiment, results []*claim.Judged) error {
	if len(results[0].Claims) == 0 {
		return metricsTable(w, e, results, func(string) bool { return true })
	}
	head := []string{"claim", "paper"}
	for _, r := range results {
		head = append(head, r.World)
		if len(r.Seeds) > 1 {
			head = append(head, "interval", "n")
		}
	}
	head = append(head, "verdict")
	t := table.New(len(head), head...)
	for i := range results[0].Claims {
		c := &results[0].Claims[i]
		claimRow(t, c.ID, results, func(r *claim.Judged) *claim.Measurement { return &r.Claims[i].Measurement })
		for k := range c.Measurements {
			claimRow(t, "  "+c.Measurements[k].Name, results, func(r *claim.Judged) *claim.Measurement { return &r.Claims[i].Measurements[k] })
		}
	}
	if err := t.Print(w); err != nil {
		return err
	}
	unclaimed := func(scheme string) bool { return !slices.Contains(e.SchemeKeys(), scheme) }
	for _, run := range results[0].Runs {
		if unclaimed(run.Scheme) {
			fmt.Fprintln(w)
			return metricsTable(w, e, results, unclaimed)
		}
	}
	return nil
}

// claimRow is a claim, or one of its measurements, in every world.
func claimRow(t *table.Table, name string, results []*claim.Judged, of func(*claim.Judged) *claim.Measurement) {
	row := []any{name, of(results[0]).Theirs()}
	var verdicts []string
	for _, r := range results {
		m := of(r)
		row = append(row, m.Ours())
		if len(r.Seeds) > 1 {
			row = append(row, m.Spread(), m.N)
		}
		if v := m.Says(); !slices.Contains(verdicts, v) {
			verdicts = append(verdicts, v)
		}
	}
	t.Row(append(row, strings.Join(verdicts, " | "))...)
}

// metricsTable has a column for each of these schemes and, if there are several, world.
func metricsTable(w io.Writer, e *experiment.Experiment, results []*claim.Judged, of func(scheme string) bool) error {
	head := []string{"metric"}
	names, notes := map[string]bool{}, ""
	for _, r := range results {
		for _, run := range r.Runs {
			if !of(run.Scheme) {
				continue
			}
			column := run.Scheme
			if len(results) > 1 {
				column += " " + r.World
			}
			head = append(head, column)
			for name := range run.Metrics {
				names[name] = true
			}
			for _, n := range run.Notes {
				if !strings.HasPrefix(n, "@") { // of a value of the sweep
					n = ": " + n
				}
				notes += column + n + "\n"
			}
		}
	}
	t := table.New(len(head), head...)
	for _, name := range slices.SortedFunc(maps.Keys(names), experiment.Natural) {
		row := []any{name}
		for _, r := range results {
			for _, run := range r.Runs {
				if !of(run.Scheme) {
					continue
				}
				row = append(row, experiment.Number(run.Metrics[name], e.Unit(name)))
			}
		}
		t.Row(row...)
	}
	if len(names) > 0 {
		if err := t.Print(w); err != nil || notes == "" {
			return err
		}
		notes = "\n" + notes
	}
	_, err := io.WriteString(w, notes)
	return err
}
