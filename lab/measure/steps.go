package measure

import (
	"slices"

	"photon/units"
)

// step is one time that hosts do something together.
type step struct {
	begin units.Time
	end   map[int]units.Time // by host, when it had all that was for it
	open  bool               // something of it has not arrived
}

// steps are those of groups of flows, by group and number.
func steps(w *Watch, groups []string) (list []*step) {
	type key struct {
		group string
		step  uint16
	}
	known := map[key]*step{}
	for i, f := range w.n.Select(groups) {
		k := key{f.Group, f.Step}
		s := known[k]
		if s == nil {
			s = &step{begin: units.Never, end: map[int]units.Time{}}
			known[k] = s
			list = append(list, s)
		}
		s.begin = min(s.begin, f.Start)
		host, _ := w.n.Plan.HostOf(f.To)
		s.end[host] = max(s.end[host], w.n.Arrived(i))
		s.open = s.open || w.n.Arrived(i) == 0
	}
	return list
}

// last is when the last host had everything.
func (s *step) last() (t units.Time) {
	for _, at := range s.end {
		t = max(t, at)
	}
	return t
}

// straggler is the last host's time by the median host's.
func (s *step) straggler() float64 {
	var times []float64
	for _, at := range s.end {
		times = append(times, (at - s.begin).Seconds())
	}
	median, _ := statistic("p50", times, nil)
	return (s.last() - s.begin).Seconds() / median
}

// ofSteps evaluates what is known of the steps that are complete; of a job all must be.
func (m metric) ofSteps(w *Watch, groups []string) *float64 {
	var v []float64
	begin, end := units.Never, units.Time(0)
	factor := 1.0
	if c := w.e.CollectiveOf(groups[0]); c != nil && (m.Do.V == "algbw" || m.Do.V == "busbw") {
		rows, err := c.Rows(w.n.Plan)
		if err != nil {
			return nil // never: it has run
		}
		spec := c.Spec(len(rows[0]))
		if factor = 8 * float64(spec.Moved()); m.Do.V == "busbw" {
			factor *= spec.BusFactor()
		}
	}
	for _, s := range steps(w, groups) {
		switch {
		case s.open && m.Do.V == "job_time":
			return nil
		case s.open:
			continue
		}
		begin, end = min(begin, s.begin), max(end, s.last())
		switch took := (s.last() - s.begin).Seconds(); m.Do.V {
		case "step_time":
			v = append(v, took)
		case "algbw", "busbw":
			v = append(v, factor/took)
		case "straggler":
			v = append(v, s.straggler())
		}
	}
	if m.Do.V == "job_time" && end > 0 {
		v = []float64{(end - begin).Seconds()}
	}
	if len(v) == 0 {
		return nil
	}
	x, _ := statistic(m.Stat.Or("mean"), slices.Clone(v), nil) // check has seen it
	return &x
}
