package measure

import (
	"strconv"

	"photon/lab/build"
	"photon/lab/experiment"
	"photon/units"
)

// Watch samples what an experiment measures.
type Watch struct {
	e        *experiment.Experiment
	n        *build.Network
	Series   Series
	probes   map[string]*watched
	order    []*watched
	dynamics *dynamics // nil: not measured
	deadlock *deadlock // nil: not measured
}

// watched is a probe at work.
type watched struct {
	probe   *experiment.Probe
	columns []column
	raw     [][]float64 // by column: as it was read
}

// Start arranges the samples of what an experiment measures.
func Start(e *experiment.Experiment, n *build.Network) (*Watch, error) {
	w := &Watch{e: e, n: n, probes: map[string]*watched{}}
	for i := range e.Measure.Probes {
		p := &e.Measure.Probes[i]
		list, err := columns(n, p)
		if err != nil {
			return nil, err
		}
		x := &watched{probe: p, columns: list, raw: make([][]float64, len(list))}
		w.probes[p.Name] = x
		w.order = append(w.order, x)
	}
	if hold, ok := e.Measure.Deadlocks(); ok {
		w.deadlock = newDeadlock(n, hold)
	}
	if e.Measure.Kind.IsSet() {
		var err error
		if w.dynamics, err = watchDynamics(e, n); err != nil {
			return nil, err
		}
	}
	if e.Measure.Samples() { // each of them ends a window of the simulator, and parts of a world wait for each other
		n.World.Every(e.Measure.Sample, w.sample)
	}
	return w, nil
}

func (w *Watch) sample(now units.Time) {
	w.n.Collect() // before a slot is read
	if w.dynamics != nil {
		w.dynamics.sample(now)
	}
	w.Series.Time = append(w.Series.Time, now)
	for _, x := range w.order {
		for i, c := range x.columns {
			x.raw[i] = append(x.raw[i], c.read(now))
		}
	}
	if w.deadlock != nil {
		w.deadlock.sample(now)
	}
}

// Finish makes the series, rates included.
func (w *Watch) Finish() {
	w.n.Collect()
	if d := w.dynamics; d != nil {
		w.Series.Names = append(w.Series.Names, "aggregate_rate_bps", "queue_bytes")
		queue := make([]float64, len(d.queue))
		for i, q := range d.queue {
			queue[i] = float64(q)
		}
		w.Series.Value = append(w.Series.Value, d.rates, queue)
		for i, f := range d.flow {
			w.Series.Names = append(w.Series.Names, "allowed_bps."+strconv.Itoa(i+1))
			w.Series.Value = append(w.Series.Value, f)
		}
	}
	for _, x := range w.order {
		for i, c := range x.columns {
			w.Series.Names = append(w.Series.Names, c.name)
			w.Series.Value = append(w.Series.Value, w.shown(x, i))
		}
	}
}

// shown is a column as the series has it: a counter with `over` as a rate.
func (w *Watch) shown(x *watched, i int) []float64 {
	kind := experiment.ProbeKinds[x.probe.Kind.V]
	if !kind.Counter || x.probe.Over == 0 {
		return x.raw[i]
	}
	back := int(x.probe.Over / w.e.Measure.Sample)
	scale := 1 / (units.Time(back) * w.e.Measure.Sample).Seconds()
	if kind.Unit == "B" {
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

// Metrics evaluates everything.
func (w *Watch) Metrics() Metrics {
	m := Metrics{}
	if w.dynamics != nil {
		m = w.dynamics.metrics()
	}
	for i := range w.e.Measure.Metrics {
		x := metric{&w.e.Measure.Metrics[i]}
		m[x.Name] = x.evaluate(w)
		if by := m[x.By.V]; x.By.IsSet() && m[x.Name] != nil {
			if by == nil || *by == 0 {
				m[x.Name] = nil
				continue
			}
			*m[x.Name] /= *by
		}
	}
	return m
}
