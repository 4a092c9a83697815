package sweep

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteMeans prints the mean of metrics over seeds, and its standard error, for each
// experiment, scheme and setting, in the order of the grid. Of a metric that never
// happened in some of the runs it is the mean of the others, which are counted.
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
			var v []float64
			for _, r := range of[point] {
				if x := r.Metrics[name]; x != nil {
					v = append(v, *x)
				}
			}
			switch len(v) {
			case 0:
				fmt.Fprintf(t, "\t%s never", name)
			case 1:
				fmt.Fprintf(t, "\t%s %.4g", name, v[0])
			default:
				mean, err := meanOf(v)
				fmt.Fprintf(t, "\t%s %.4g ± %.2g", name, mean, err)
			}
			if len(v) > 0 && len(v) < len(of[point]) {
				fmt.Fprintf(t, " (%d runs)", len(v))
			}
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func noMetric(name string, known map[string]bool) error {
	return fmt.Errorf("the results have no metric %q: there are %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
}

// meanOf is the mean of values, of which there are some, and its standard error. It counts from
// the first of them, so that values which are all the same have no error.
func meanOf(v []float64) (mean, err float64) {
	n := float64(len(v))
	for _, x := range v {
		mean += (x - v[0]) / n
	}
	mean += v[0]
	for _, x := range v {
		err += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(err / (n - 1) / n)
}
