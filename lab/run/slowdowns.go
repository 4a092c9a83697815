package run

import (
	"sync"

	"photon/lab/measure"
	"photon/units"
)

// Slowdowns are statistics of the slowdown of flows that ended, by their size: several pictures and the page show
// the same.
type Slowdowns struct {
	Ends  []units.Size           // of the ranges of sizes: those of all schemes
	Flows int                    // of all schemes
	Of    map[string][][]float64 // by scheme, of each statistic a value for each range; NaN where no flow ended
}

// SlowdownStats are the statistics.
var SlowdownStats = []string{"p50", "p95", "p99"}

// remembering guards what results remember.
var remembering sync.Mutex

// Slowdowns are those of a group ("*": of all) at a value of the sweep. They are worked out once.
func (r *Result) Slowdowns(value, group string) *Slowdowns {
	key := [2]string{value, group}
	remembering.Lock()
	s := r.slowdowns[key]
	remembering.Unlock()
	if s != nil {
		return s
	}
	s = &Slowdowns{Of: map[string][][]float64{}}
	s.Ends = measure.Sizes(func(yield func(measure.Ended) bool) {
		for i := range r.Runs {
			for f := range r.EndedOf(r.Runs[i].Scheme, value, group) {
				if s.Flows++; !yield(f) {
					return
				}
			}
		}
	})
	if len(s.Ends) > 0 {
		for i := range r.Runs {
			scheme := r.Runs[i].Scheme
			s.Of[scheme] = measure.Slowdowns(r.EndedOf(scheme, value, group), s.Ends, SlowdownStats...)
		}
	}
	remembering.Lock()
	defer remembering.Unlock()
	if r.slowdowns == nil {
		r.slowdowns = map[[2]string]*Slowdowns{}
	}
	r.slowdowns[key] = s
	return s
}
