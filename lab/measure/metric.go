package measure

import (
	"math"
	"slices"

	"photon/lab/experiment"
	"photon/lab/stat"
	"photon/units"
)

// metric is a metric at work.
type metric struct{ *experiment.Metric }

// span is the samples that count: those after from, up to to.
func (m metric) span(w *Watch) (first, last int) {
	first, _ = slices.BinarySearch(w.Series.Time, m.From+1)
	if last = len(w.Series.Time); m.To > 0 {
		last, _ = slices.BinarySearch(w.Series.Time, m.To+1)
	}
	return first, last
}

// evaluate returns the metric; nil: it never happened.
func (m metric) evaluate(w *Watch) *float64 {
	v := m.value(w)
	if v != nil && m.Per.IsSet() {
		*v /= m.Per.V
	}
	return v
}

func (m metric) value(w *Watch) *float64 {
	if m.Do.V == "phase_margin" {
		margin := phaseMargin(m.Loop, w.e.Parameters.LinkRate.Value.V)
		return &margin
	}
	if !experiment.MetricKinds[m.Do.V].Probe {
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
	t := w.Series.Time[first:last]
	tick := w.e.Measure.Sample.Seconds()
	is := func(v float64) *float64 { return &v }
	switch m.Do.V {
	case "mean", "stddev", "p50", "p99":
		return is(m.ofAll(w, x, first, last))
	case "lifetime":
		return m.lifetime(w, x, first, last)
	}
	v := m.decisive(w, x, first, last)
	switch m.Do.V {
	case "max_at":
		return is((t[slices.Index(v, slices.Max(v))] - m.From).Seconds())
	case "max":
		return is(slices.Max(v))
	case "min":
		return is(slices.Min(v))
	case "last":
		return is(v[len(v)-1])
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
	}
	return m.firstTime(v, t, w.e.Measure.Sample)
}

// ofAll is a statistic of the samples of all columns.
func (m metric) ofAll(w *Watch, x *watched, first, last int) float64 {
	var all []float64
	for i := range x.raw {
		all = append(all, w.shown(x, i)[first:last]...)
	}
	if m.Do.V == "stddev" {
		return stat.Deviation(all)
	}
	y, _ := statistic(m.Do.V, all, nil)
	return y
}

// decisive is, of several columns, at each time the one that decides: what is most must be the
// most of any, and what must have come down must have in all of them.
func (m metric) decisive(w *Watch, x *watched, first, last int) []float64 {
	columns := make([][]float64, len(x.raw))
	for i := range columns {
		columns[i] = w.shown(x, i)[first:last]
	}
	if len(columns) == 1 {
		return columns[0]
	}
	v := slices.Clone(columns[0])
	for _, c := range columns[1:] {
		for k, y := range c {
			switch m.Do.V {
			case "min", "first_at_least", "last_below", "time_below":
				v[k] = min(v[k], y)
			case "first_within":
				if math.Abs(y-m.Value) > math.Abs(v[k]-m.Value) {
					v[k] = y
				}
			default:
				v[k] = max(v[k], y)
			}
		}
	}
	return v
}

// is reports whether a sample is where it should be.
func (m metric) is(y float64) bool {
	switch m.Do.V {
	case "first_at_most":
		return y <= m.Value
	case "first_at_least":
		return y >= m.Value
	}
	return math.Abs(y-m.Value) <= m.Part*math.Abs(m.Value)
}

// firstTime is when the samples first are where they should be, for a time.
func (m metric) firstTime(v []float64, t []units.Time, tick units.Time) *float64 {
	need := max(1, int((m.Hold+tick-1)/tick)) // samples, no shorter than the time
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
func (m metric) growth(w *Watch, x *watched, first, last int) *float64 {
	kind := experiment.ProbeKinds[x.probe.Kind.V]
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
		if total == 0 {
			return nil
		}
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
			begin = w.Series.Time[first-1]
		}
		if total /= (w.Series.Time[last-1] - begin).Seconds(); kind.Unit == "B" {
			total *= 8
		}
	}
	return &total
}

// within is the part of all samples that are near a value.
func (m metric) within(w *Watch, x *watched, first, last int) *float64 {
	near, all := 0, 0
	for i := range x.columns {
		for _, y := range w.shown(x, i)[first:last] {
			all++
			if math.Abs(y-m.Value) <= m.Part*math.Abs(m.Value) {
				near++
			}
		}
	}
	v := float64(near) / float64(all)
	return &v
}

// lifetime is from when something first stirs to when it last does.
func (m metric) lifetime(w *Watch, x *watched, first, last int) *float64 {
	v := 0.0
	if begin, end, _ := m.stirs(x, first, last); begin >= 0 {
		v = (w.Series.Time[end] - w.Series.Time[begin] + w.e.Measure.Sample).Seconds()
	}
	return &v
}

// stirs are the samples of a span in which something first and last stirs, -1 if it never does, and the longest time,
// in samples, from one of them to the next.
func (m metric) stirs(x *watched, first, last int) (begin, end, between int) {
	begin, end = -1, -1
	for i := first; i < last; i++ {
		stirs := slices.ContainsFunc(x.raw, func(raw []float64) bool {
			if experiment.ProbeKinds[x.probe.Kind.V].Counter {
				return i > 0 && raw[i] > raw[i-1] || i == 0 && raw[i] > 0
			}
			return raw[i] > m.Value
		})
		switch {
		case !stirs:
			continue
		case begin < 0:
			begin = i
		default:
			between = max(between, i-end)
		}
		end = i
	}
	return begin, end, between
}
