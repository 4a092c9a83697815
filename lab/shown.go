package lab

import (
	"slices"
	"strconv"
	"strings"
)

// What pictures and pages show of a result.

// Panels are the plots of an experiment; those of `dynamics` if it names none.
func (e *Experiment) Panels() []Plot {
	if len(e.Plots) > 0 {
		return e.Plots
	}
	if !e.Measure.Kind.IsSet() {
		return nil
	}
	return []Plot{
		{Y: "rate, Gbit/s", Scale: 1e9, Lines: []string{"aggregate_rate_bps"}, To: e.Measure.Plot},
		{Y: "queue, KB", Scale: 1e3, Lines: []string{"queue_bytes"}, To: e.Measure.Plot},
	}
}

// Values are those of the sweep; a single empty one if there is none.
func (e *Experiment) Values() (values []string) {
	for _, v := range e.variants {
		values = append(values, v.value)
	}
	return values
}

// Shown is the value of the sweep whose runs are drawn over time: the first that was run.
func (e *Experiment) Shown(r *Result) string {
	for _, v := range e.variants {
		for _, run := range r.Runs {
			if r.Series(run.Scheme, v.value) != nil {
				return v.value
			}
		}
	}
	return e.variants[0].value
}

// SweepNumber reads a sweep's value, with or without a unit, as a number.
func SweepNumber(s string) (float64, error) {
	return strconv.ParseFloat(strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"), 64)
}

// Key names what belongs to a scheme, or a metric, and a value of the sweep.
func Key(name, value string) string {
	if value == "" {
		return name
	}
	return name + "@" + value
}

// Metrics returns a scheme's; nil if it did not run.
func (r *Result) Metrics(scheme string) Metrics {
	for i := range r.Runs {
		if r.Runs[i].Scheme == scheme {
			return r.Runs[i].Metrics
		}
	}
	return nil
}

// Series is what was sampled in the first run of a scheme and a value of the
// sweep; nil if there was none.
func (r *Result) Series(scheme, value string) *Series { return r.series[Key(scheme, value)] }

// Completion returns the completion times of a group's flows, "*" for all, in
// milliseconds, ascending.
func (r *Result) Completion(scheme, value, group string) (times []float64) {
	for _, f := range r.ended[Key(scheme, value)] {
		if group == "*" || f.Group == group {
			times = append(times, f.FCT.Seconds()*1e3)
		}
	}
	slices.Sort(times)
	return times
}
