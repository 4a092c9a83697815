package experiment

import (
	"math"
	"slices"
	"strings"
)

// dynamicsUnits are those of what the measurement `dynamics` yields; "": a number.
var dynamicsUnits = map[string]string{
	"aggregate_rate_converged_s": "s", "queue_drained_s": "s", "peak_queue_bytes": "B", "steady_queue_bytes_mean": "B", "goodput_bps": "bit/s",
	"last_pause_s": "s",
	// Of what it samples.
	"queue_bytes": "B", "aggregate_rate_bps": "bit/s",
}

// Unit is that of a metric, from what it measures; of one that is divided by something only
// the experiment knows it.
func (e *Experiment) Unit(metric string) string {
	metric, _, _ = strings.Cut(metric, "@")
	for i := range e.Measure.Metrics {
		m := &e.Measure.Metrics[i]
		switch {
		case m.Name != metric:
		case m.Unit != "" || m.By.IsSet() || m.Per.Or(1) != 1:
			return m.Unit
		default:
			return e.unitOf(m)
		}
	}
	return dynamicsUnits[metric]
}

// unitOf is that of what a metric does.
func (e *Experiment) unitOf(m *Metric) string {
	kind := MetricKinds[m.Do.V]
	if !kind.Probe {
		return perSecond(kind.Unit, "")
	}
	p := e.Probe(m.Of.V)
	if p == nil {
		return ""
	}
	probe := ProbeKinds[p.Kind.V]
	switch {
	case kind.Unit == "/s", kind.Unit == "=" && probe.Counter && p.Over > 0:
		return perSecond("/s", probe.Unit)
	case kind.Unit == "=", kind.Unit == "+":
		return probe.Unit
	}
	return kind.Unit
}

// perSecond is the unit of how fast something with a unit grows, if it is that.
func perSecond(unit, of string) string {
	switch {
	case unit != "/s":
		return unit
	case of == "B":
		return "bit/s"
	}
	return of + "/s"
}

// UnitByName is what a metric's name says of its unit where the experiment is not at hand: those of
// the catalogue end with it.
func UnitByName(metric string) string {
	metric, _, _ = strings.Cut(metric, "@")
	for suffix, unit := range map[string]string{"_s": "s", "_bps": "bit/s", "_bytes": "B"} {
		if strings.HasSuffix(metric, suffix) && !strings.HasSuffix(metric, "_per_s") {
			return unit
		}
	}
	return ""
}

// ProbeUnit is that of a probe's samples; "": a number, or there is no such probe.
func (e *Experiment) ProbeUnit(name string) string {
	p := e.Probe(name)
	if p == nil {
		return dynamicsUnits[name]
	}
	kind := ProbeKinds[p.Kind.V]
	if kind.Counter && p.Over > 0 {
		return perSecond("/s", kind.Unit)
	}
	return kind.Unit
}

// Scaled is the unit in which a value reads best, and what the value is multiplied by there.
func Scaled(v float64, unit string) (scale float64, name string) {
	a := math.Abs(v)
	switch {
	case !slices.Contains([]string{"s", "B", "bit/s"}, unit) || a == 0:
		return 1, unit
	case unit == "s" && a < 1e-3:
		return 1e6, "µs"
	case unit == "s" && a < 1:
		return 1e3, "ms"
	case unit != "s" && a >= 1e9:
		return 1e-9, "G" + unit
	case unit != "s" && a >= 1e6:
		return 1e-6, "M" + unit
	case unit != "s" && a >= 1e3:
		return 1e-3, "K" + unit
	}
	return 1, unit
}
