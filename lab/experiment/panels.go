package experiment

import (
	"slices"
	"strconv"
	"strings"
)

// Panels are the plots of an experiment. If it names none they are those of `dynamics`, or one for
// each metric: its unit and its size are its own. Workloads add the slowdown by flow size.
func (e *Experiment) Panels() []Plot {
	panels := slices.Clone(e.Plots)
	if len(panels) == 0 && e.Measure.Kind.IsSet() {
		panels = []Plot{
			{Y: "rate, Gbit/s", Scale: 1e9, Lines: []string{"aggregate_rate_bps"}, To: e.Measure.Plot},
			{Y: "queue, KB", Scale: 1e3, Lines: []string{"queue_bytes"}, To: e.Measure.Plot},
		}
	} else if len(panels) == 0 {
		for _, name := range e.MetricNames() {
			p := Plot{Title: name, Bars: []string{name}}
			if e.Sweep != nil {
				p.Bars, p.Sweep = nil, p.Bars
			}
			panels = append(panels, p)
		}
	}
	sizes := slices.ContainsFunc(e.Workloads, func(w Workload) bool { return !w.Burst.IsSet() })
	if sizes && !slices.ContainsFunc(panels, func(p Plot) bool { return p.Slowdown != "" }) {
		panels = append(panels, Plot{Title: "slowdown by flow size", Slowdown: "*"})
	}
	return panels
}

// Name of a panel: its title, or what its axis says, without the unit.
func (p *Plot) Name() string {
	if p.Title != "" {
		return p.Title
	}
	name, _, _ := strings.Cut(p.Y, ",")
	return name
}

// Per is what values are divided by.
func (p *Plot) Per() float64 {
	if p.Scale == 0 {
		return 1
	}
	return p.Scale
}

// Values are those of the sweep; a single empty one if there is none.
func (e *Experiment) Values() (values []string) {
	for _, v := range e.variants {
		values = append(values, v.Value)
	}
	return values
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
