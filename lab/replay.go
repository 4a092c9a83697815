package lab

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"photon/config"
	"photon/lab/bed"
)

// Options of a replay.
type Options struct {
	World    string      // "sim" or "dpdk"
	Schemes  []string    // nil: all of the experiment
	Seed     uint64      // 0: the experiment's
	Dilation int         // of the clock, on dpdk
	Quick    bool        // leave out what no claim needs
	Testbed  bed.Testbed // where the nodes are, on dpdk; nil: all in this process
	// Progress is told now and then how far the replay is, by one goroutine at a time.
	Progress func(Progress)
	// Pool is what runs in virtual time share with other replays, one each; nil: as
	// many at once as there are processors.
	Pool *semaphore.Weighted
	// Cores is how many processors one run in virtual time uses, at most all there are;
	// 0: one, and if the network is large those that no other run needs. Results are
	// the same.
	Cores int
	// Keep has every run kept in this folder as soon as it ends, and runs that are
	// kept there already not run again; "": nothing is kept.
	Keep string
	// Board shows the runs on a page; nil: nobody looks.
	Board *Board

	looks *looks // of one run; nil: it is not watched
}

// Result is what a replay in one world yields; it becomes result.json.
type Result struct {
	Experiment string        `json:"experiment"`
	World      string        `json:"world"`
	Seed       uint64        `json:"seed"`
	Quick      bool          `json:"quick"` // of a run with --quick; what that leaves is in the experiment
	Runs       []Run         `json:"runs"`
	Claims     []ClaimResult `json:"claims"`

	series       map[string]*Series // by scheme, or scheme@value
	ended        map[string][]Ended // the same
	timing       Timings
	alternatives []Alternative
}

// Alternative is what a choice that was made otherwise gives; it becomes a row
// of alternatives.json.
type Alternative struct {
	Scheme  string            `json:"scheme"`
	Params  map[string]string `json:"params"`
	Metrics Metrics           `json:"metrics"`
}

// Run is one scheme's: all values of a sweep and all repetitions. A metric of a
// sweep is called metric@value.
type Run struct {
	Scheme     string     `json:"scheme"`
	Metrics    Metrics    `json:"metrics"`
	Invariants Invariants `json:"invariants"`
	TraceHash  *string    `json:"trace_hash"` // of the simulator
	PacketHops uint64     `json:"packet_hops"`
	Virtual    float64    `json:"virtual_seconds"`
	// Notes say why a mechanism that one may expect to act never did.
	Notes []string `json:"notes,omitempty"`
}

// Invariants hold in every run, or the run is worth nothing.
type Invariants struct {
	LostFrames     uint64 `json:"lost_frames"` // of the lossless priorities, anywhere
	ConservationOK bool   `json:"conservation_ok"`
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

// Timing is that of one scheme: all values of a sweep and all repetitions.
type Timing struct {
	Scheme      string  `json:"scheme"`
	WallSeconds float64 `json:"wall_seconds"`
	// Of the DPDK world's clock.
	StartSkew        float64 `json:"start_skew_seconds,omitempty"` // of a testbed: flows start together within twice that
	Dilation         int     `json:"dilation,omitempty"`
	StretchedSeconds float64 `json:"stretched_seconds,omitempty"` // world time by which stalls of the machine were left out
	LongestGap       float64 `json:"longest_poll_gap_seconds,omitempty"`
}

// job is one run in a world of its own.
type job struct {
	use         SchemeUse
	value       string // of the sweep
	e           *Experiment
	seed        uint64
	first       bool // of the repetitions: its series and flows are written
	alternative bool
	kept        bool  // from an earlier replay that was interrupted
	seen        *seen // then: what its page showed; nil: nothing is known
	ended       bool
	result      one
}

// Replay runs an experiment in one world. Virtual worlds run side by side, DPDK
// one after the other. If ctx ends before the runs do, the error is an
// Interrupted, and the result, if there is one, is of the schemes all of whose
// runs have ended.
func (e *Experiment) Replay(ctx context.Context, o Options) (*Result, error) {
	begin := time.Now()
	uses, err := e.choose(o)
	if err != nil {
		return nil, err
	}
	seed := o.Seed
	if seed == 0 {
		seed = e.Seed
	}
	jobs := e.jobs(o, uses, seed)
	if err := e.runAll(ctx, o, jobs, o.Board.replay(e, o, uses, jobs)); err != nil {
		stopped := interrupted(ctx, e, o, jobs)
		if stopped == nil {
			return nil, fmt.Errorf("%s on %s: %w", e.ID, o.World, err)
		}
		uses, jobs = complete(uses, jobs)
		if len(uses) == 0 {
			return nil, stopped
		}
		return e.result(o, uses, jobs, seed, begin), stopped
	}
	return e.result(o, uses, jobs, seed, begin), nil
}

// jobs are the runs of a replay: those of each scheme one after the other, then
// those of other choices.
func (e *Experiment) jobs(o Options, uses []SchemeUse, seed uint64) (jobs []*job) {
	for _, use := range uses {
		for _, v := range e.values(o) {
			for k := range e.repeats(o) {
				jobs = append(jobs, &job{use: v.e.own(use), value: v.value, e: v.e.shortened(o), seed: seed + uint64(k), first: k == 0})
			}
		}
	}
	if o.World != "sim" || o.Quick {
		return jobs
	}
	for _, use := range e.Alternatives {
		if slices.ContainsFunc(uses, func(u SchemeUse) bool { return u.Name.V == use.Name.V }) {
			jobs = append(jobs, &job{use: use, e: e, seed: seed, alternative: true})
		}
	}
	return jobs
}

// complete are the schemes all of whose runs have ended, and these runs.
func complete(uses []SchemeUse, jobs []*job) (of []SchemeUse, ended []*job) {
	running := func(name string) bool {
		return slices.ContainsFunc(jobs, func(j *job) bool { return !j.alternative && j.use.Name.V == name && !j.ended })
	}
	of = slices.DeleteFunc(slices.Clone(uses), func(u SchemeUse) bool { return running(u.Name.V) })
	ended = slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return !j.ended || running(j.use.Name.V) })
	return of, ended
}

// result is what the runs of schemes make together.
func (e *Experiment) result(o Options, uses []SchemeUse, jobs []*job, seed uint64, begin time.Time) *Result {
	r := &Result{Experiment: e.ID, World: o.World, Seed: seed, Quick: o.Quick, series: map[string]*Series{}, ended: map[string][]Ended{}}
	metrics := map[string]Metrics{}
	for _, use := range uses {
		name := use.Name.V
		mine := slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.alternative || j.use.Name.V != name })
		run, timing := merge(name, mine)
		r.Runs = append(r.Runs, run)
		r.timing.Runs = append(r.timing.Runs, timing)
		metrics[name] = run.Metrics
		for _, j := range mine {
			if j.first {
				r.series[Key(name, j.value)] = &j.result.series
				r.ended[Key(name, j.value)] = j.result.ended
			}
		}
	}
	for _, c := range e.Claims {
		r.Claims = append(r.Claims, c.judge(metrics, e.watchedFor(c.Metric)))
	}
	for _, j := range jobs {
		if !j.alternative {
			continue
		}
		a := Alternative{Scheme: j.use.Name.V, Params: map[string]string{}, Metrics: j.result.metrics}
		for name, p := range j.use.Params {
			a.Params[name] = p.Value.V
		}
		r.alternatives = append(r.alternatives, a)
	}
	r.timing.Cores, r.timing.Parallel, r.timing.Elapsed = runtime.NumCPU(), parallel(o), time.Since(begin).Seconds()
	return r
}

// own is the scheme as this value of the sweep has it: its parameters may be
// what is swept.
func (e *Experiment) own(use SchemeUse) SchemeUse {
	if i := slices.IndexFunc(e.Schemes, func(u SchemeUse) bool { return u.Name.V == use.Name.V }); i >= 0 {
		return e.Schemes[i]
	}
	return use
}

// values are those of the sweep that are to be run.
func (e *Experiment) values(o Options) []variant {
	if !o.Quick || e.Sweep == nil || e.Sweep.Quick == nil {
		return e.variants
	}
	return slices.DeleteFunc(slices.Clone(e.variants), func(v variant) bool { return !slices.Contains(e.Sweep.Quick, v.value) })
}

// shortened is the experiment with what --quick leaves of its workloads.
func (e *Experiment) shortened(o Options) *Experiment {
	if !o.Quick || e.Quick.Flows == 0 {
		return e
	}
	c := *e
	c.Workloads = slices.Clone(e.Workloads)
	for i := range c.Workloads {
		if w := &c.Workloads[i]; !w.Flows.IsSet() || w.Flows.V > e.Quick.Flows {
			w.Flows = config.Set(e.Quick.Flows)
		}
	}
	return &c
}

func (e *Experiment) repeats(o Options) int {
	if o.Quick && e.Quick.Repeat > 0 {
		return e.Quick.Repeat
	}
	return e.Repeat
}

// parallel is how many runs go side by side at most: in virtual time as many as
// there are processors.
func parallel(o Options) int {
	if o.World == "sim" {
		return runtime.GOMAXPROCS(0)
	}
	return 1
}

// merge makes one run of a scheme's jobs: metrics are means over repetitions,
// one set for each value of the sweep.
func merge(scheme string, jobs []*job) (Run, Timing) {
	r := Run{Scheme: scheme, Metrics: Metrics{}, Invariants: Invariants{ConservationOK: true}}
	t := Timing{Scheme: scheme}
	sums, counts := map[string]float64{}, map[string]int{}
	var hashes []string
	for _, j := range jobs {
		for name, v := range j.result.metrics {
			full := Key(name, j.value)
			if _, known := r.Metrics[full]; !known {
				r.Metrics[full] = nil
			}
			if v != nil {
				sums[full] += *v
				counts[full]++
			}
		}
		r.Invariants.LostFrames += j.result.invariants.LostFrames
		r.Invariants.ConservationOK = r.Invariants.ConservationOK && j.result.invariants.ConservationOK
		r.PacketHops += j.result.hops
		r.Virtual += j.result.virtual
		if j.result.hash != "" {
			hashes = append(hashes, j.result.hash)
		}
		for _, note := range j.result.notes {
			if j.value != "" {
				note = Key("", j.value) + ": " + note
			}
			if !slices.Contains(r.Notes, note) {
				r.Notes = append(r.Notes, note)
			}
		}
		t.WallSeconds += j.result.timing.WallSeconds
		t.Dilation = j.result.timing.Dilation
		t.StretchedSeconds += j.result.timing.StretchedSeconds
		t.StartSkew = max(t.StartSkew, j.result.timing.StartSkew)
		t.LongestGap = max(t.LongestGap, j.result.timing.LongestGap)
	}
	for name, n := range counts {
		mean := sums[name] / float64(n)
		r.Metrics[name] = &mean
	}
	if len(hashes) > 0 {
		h := fold(hashes)
		r.TraceHash = &h
	}
	return r, t
}

// fold makes one hash of several; of one, itself.
func fold(hashes []string) string {
	if len(hashes) == 1 {
		return hashes[0]
	}
	h := uint64(0xCBF29CE484222325)
	for _, c := range strings.Join(hashes, "") {
		h = (h ^ uint64(c)) * 0x100000001B3
	}
	return fmt.Sprintf("%016x", h)
}
