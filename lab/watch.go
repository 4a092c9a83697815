package lab

import (
	"strconv"

	"photon/units"
)

// watch samples what an experiment measures.
type watch struct {
	e        *Experiment
	n        *network
	series   Series
	probes   map[string]*watched
	order    []*watched
	dynamics *dynamics // nil: not measured
	deadlock *deadlock // nil: not measured
}

// watched is a probe at work.
type watched struct {
	probe   *Probe
	columns []column
	raw     [][]float64 // by column: as it was read
}

// startWatch arranges the samples.
func startWatch(e *Experiment, n *network) (*watch, error) {
	w := &watch{e: e, n: n, probes: map[string]*watched{}}
	for i := range e.Measure.Probes {
		p := &e.Measure.Probes[i]
		columns, err := n.columns(p)
		if err != nil {
			return nil, err
		}
		x := &watched{probe: p, columns: columns, raw: make([][]float64, len(columns))}
		w.probes[p.Name] = x
		w.order = append(w.order, x)
	}
	for i := range e.Measure.Metrics {
		if err := e.Measure.Metrics[i].check(w); err != nil {
			return nil, err
		}
		if e.Measure.Metrics[i].Do.V == "deadlock" && w.deadlock == nil {
			w.deadlock = newDeadlock(n, e.Measure.Metrics[i].Hold)
		}
	}
	if e.Measure.Kind.IsSet() {
		var err error
		if w.dynamics, err = watchDynamics(e, n); err != nil {
			return nil, err
		}
	}
	n.world.Every(e.Measure.Sample, w.sample)
	return w, nil
}

func (w *watch) sample(now units.Time) {
	w.n.collect() // before a slot is read
	if w.dynamics != nil {
		w.dynamics.sample(now)
	}
	w.series.Time = append(w.series.Time, now)
	for _, x := range w.order {
		for i, c := range x.columns {
			x.raw[i] = append(x.raw[i], c.read(now))
		}
	}
	if w.deadlock != nil {
		w.deadlock.look(now)
	}
}

// finish makes the series, rates included.
func (w *watch) finish() {
	w.n.collect()
	if d := w.dynamics; d != nil {
		w.series.Names = append(w.series.Names, "aggregate_rate_bps", "queue_bytes")
		queue := make([]float64, len(d.queue))
		for i, q := range d.queue {
			queue[i] = float64(q)
		}
		w.series.Value = append(w.series.Value, d.rates, queue)
		for i, f := range d.flow {
			w.series.Names = append(w.series.Names, "allowed_bps."+strconv.Itoa(i+1))
			w.series.Value = append(w.series.Value, f)
		}
	}
	for _, x := range w.order {
		for i, c := range x.columns {
			w.series.Names = append(w.series.Names, c.name)
			w.series.Value = append(w.series.Value, w.shown(x, i))
		}
	}
}

// shown is a column as the series has it: a counter with `over` as a rate.
func (w *watch) shown(x *watched, i int) []float64 {
	kind := probeKinds[x.probe.Kind.V]
	if !kind.counter || x.probe.Over == 0 {
		return x.raw[i]
	}
	back := int(x.probe.Over / w.e.Measure.Sample)
	scale := 1 / (units.Time(back) * w.e.Measure.Sample).Seconds()
	if kind.bytes {
		scale *= 8
	}
	v := make([]float64, len(x.raw[i]))
	for k, now := range x.raw[i] {
		before := 0.0
		if k >= back {
			before = x.raw[i][k-back]
		}
		v[k] = (now - before) * scale
	}
	return v
}

// metrics evaluates everything.
func (w *watch) metrics() Metrics {
	m := Metrics{}
	if w.dynamics != nil {
		m = w.dynamics.metrics()
	}
	for i := range w.e.Measure.Metrics {
		x := &w.e.Measure.Metrics[i]
		m[x.Name] = x.evaluate(w)
	}
	return m
}

// MetricNames lists the metrics of an experiment, in its order.
func (e *Experiment) MetricNames() (names []string) {
	if e.Measure.Kind.IsSet() {
		names = append(names, dynamicsMetrics...)
	}
	for i := range e.Measure.Metrics {
		names = append(names, e.Measure.Metrics[i].Name)
	}
	return names
}
