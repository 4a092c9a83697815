package lab

import (
	"math"
	"slices"
	"strings"

	"photon/config"
	"photon/units"
)

// Metric is a number made of what was sampled, or of the flows that ended.
type Metric struct {
	Name  string                 `yaml:"name"`
	Doc   string                 `yaml:"doc"`
	Do    config.Value[string]   `yaml:"do"`
	Of    config.Value[string]   `yaml:"of"` // a probe
	From  units.Time             `yaml:"from"`
	To    units.Time             `yaml:"to"`    // 0: the end
	Value float64                `yaml:"value"` // a threshold
	Per   float64                `yaml:"per"`   // the result is divided by it; 1 if absent
	Part  float64                `yaml:"part"`  // within, first_within: tolerance, a part of value
	Hold  units.Time             `yaml:"hold"`  // first_*: it must last so long; deadlock: without a frame sent for so long
	Flows config.Value[[]string] `yaml:"flows"` // of fct and the like
	Stat  config.Value[string]   `yaml:"stat"`  // of fct and slowdown: mean, p50, p95, p99, p999, max
	Sizes [2]units.Size          `yaml:"sizes"` // flows larger than the first, up to the second; 0, 0: all
	Loop  *PILoop                `yaml:"loop"`  // of phase_margin
}

// metricKinds says what can be done, and whether it is done to a probe.
var metricKinds = map[string]struct {
	doc   string
	probe bool
}{
	"mean":           {"mean of the samples", true},
	"max":            {"largest sample", true},
	"min":            {"smallest sample", true},
	"max_at":         {"seconds until the largest sample, the first of them", true},
	"stddev":         {"standard deviation of the samples", true},
	"last":           {"last sample", true},
	"p50":            {"median of the samples", true},
	"p99":            {"99th percentile of the samples", true},
	"delta":          {"growth of a counter", true},
	"rate":           {"growth of a counter per second; bytes count as bits", true},
	"jain":           {"Jain's fairness index of the growth of a counter's columns", true},
	"first_at_most":  {"seconds until the first sample after from that is at most value, for hold", true},
	"first_at_least": {"seconds until the first sample after from that is at least value, for hold", true},
	"first_within":   {"seconds until the first sample after from that is within part of value, for hold", true},
	"last_above":     {"seconds until the last sample above value", true},
	"last_below":     {"seconds until the last sample below value", true},
	"time_above":     {"seconds in which samples are above value", true},
	"time_below":     {"seconds in which samples are below value", true},
	"lifetime":       {"seconds from the first growth of a counter, or sample above 0, to the last", true},
	"gap":            {"how much less the growth of a counter's smallest column is than its largest's, as a part of that", true},
	"spread":         {"growth per second of a counter's largest column less its smallest's; bytes count as bits", true},
	"within":         {"part of the samples of all columns that are within part of value", true},
	"fct":            {"completion time of flows, seconds from first bit out to last acknowledgement in", false},
	"slowdown":       {"completion time of flows against an empty network", false},
	"completed":      {"flows that ended", false},
	"completion":     {"flows that ended, per second from the first start", false},
	"unfinished":     {"flows that have not ended", false},
	"phase_margin":   {"degrees, of PACC's control loop at the hosts' link rate; nothing is run for it", false},
	"deadlock":       {"seconds until a cycle of paused queues sends nothing for hold; absent: never", false},
	"deadlocked":     {"1 if there was a deadlock, else 0", false},
}

// MetricKinds says what the kinds of metrics are.
func MetricKinds() map[string]string {
	docs := map[string]string{}
	for k, v := range metricKinds {
		docs[k] = v.doc
	}
	return docs
}

// check finds what is wrong with a metric.
func (m *Metric) check(w *watch) error {
	kind, ok := metricKinds[m.Do.V]
	if !ok {
		return at(m.Do, "metric %s does %q (%s)", m.Name, m.Do.V, others(m.Do.V, sortedKeys(metricKinds)))
	}
	if kind.probe {
		x, ok := w.probes[m.Of.V]
		if !ok {
			return at(m.Do, "metric %s: there is no probe %q (%s)", m.Name, m.Of.V, others(m.Of.V, sortedKeys(w.probes)))
		}
		if growth := []string{"delta", "rate", "jain", "gap", "spread"}; slices.Contains(growth, m.Do.V) && !probeKinds[x.probe.Kind.V].counter {
			return at(m.Do, "metric %s: %s is of how much a counter grows, and %s is none (mean, max and the like are of samples)", m.Name, m.Do.V, x.probe.Kind.V)
		}
	}
	if m.From < 0 || m.To < 0 || m.To > w.e.Duration || m.To != 0 && m.To <= m.From {
		return at(m.Do, "metric %s: from %v to %v is not in the run's %v", m.Name, m.From, m.To, w.e.Duration)
	}
	if m.Do.V == "phase_margin" {
		if err := m.Loop.check(); err != nil {
			return at(m.Do, "metric %s: %v", m.Name, err)
		}
	}
	if m.Do.V == "fct" || m.Do.V == "slowdown" {
		if _, err := statistic(m.Stat.Or("mean"), []float64{1}); err != nil {
			return at(m.Stat, "metric %s: %v", m.Name, err)
		}
	}
	return nil
}

// span is the samples that count: those after from, up to to.
func (m *Metric) span(w *watch) (first, last int) {
	first, _ = slices.BinarySearch(w.series.Time, m.From+1)
	if last = len(w.series.Time); m.To > 0 {
		last, _ = slices.BinarySearch(w.series.Time, m.To+1)
	}
	return first, last
}

// evaluate returns the metric; nil: it never happened.
func (m *Metric) evaluate(w *watch) *float64 {
	v := m.value(w)
	if v != nil && m.Per != 0 {
		*v /= m.Per
	}
	return v
}

func (m *Metric) value(w *watch) *float64 {
	if m.Do.V == "phase_margin" {
		margin := m.Loop.margin(w.e.Parameters.LinkRate.Value.V)
		return &margin
	}
	if !metricKinds[m.Do.V].probe {
		return m.ofFlows(w)
	}
	x := w.probes[m.Of.V]
	first, last := m.span(w)
	if first >= last {
		return nil
	}
	switch m.Do.V {
	case "delta", "rate", "jain", "gap", "spread":
		return m.growth(w, x, first, last)
	case "within":
		return m.within(w, x, first, last)
	}
	v := w.shown(x, 0)[first:last]
	t := w.series.Time[first:last]
	tick := w.e.Measure.Sample.Seconds()
	is := func(v float64) *float64 { return &v }
	switch m.Do.V {
	case "mean":
		mean, _ := moments(v)
		return is(mean)
	case "stddev":
		_, deviation := moments(v)
		return is(deviation)
	case "max_at":
		return is((t[slices.Index(v, slices.Max(v))] - m.From).Seconds())
	case "max":
		return is(slices.Max(v))
	case "min":
		return is(slices.Min(v))
	case "last":
		return is(v[len(v)-1])
	case "p50", "p99":
		y, _ := statistic(m.Do.V, slices.Clone(v))
		return is(y)
	case "time_above", "time_below":
		n := 0
		for _, y := range v {
			if m.Do.V == "time_above" && y > m.Value || m.Do.V == "time_below" && y < m.Value {
				n++
			}
		}
		return is(float64(n) * tick)
	case "last_above", "last_below":
		for i := len(v) - 1; i >= 0; i-- {
			if m.Do.V == "last_above" && v[i] > m.Value || m.Do.V == "last_below" && v[i] < m.Value {
				return is((t[i] - m.From).Seconds())
			}
		}
		return is(0)
	case "lifetime":
		return m.lifetime(w, x, first, last)
	}
	return m.firstTime(v, t, w.e.Measure.Sample)
}

// moments are the mean and the standard deviation.
func moments(v []float64) (mean, deviation float64) {
	for _, y := range v {
		mean += y
	}
	mean /= float64(len(v))
	for _, y := range v {
		deviation += float64((y - mean) * (y - mean))
	}
	return mean, math.Sqrt(deviation / float64(len(v)))
}

// firstTimes are the kinds that give the time of what may never come.
var firstTimes = []string{"first_at_most", "first_at_least", "first_within"}

// is reports whether a sample is where it should be.
func (m *Metric) is(y float64) bool {
	switch m.Do.V {
	case "first_at_most":
		return y <= m.Value
	case "first_at_least":
		return y >= m.Value
	}
	return math.Abs(y-m.Value) <= m.Part*math.Abs(m.Value)
}

// watchedFor is how long a run looked out for what a metric gives the time of, in
// seconds: what never came took at least that long. 0: it is no such metric.
func (e *Experiment) watchedFor(metric string) float64 {
	metric, _, _ = strings.Cut(metric, "@")
	for i := range e.Measure.Metrics {
		m := &e.Measure.Metrics[i]
		if m.Name != metric || !slices.Contains(firstTimes, m.Do.V) {
			continue
		}
		end := e.Duration
		if m.To > 0 {
			end = min(end, m.To)
		}
		return (end - m.From - m.Hold).Seconds()
	}
	return 0
}

// firstTime is when the samples first are where they should be, for a time.
func (m *Metric) firstTime(v []float64, t []units.Time, tick units.Time) *float64 {
	need := max(1, int(m.Hold/tick))
	run := 0
	for i, y := range v {
		if m.is(y) {
			if run++; run == need {
				s := (t[i-need+1] - m.From).Seconds()
				return &s
			}
			continue
		}
		run = 0
	}
	return nil
}

// growth evaluates counters over a span; the sample at from is where it begins.
func (m *Metric) growth(w *watch, x *watched, first, last int) *float64 {
	kind := probeKinds[x.probe.Kind.V]
	var parts []float64
	total := 0.0
	for _, raw := range x.raw {
		before := 0.0
		if first > 0 {
			before = raw[first-1]
		}
		parts = append(parts, raw[last-1]-before)
		total += raw[last-1] - before
	}
	switch m.Do.V {
	case "jain":
		j := jain(parts)
		return &j
	case "gap":
		most := slices.Max(parts)
		if most == 0 {
			return nil
		}
		g := 1 - slices.Min(parts)/most
		return &g
	case "rate", "spread":
		if m.Do.V == "spread" {
			total = slices.Max(parts) - slices.Min(parts)
		}
		begin := units.Time(0)
		if first > 0 {
			begin = w.series.Time[first-1]
		}
		if total /= (w.series.Time[last-1] - begin).Seconds(); kind.bytes {
			total *= 8
		}
	}
	return &total
}

// within is the part of all samples that are near a value.
func (m *Metric) within(w *watch, x *watched, first, last int) *float64 {
	near, all := 0, 0
	for i := range x.columns {
		for _, y := range w.shown(x, i)[first:last] {
			all++
			if math.Abs(y-m.Value) <= m.Part*m.Value {
				near++
			}
		}
	}
	v := float64(near) / float64(all)
	return &v
}

// lifetime is from when something first stirs to when it last does.
func (m *Metric) lifetime(w *watch, x *watched, first, last int) *float64 {
	raw := x.raw[0]
	begin, end := -1, -1
	for i := first; i < last; i++ {
		stirs := raw[i] > m.Value
		if probeKinds[x.probe.Kind.V].counter {
			stirs = i > 0 && raw[i] > raw[i-1] || i == 0 && raw[i] > 0
		}
		if stirs {
			if end = i; begin < 0 {
				begin = i
			}
		}
	}
	v := 0.0
	if begin >= 0 {
		v = (w.series.Time[end] - w.series.Time[begin] + w.e.Measure.Sample).Seconds()
	}
	return &v
}
