package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"photon/lab/claim"
	"photon/lab/experiment"
)

// Table prints the claims with what the worlds measured, for a terminal. An
// experiment without claims has its metrics there, and why a mechanism never acted.
func Table(w io.Writer, e *experiment.Experiment, results []*claim.Judged) error {
	if len(results[0].Claims) == 0 {
		return metricsTable(w, e, results)
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	head := "claim\tpaper"
	for _, r := range results {
		head += "\t" + r.World
		if len(r.Seeds) > 1 {
			head += "\tinterval\tn"
		}
	}
	fmt.Fprintln(t, head+"\tverdict")
	for i := range results[0].Claims {
		c := &results[0].Claims[i]
		claimRow(t, c.ID, results, func(r *claim.Judged) *claim.Measurement { return &r.Claims[i].Measurement })
		for k := range c.Measurements {
			claimRow(t, "  "+c.Measurements[k].Name, results, func(r *claim.Judged) *claim.Measurement { return &r.Claims[i].Measurements[k] })
		}
	}
	return t.Flush()
}

// claimRow is a claim, or one of its measurements, in every world.
func claimRow(w io.Writer, name string, results []*claim.Judged, of func(*claim.Judged) *claim.Measurement) {
	row := name + "\t" + of(results[0]).Theirs()
	var verdicts []string
	for _, r := range results {
		m := of(r)
		row += "\t" + m.Ours()
		if len(r.Seeds) > 1 {
			row += fmt.Sprintf("\t%s\t%d", m.Spread(), m.N)
		}
		if v := m.Says(); !slices.Contains(verdicts, v) {
			verdicts = append(verdicts, v)
		}
	}
	fmt.Fprintln(w, row+"\t"+strings.Join(verdicts, " | "))
}

// metricsTable has a column for each scheme and, if there are several, world.
func metricsTable(w io.Writer, e *experiment.Experiment, results []*claim.Judged) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	head := "metric"
	names, notes := map[string]bool{}, ""
	for _, r := range results {
		for _, run := range r.Runs {
			column := run.Scheme
			if len(results) > 1 {
				column += " " + r.World
			}
			head += "\t" + column
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
	fmt.Fprintln(t, head)
	for _, name := range slices.SortedFunc(maps.Keys(names), experiment.Natural) {
		row := name
		for _, r := range results {
			for _, run := range r.Runs {
				row += "\t" + experiment.Number(run.Metrics[name], e.Unit(name))
			}
		}
		fmt.Fprintln(t, row)
	}
	if err := t.Flush(); err != nil || notes == "" {
		return err
	}
	_, err := io.WriteString(w, "\n"+notes)
	return err
}
