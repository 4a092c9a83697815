package run

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"runtime"
	"slices"
	"time"

	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/scheme"
)

// Job is one run in a world of its own.
type Job struct {
	Use         experiment.SchemeUse
	Value       string // of the sweep
	Seed        uint64
	First       bool   // of the seeds: its series are written
	Alternative bool   // with another choice where the paper leaves one open
	Quick       bool   // with what --quick leaves of it
	Resumed     bool   // from an earlier replay that was interrupted
	Traces      []byte // then: what Watcher.Encode returned; nil: nothing

	e      *experiment.Experiment
	number int // of the alternative
	ended  bool
	result runResult
}

// Line is what a run has in common with those of other seeds.
func (j *Job) Line() string {
	name := experiment.Key(j.Use.Key(), j.Value)
	if j.Alternative {
		name += " otherwise"
	}
	return name
}

// Name tells a run from the others of its replay.
func (j *Job) Name() string {
	if !j.First {
		return fmt.Sprintf("%s seed %d", j.Line(), j.Seed)
	}
	return j.Line()
}

// Replay runs an experiment in one world. Virtual worlds run side by side, DPDK
// one after the other. If ctx ends before the runs do, the error is an
// Interrupted, and the result, if there is one, is of the schemes all of whose
// runs have ended. It is the same if a run on a testbed fails, of which none is kept
// for another time.
func Replay(ctx context.Context, e *experiment.Experiment, o Options) (*Result, error) {
	begin := time.Now()
	uses, err := chooseSchemes(e, o)
	if err != nil {
		return nil, err
	}
	jobs := jobsOf(e, o, uses)
	var view View = noView{}
	if o.Viewer != nil {
		view = o.Viewer.Replay(e, o.World, jobs)
	}
	if err := runAll(ctx, e, o, jobs, view); err != nil {
		stopped := interrupted(ctx, e, o, jobs)
		if stopped == nil {
			stopped = fmt.Errorf("%s on %s: %w", e.ID, o.World, err)
			if o.Testbed == nil {
				return nil, stopped
			}
		}
		uses, jobs = complete(uses, jobs)
		if len(uses) == 0 {
			return nil, stopped
		}
		return merge(e, o, uses, jobs, begin), stopped
	}
	return merge(e, o, uses, jobs, begin), nil
}

// jobsOf are the runs of a replay: those of each scheme one after the other, then
// those of other choices.
func jobsOf(e *experiment.Experiment, o Options, uses []experiment.SchemeUse) (jobs []*Job) {
	seed := cmp.Or(o.Seed, e.Seed)
	for _, use := range uses {
		for _, v := range sweepValues(e, o) {
			for k := range Seeds(e, o) {
				jobs = append(jobs, &Job{Use: swept(e, v, use), Value: v.Value, e: shortened(v.Experiment, o), Seed: seed + uint64(k), First: k == 0, Quick: o.Quick})
			}
		}
	}
	if o.World != "sim" || o.Quick {
		return jobs
	}
	for i, use := range e.Alternatives {
		if slices.ContainsFunc(uses, func(u experiment.SchemeUse) bool { return u.Name.V == use.Name.V }) {
			for k := range min(Seeds(e, o), alternativeSeeds) {
				jobs = append(jobs, &Job{Use: use, e: e, Seed: seed + uint64(k), First: k == 0, Alternative: true, number: i})
			}
		}
	}
	return jobs
}

// captures reports whether a run is written down.
func (o *Options) captures(j *Job) bool { return o.Capture != nil && j.First && !j.Alternative }

// Captured are the names of the runs that Options.Capture would capture.
func Captured(e *experiment.Experiment, o Options) (names []string, err error) {
	uses, err := chooseSchemes(e, o)
	if err != nil {
		return nil, err
	}
	for _, j := range jobsOf(e, o, uses) {
		if j.First && !j.Alternative {
			names = append(names, j.Name())
		}
	}
	return names, nil
}

// alternativeSeeds is the number of seeds with which alternatives are run.
const alternativeSeeds = 5

// swept is the scheme at one value of the sweep, which may vary the scheme's parameters.
func swept(e *experiment.Experiment, v experiment.Variant, use experiment.SchemeUse) experiment.SchemeUse {
	if i := slices.IndexFunc(e.Schemes, func(u experiment.SchemeUse) bool { return u.Key() == use.Key() }); i >= 0 {
		variant := v.Schemes[i]
		variant.Label = use.Key()
		return variant
	}
	return use
}

// complete are the schemes all of whose runs have ended, and these runs.
func complete(uses []experiment.SchemeUse, jobs []*Job) (of []experiment.SchemeUse, ended []*Job) {
	running := func(key string) bool {
		return slices.ContainsFunc(jobs, func(j *Job) bool { return !j.Alternative && j.Use.Key() == key && !j.ended })
	}
	of = slices.DeleteFunc(slices.Clone(uses), func(u experiment.SchemeUse) bool { return running(u.Key()) })
	ended = slices.DeleteFunc(slices.Clone(jobs), func(j *Job) bool { return !j.ended || running(j.Use.Key()) })
	return of, ended
}

// merge is what the runs of schemes make together.
func merge(e *experiment.Experiment, o Options, uses []experiment.SchemeUse, jobs []*Job, begin time.Time) *Result {
	seed := cmp.Or(o.Seed, e.Seed)
	r := &Result{Experiment: e.ID, World: o.World, Seed: seed, Quick: o.Quick}
	for k := range Seeds(e, o) {
		r.Seeds = append(r.Seeds, seed+uint64(k))
	}
	r.Repeats = Repeats{
		Program: o.Program, Flags: o.Flags, Digest: fmt.Sprintf("%x", e.Digest()), Duration: e.Lasts(o.Quick).String(),
		Parameters: e.Parameters.Settings(), Topology: e.Laid(),
	}
	for _, use := range uses {
		runs := slices.DeleteFunc(slices.Clone(jobs), func(j *Job) bool { return j.Alternative || j.Use.Key() != use.Key() })
		run, timing := Merge(runs)
		run.Settings = r.settings(e, runs[0].Use)
		r.Runs = append(r.Runs, run)
		r.Timing.Runs = append(r.Timing.Runs, timing)
	}
	for i, use := range e.Alternatives {
		runs := slices.DeleteFunc(slices.Clone(jobs), func(j *Job) bool { return !j.Alternative || j.number != i })
		if len(runs) == 0 {
			continue
		}
		run, _ := Merge(runs)
		a := Alternative{Scheme: use.Name.V, Params: use.Values(), Seeds: len(runs), Metrics: measure.Metrics{}}
		for name, s := range run.Statistics {
			a.Metrics[name] = s.Median
		}
		r.Alternatives = append(r.Alternatives, a)
	}
	r.Timing.Cores, r.Timing.Parallel, r.Timing.Elapsed = runtime.NumCPU(), parallel(o), time.Since(begin).Seconds()
	return r
}

// settings are all parameters of a scheme as they are in force.
func (r *Result) settings(e *experiment.Experiment, use experiment.SchemeUse) map[string]string {
	all := map[string]string{}
	recipe, err := scheme.Get(use.Name.V)
	if err != nil {
		return all // never: it has run
	}
	network, err := r.Network(e)
	if err != nil {
		return all
	}
	list, _ := recipe.Settings(network, use.Overrides()) // it was built with them
	for _, s := range list {
		all[s.Name] = s.Value
	}
	return all
}

// Merge makes one run of a scheme's jobs that have ended: those of each value of the
// sweep one seed after the other.
func Merge(jobs []*Job) (Run, Timing) {
	use := jobs[0].Use
	r := Run{
		Scheme: use.Key(), Params: use.Values(), Invariants: Invariants{ConservationOK: true},
		series: map[string]*measure.Series{}, ended: map[string][]iter.Seq[measure.Ended]{},
	}
	if use.Name.V != r.Scheme {
		r.Recipe = use.Name.V
	}
	t := Timing{Scheme: r.Scheme}
	perSeed := map[string][]*float64{}
	var hashes []string
	for _, j := range jobs {
		for name, v := range j.result.metrics {
			full := experiment.Key(name, j.Value)
			perSeed[full] = append(perSeed[full], v)
		}
		if j.First {
			r.series[j.Value] = &j.result.series
		}
		r.ended[j.Value] = append(r.ended[j.Value], j.result.ended)
		r.Invariants.add(&j.result.invariants)
		r.PacketHops += j.result.hops
		r.Virtual += j.result.virtual
		if j.result.hash != "" {
			hashes = append(hashes, j.result.hash)
		}
		r.Notes = j.remarkIn(r.Notes)
		t.WallSeconds += j.result.timing.WallSeconds
		t.Dilation = j.result.timing.Dilation
		t.StretchedSeconds += j.result.timing.StretchedSeconds
		t.StartSkew = max(t.StartSkew, j.result.timing.StartSkew)
		t.SampleDelay = max(t.SampleDelay, j.result.timing.SampleDelay)
		t.LongestGap = max(t.LongestGap, j.result.timing.LongestGap)
	}
	for name, list := range perSeed {
		r.SetSamples(name, list)
	}
	if len(hashes) > 0 {
		h := combineHashes(hashes)
		r.TraceHash = &h
	}
	return r, t
}

// remarkIn adds a run's notes to those of its scheme: with other seeds than the first, only what its nodes did besides,
// unless it was said already.
func (j *Job) remarkIn(notes []string) []string {
	at := ""
	if j.Value != "" {
		at = experiment.Key("", j.Value) + ": "
	}
	if j.First {
		for _, note := range slices.Concat(j.result.notes, j.result.remarks) {
			notes = append(notes, at+note)
		}
		return notes
	}
	for _, note := range j.result.remarks {
		if !slices.Contains(notes, at+note) {
			notes = append(notes, fmt.Sprintf("%sseed %d: %s", at, j.Seed, note))
		}
	}
	return notes
}

// combineHashes makes one hash of several; of one, itself.
func combineHashes(hashes []string) string {
	if len(hashes) == 1 {
		return hashes[0]
	}
	h := fnv.New64a()
	for _, one := range hashes {
		h.Write([]byte(one))
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
