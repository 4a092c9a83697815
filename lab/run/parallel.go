package run

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/units"
)

// Progress says how far a replay is.
type Progress struct {
	Run         string  // what moved: its scheme, with the value of the sweep and the seed where there are several
	Part        float64 // of that run
	Last        bool    // it has ended
	Resumed     bool    // it had ended in an earlier replay
	Done        float64 // part of all runs, by the work that is expected of them
	Ended, Runs int     // of the replay
}

// Interrupted is the error of a replay that was stopped before its runs had ended.
type Interrupted struct {
	Experiment, World string
	Ended, Runs       int
	Checkpoints       string // folder of the runs that ended; "": they are lost
}

func (i *Interrupted) Error() string {
	return fmt.Sprintf("%d of %d runs of %s on %s had ended", i.Ended, i.Runs, i.Experiment, i.World)
}

// interrupted says so, if that is why the runs did not end.
func interrupted(ctx context.Context, e *experiment.Experiment, o Options, jobs []*Job) error {
	if ctx.Err() == nil {
		return nil
	}
	i := &Interrupted{Experiment: e.ID, World: o.World, Runs: len(jobs), Checkpoints: o.Checkpoints}
	if o.Testbed != nil {
		i.Checkpoints = ""
	}
	for _, j := range jobs {
		if j.ended {
			i.Ended++
		}
	}
	return i
}

// Work estimates what a replay costs, in any unit: hosts x line rate x time,
// which packet-hops follow. It serves to show progress, no more.
func Work(e *experiment.Experiment, o Options) (work float64) {
	uses, err := chooseSchemes(e, o)
	if err != nil {
		return 0
	}
	seen := map[*experiment.Experiment]float64{}
	for _, j := range jobsOf(e, o, uses) {
		work += j.work(seen)
	}
	return work
}

// work is the same of one run; seen caches it by experiment.
func (j *Job) work(seen map[*experiment.Experiment]float64) float64 {
	if w, ok := seen[j.e]; ok {
		return w
	}
	hosts := 1
	if p, err := j.e.Plan(); err == nil {
		hosts = len(p.Hosts())
	}
	seen[j.e] = j.e.Duration.Seconds() * float64(hosts) * float64(j.e.Parameters.LinkRate.Value.V)
	return seen[j.e]
}

// tracker adds up how far runs are.
type tracker struct {
	mu       sync.Mutex
	report   func(Progress)
	work     []float64 // by run
	part     []float64
	all, sum float64
	ended    int
}

func newTracker(tell func(Progress), jobs []*Job) *tracker {
	t := &tracker{report: tell, work: make([]float64, len(jobs)), part: make([]float64, len(jobs))}
	seen := map[*experiment.Experiment]float64{}
	for i, j := range jobs {
		t.work[i] = j.work(seen)
		t.all += t.work[i]
	}
	return t
}

// moved notes that a run is so far.
func (t *tracker) moved(i int, j *Job, part float64) {
	if t.report == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum += t.work[i] * (part - t.part[i])
	t.part[i] = part
	if j.ended {
		t.ended++
	}
	t.report(Progress{Run: j.Name(), Part: part, Last: j.ended, Resumed: j.Resumed, Done: min(t.sum/t.all, 1), Ended: t.ended, Runs: len(t.work)})
}

// runAll runs jobs, in virtual time as many at once as the pool has room for.
// They start in their order: what is first in the result is first to end.
func runAll(ctx context.Context, e *experiment.Experiment, o Options, jobs []*Job, view View) error {
	pool := o.Pool
	switch {
	case o.World != "sim":
		pool = semaphore.NewWeighted(1)
	case pool == nil:
		pool = semaphore.NewWeighted(int64(parallel(o)))
	}
	store := openCheckpoints(e, o)
	track := newTracker(o.Progress, jobs)
	g, ctx := errgroup.WithContext(ctx)
	var stopped error
	for i, j := range jobs {
		if !o.captures(j) && store.load(j) {
			j.Resumed, j.ended = true, true
			view.End(i, nil)
			track.moved(i, j, 1)
			continue
		}
		cores := min(max(1, o.Cores), parallel(o))
		if stopped = pool.Acquire(ctx, int64(cores)); stopped != nil {
			break
		}
		if o.Cores == 0 && Spreads(j.e) {
			cores += extraCores(pool, parallel(o)/(len(jobs)-i)-1)
		}
		g.Go(func() (err error) {
			defer pool.Release(int64(cores))
			o := o
			o.Cores = cores
			look := view.Start(i)
			defer func() { view.End(i, err) }()
			progress := func(part float64) {
				view.Moved(i, part)
				track.moved(i, j, part)
			}
			run := single{e: j.e, o: o, use: j.Use, seed: j.Seed, watcher: look, name: j.Name(), progress: progress}
			if o.captures(j) {
				run.capture = o.Capture
			}
			if j.result, err = run.run(ctx); err != nil {
				return fmt.Errorf("%s: %w", j.Name(), err)
			}
			if !j.First {
				j.result.series = measure.Series{} // only those of the first seed are written
			}
			if err := store.save(j, look); err != nil {
				return err
			}
			j.ended = true
			track.moved(i, j, 1)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return stopped
}

// leastSpread is how many full packets the links of a network carry within the delay
// of the shortest between switches, for which several processors are worth while: with
// some 550, as of the leaf-spine network of docs/performance/simulator.md, two are 1.5 to
// 1.8 times as fast as one.
const leastSpread = 500

// leastNodes is from how many nodes on no single one has most of the work.
const leastNodes = 48

// Spreads reports whether a run in virtual time is worth several processors.
func Spreads(e *experiment.Experiment) bool {
	p, err := e.Plan()
	if err != nil || len(p.Nodes) < leastNodes {
		return false
	}
	rate, delay := 0.0, units.Never
	for _, c := range p.Cables {
		rate += 2 * float64(c.Link.Rate)
		if !p.Nodes[c.A].Host && !p.Nodes[c.B].Host {
			delay = min(delay, c.Link.Delay)
		}
	}
	return delay != units.Never && rate*delay.Seconds()/(8*1500) >= leastSpread
}

// maxExtraCores is how many idle processors a run takes in addition to its own. What more of them would gain was not
// measured.
const maxExtraCores = 3

// extraCores takes up to n processors that no run waits for, and returns how many.
func extraCores(pool *semaphore.Weighted, n int) (taken int) {
	for taken < min(n, maxExtraCores) && pool.TryAcquire(1) {
		taken++
	}
	return taken
}
