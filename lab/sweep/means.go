package sweep

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"photon/lab/stat"
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
	var points []string
	of := map[string][]*Record{}
	for _, r := range c.records {
		point := r.Experiment + "\t" + r.Scheme
		var set []string
		for _, name := range slices.Sorted(maps.Keys(r.Params)) {
			set = append(set, name+"="+r.Params[name])
		}
		point += "\t" + strings.Join(set, " ")
		if of[point] == nil {
			points = append(points, point)
		}
		of[point] = append(of[point], r)
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, point := range points {
		fmt.Fprintf(t, "%s\t%d runs", point, len(of[point]))
		for _, name := range metrics {
			fmt.Fprintf(t, "\t%s %s", name, meanText(of[point], name))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
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
		text = fmt.Sprintf("%.4g", v[0])
	default:
		mean, err := stat.MeanError(v)
		text = fmt.Sprintf("%.4g ± %.2g", mean, err)
	}
	if measured < len(runs) {
		text += fmt.Sprintf(" (%d runs)", measured)
	}
	return text
}

func noMetric(name string, known map[string]bool) error {
	return fmt.Errorf("the results have no metric %q: there are %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
}
