package sweep

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"photon/internal/table"
	"photon/lab/experiment"
	"photon/lab/stat"
	"photon/lab/web"
)

// WriteMeans prints the mean of metrics over seeds, and its standard error, for each
// experiment, scheme and setting, in the order of the grid. What never happened in some of
// the runs has no mean, but how many they are.
func (c *Collected) WriteMeans(w io.Writer, metrics []string) error {
	known := map[string]bool{}
	for _, r := range c.records {
		for name := range r.Metrics {
			known[name] = true
		}
	}
	for _, name := range metrics {
		if !known[name] {
			return noMetric(name, known)
		}
	}
	type point struct{ experiment, scheme, set string }
	var points []point
	of := map[point][]*Record{}
	for _, r := range c.records {
		var set []string
		for _, name := range slices.Sorted(maps.Keys(r.Params)) {
			set = append(set, name+"="+r.Params[name])
		}
		at := point{r.Experiment, r.Scheme, strings.Join(set, " ")}
		if of[at] == nil {
			points = append(points, at)
		}
		of[at] = append(of[at], r)
	}
	t := table.New(4 + len(metrics))
	for _, point := range points {
		row := []any{point.experiment, point.scheme, point.set, fmt.Sprintf("%d runs", len(of[point]))}
		for _, name := range metrics {
			row = append(row, name+" "+meanText(of[point], name))
		}
		t.Row(row...)
	}
	return t.Print(w)
}

// meanText is the mean of a metric of runs, and its standard error.
func meanText(runs []*Record, name string) string {
	var v []float64
	measured := 0
	for _, r := range runs {
		x, ok := r.Metrics[name]
		if ok {
			measured++
		}
		if x != nil {
			v = append(v, *x)
		}
	}
	text := ""
	switch never := measured - len(v); {
	case measured == 0:
		return "–"
	case len(v) == 0:
		text = "never"
	case never > 0:
		text = fmt.Sprintf("never (%d of %d)", never, measured)
	case len(v) == 1:
		text = experiment.Number(&v[0], "")
	default:
		mean, err := stat.MeanError(v)
		text = experiment.Number(&mean, "") + " ± " + experiment.Number(new(web.Round(err, 2)), "")
	}
	if measured < len(runs) {
		text += fmt.Sprintf(" (%d runs)", measured)
	}
	return text
}

func noMetric(name string, known map[string]bool) error {
	return fmt.Errorf("the results have no metric %q: there are %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
}
