package run

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/stat"
	"photon/scheme"
)

// Result is what a replay in one world yields.
type Result struct {
	Experiment string   `json:"experiment"`
	World      string   `json:"world"`
	Seed       uint64   `json:"seed"`  // the first
	Seeds      []uint64 `json:"seeds"` // of each scheme's runs
	Quick      bool     `json:"quick"` // of a run with --quick; what that leaves is in the experiment
	Repeats
	Runs []Run `json:"runs"`

	Timing       Timings       `json:"-"`
	Alternatives []Alternative `json:"-"`

	slowdowns map[[2]string]*Slowdowns // by value of the sweep and group, as far as somebody has asked for them
	network   *scheme.Network          // nil: nobody has asked for it
}

// Network is what schemes know of the experiment's network, for which all flows are gone through: once.
func (r *Result) Network(e *experiment.Experiment) (scheme.Network, error) {
	remembering.Lock()
	defer remembering.Unlock()
	if r.network == nil {
		network, err := e.Network()
		if err != nil {
			return network, err
		}
		r.network = &network
	}
	return *r.network, nil
}

// Repeats is what repeats a result.
type Repeats struct {
	Program
	Command    string               `json:"command"`
	Flags      []string             `json:"flags,omitempty"` // of the command, that are not in the result otherwise
	Digest     string               `json:"experiment_sha256"`
	Duration   string               `json:"duration"`
	Parameters []experiment.Setting `json:"parameters"`
	Topology   experiment.Laid      `json:"topology"`
}

// Program is the photon that runs.
type Program struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // with "+" behind it if the tree was changed; empty: the build did not know
}

// Traces are the hashes of all that happened in the simulator, by scheme.
func (r *Result) Traces() map[string]string {
	traces := map[string]string{}
	for i := range r.Runs {
		if h := r.Runs[i].TraceHash; h != nil {
			traces[r.Runs[i].Scheme] = *h
		}
	}
	return traces
}

// Alternative is what a choice that was made otherwise gives; it becomes a row
// of alternatives.json.
type Alternative struct {
	Scheme  string            `json:"scheme"`
	Params  map[string]string `json:"params"`
	Seeds   int               `json:"seeds"`
	Metrics measure.Metrics   `json:"metrics"` // medians over the seeds
}

// Run is one scheme's: all values of a sweep and all seeds. A metric of a sweep is
// called metric@value.
type Run struct {
	Scheme     string               `json:"scheme"`           // as the experiment calls it
	Recipe     string               `json:"recipe,omitempty"` // its name, where that is another
	Params     map[string]string    `json:"params,omitempty"` // what the experiment sets
	Settings   map[string]string    `json:"settings"`         // all parameters that are in force, with the first value of a sweep
	Metrics    measure.Metrics      `json:"metrics"`          // means over the seeds; null where one of them has no value
	Statistics map[string]Statistic `json:"statistics"`
	// PerSeed has the value with every seed, in the order of Seeds; null: it never came.
	PerSeed    map[string][]*float64 `json:"per_seed"`
	Invariants Invariants            `json:"invariants"`
	TraceHash  *string               `json:"trace_hash"` // of the simulator
	PacketHops uint64                `json:"packet_hops"`
	Virtual    float64               `json:"virtual_seconds"`
	// Notes say why a mechanism that one may expect to act never did.
	Notes []string `json:"notes,omitempty"`

	series map[string]*measure.Series           // of the first seed, by value of the sweep
	ended  map[string][]iter.Seq[measure.Ended] // of each seed
}

// Statistic is a metric over seeds.
type Statistic struct {
	N        int       `json:"n"`
	Never    int       `json:"never"`  // of them have no value
	Median   *float64  `json:"median"` // what never came counts as later than all that did; null: that is in the middle
	Interval *Interval `json:"interval"`
}

// Interval is a confidence interval.
type Interval struct {
	Of     string   `json:"of"`
	Level  float64  `json:"level"`
	Method string   `json:"method"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"` // null: it has no end
}

// Invariants hold in every run, or the run is worth nothing.
type Invariants struct {
	LostFrames     uint64 `json:"lost_frames"`                // of the lossless priorities, anywhere
	Discarded      uint64 `json:"discarded_frames,omitempty"` // of lossy priorities, by switches that had no room: they may
	ConservationOK bool   `json:"conservation_ok"`
	Why            string `json:"why,omitempty"` // they do not hold: the first loss, or what is unaccounted for
}

// Err is an error if they do not hold, which says where they first did not.
func (i *Invariants) Err() error {
	switch {
	case i.LostFrames > 0:
		return fmt.Errorf("frames were lost: the result is worth nothing (%d in all; %s)", i.LostFrames, i.Why)
	case !i.ConservationOK:
		return fmt.Errorf("frames are unaccounted for: the result is worth nothing (%s)", i.Why)
	}
	return nil
}

// add takes in those of another run.
func (i *Invariants) add(other *Invariants) {
	i.LostFrames += other.LostFrames
	i.Discarded += other.Discarded
	i.ConservationOK = i.ConservationOK && other.ConservationOK
	i.Why = cmp.Or(i.Why, other.Why)
}

// Timings is how long a replay took; it becomes timing.json. It is kept apart from
// the result, which is the same for the same seed.
type Timings struct {
	Cores    int      `json:"cores"`           // of the machine
	Parallel int      `json:"parallel"`        // runs side by side, at most
	Elapsed  float64  `json:"elapsed_seconds"` // from begin to end, other choices included
	Runs     []Timing `json:"runs"`
}

// Sum is what the runs took, one after the other.
func (t *Timings) Sum() (seconds float64) {
	for _, r := range t.Runs {
		seconds += r.WallSeconds
	}
	return seconds
}

// Timing is that of one scheme: all values of a sweep and all seeds.
type Timing struct {
	Scheme      string  `json:"scheme"`
	WallSeconds float64 `json:"wall_seconds"`
	// Of a testbed: flows start together within twice StartSkew, and a node sampled so late.
	StartSkew   float64 `json:"start_skew_seconds,omitempty"`
	SampleDelay float64 `json:"longest_sample_delay_seconds,omitempty"`
	// Of the DPDK world's clock.
	Dilation         int     `json:"dilation,omitempty"`
	StretchedSeconds float64 `json:"stretched_seconds,omitempty"` // world time by which it ran slower than the dilation says
	LongestGap       float64 `json:"longest_poll_gap_seconds,omitempty"`
}

// Sound reports whether a run's numbers are worth anything.
func (r *Run) Sound() bool { return r.Invariants.LostFrames == 0 && r.Invariants.ConservationOK }

// Of returns a scheme's; nil if it did not run.
func (r *Result) Of(scheme string) *Run {
	for i := range r.Runs {
		if r.Runs[i].Scheme == scheme {
			return &r.Runs[i]
		}
	}
	return nil
}

// Metrics returns the means of a scheme; nil if it did not run.
func (r *Result) Metrics(scheme string) measure.Metrics {
	if run := r.Of(scheme); run != nil {
		return run.Metrics
	}
	return nil
}

// Series is what was sampled in the first run of a scheme and a value of the
// sweep; nil if there was none.
func (r *Result) Series(scheme, value string) *measure.Series {
	if run := r.Of(scheme); run != nil {
		return run.series[value]
	}
	return nil
}

// Ended passes the flows that ended under a scheme at a value of the sweep, seed by seed.
func (r *Result) Ended(scheme, value string) iter.Seq[measure.Ended] {
	return func(yield func(measure.Ended) bool) {
		run := r.Of(scheme)
		if run == nil {
			return
		}
		for _, ofSeed := range run.ended[value] {
			for f := range ofSeed {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// Recorded puts in what was sampled and which flows ended at a value of the sweep.
func (r *Run) Recorded(value string, s *measure.Series, ended []measure.Ended) {
	if r.series == nil {
		r.series, r.ended = map[string]*measure.Series{}, map[string][]iter.Seq[measure.Ended]{}
	}
	r.series[value], r.ended[value] = s, []iter.Seq[measure.Ended]{slices.Values(ended)}
}

// Forget leaves out what was sampled, and flows: what a table needs is little.
func (r *Result) Forget() {
	for i := range r.Runs {
		r.Runs[i].series, r.Runs[i].ended = nil, nil
	}
	r.slowdowns = nil
}

// EndedOf passes those of a group, "*" for all.
func (r *Result) EndedOf(scheme, value, group string) iter.Seq[measure.Ended] {
	return func(yield func(measure.Ended) bool) {
		for f := range r.Ended(scheme, value) {
			if (group == "*" || f.Group == group) && !yield(f) {
				return
			}
		}
	}
}

// Completion returns the completion times of a group's flows, "*" for all, in
// milliseconds, ascending.
func (r *Result) Completion(scheme, value, group string) (times []float64) {
	for f := range r.EndedOf(scheme, value, group) {
		times = append(times, f.FCT.Seconds()*1e3)
	}
	slices.Sort(times)
	return times
}

// Shown is the value of the sweep whose runs are drawn over time: the first that was run.
func (r *Result) Shown(e *experiment.Experiment) string {
	for _, v := range e.Values() {
		for i := range r.Runs {
			if r.Runs[i].series[v] != nil {
				return v
			}
		}
	}
	return e.Values()[0]
}

// Samples are the values of a metric of a scheme with every seed, what never came
// as stat.Never; nil: it was not measured.
func (r *Run) Samples(metric string) []float64 { return samples(r.PerSeed[metric]) }

func samples(list []*float64) (v []float64) {
	for _, x := range list {
		if x == nil {
			v = append(v, stat.Never)
			continue
		}
		v = append(v, *x)
	}
	return v
}

// SetSamples puts in what was measured with each seed, and what follows from it.
func (r *Run) SetSamples(metric string, list []*float64) {
	if r.PerSeed == nil {
		r.PerSeed, r.Metrics, r.Statistics = map[string][]*float64{}, measure.Metrics{}, map[string]Statistic{}
	}
	v := samples(list)
	s := Statistic{N: len(v), Median: Finite(stat.Median(v))}
	for _, x := range list {
		if x == nil {
			s.Never++
		}
	}
	if low, high, ok := stat.MedianInterval(v); ok {
		s.Interval = &Interval{Of: "median", Level: stat.Level, Method: "percentile bootstrap over seeds", Low: Finite(low), High: Finite(high)}
	}
	r.PerSeed[metric], r.Statistics[metric] = list, s
	r.Metrics[metric] = Finite(stat.Mean(v))
}

// Finite is a number that JSON can hold; nil if it has no end.
func Finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}
