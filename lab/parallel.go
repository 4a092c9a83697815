package lab

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"photon/units"
)

// Progress says how far a replay is.
type Progress struct {
	Run         string  // what moved: its scheme, with the value of the sweep and the seed where there are several
	Part        float64 // of that run
	Last        bool    // it has ended
	Kept        bool    // it had ended in an earlier replay
	Done        float64 // part of all runs, by the work that is expected of them
	Ended, Runs int     // of the replay
}

// Interrupted is the error of a replay that was told to end before its runs had.
type Interrupted struct {
	Experiment, World string
	Ended, Runs       int
	Keep              string // folder of the runs that ended; "": they are lost
}

func (i *Interrupted) Error() string {
	return fmt.Sprintf("%d of %d runs of %s on %s had ended", i.Ended, i.Runs, i.Experiment, i.World)
}

// interrupted says so, if that is why the runs did not end.
func interrupted(ctx context.Context, e *Experiment, o Options, jobs []*job) error {
	if ctx.Err() == nil {
		return nil
	}
	i := &Interrupted{Experiment: e.ID, World: o.World, Runs: len(jobs), Keep: o.Keep}
	for _, j := range jobs {
		if j.ended {
			i.Ended++
		}
	}
	return i
}

// Work estimates what a replay costs, in any unit: hosts x line rate x time,
// which packet-hops follow. It serves to show progress, no more.
func (e *Experiment) Work(o Options) (work float64) {
	uses, err := e.choose(o)
	if err != nil {
		return 0
	}
	seen := map[*Experiment]float64{}
	for _, j := range e.jobs(o, uses, e.Seed) {
		work += j.work(seen)
	}
	return work
}

// work is the same of one run; seen is what was reckoned before.
func (j *job) work(seen map[*Experiment]float64) float64 {
	if w, ok := seen[j.e]; ok {
		return w
	}
	hosts := 1
	if p, err := j.e.plan(); err == nil {
		hosts = len(p.Hosts())
	}
	seen[j.e] = j.e.Duration.Seconds() * float64(hosts) * float64(j.e.Parameters.LinkRate.Value.V)
	return seen[j.e]
}

// tracker adds up how far runs are.
type tracker struct {
	mu       sync.Mutex
	tell     func(Progress)
	work     []float64 // by run
	part     []float64
	all, sum float64
	ended    int
}

func newTracker(tell func(Progress), jobs []*job) *tracker {
	t := &tracker{tell: tell, work: make([]float64, len(jobs)), part: make([]float64, len(jobs))}
	seen := map[*Experiment]float64{}
	for i, j := range jobs {
		t.work[i] = j.work(seen)
		t.all += t.work[i]
	}
	return t
}

// moved notes that a run is so far.
func (t *tracker) moved(i int, j *job, part float64) {
	if t.tell == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum += t.work[i] * (part - t.part[i])
	t.part[i] = part
	if j.ended {
		t.ended++
	}
	t.tell(Progress{Run: j.name(), Part: part, Last: j.ended, Kept: j.kept, Done: min(t.sum/t.all, 1), Ended: t.ended, Runs: len(t.work)})
}

// name tells a run from the others of its replay.
func (j *job) name() string {
	name := Key(j.use.Name.V, j.value)
	if j.alternative {
		return name + " otherwise"
	}
	if !j.first {
		return fmt.Sprintf("%s seed %d", name, j.seed)
	}
	return name
}

// runAll runs jobs, in virtual time as many at once as the pool has room for.
// They start in their order: what is first in the result is first to end.
func (e *Experiment) runAll(ctx context.Context, o Options, jobs []*job, board *boardedWorld) error {
	pool := o.Pool
	switch {
	case o.World != "sim":
		pool = semaphore.NewWeighted(1)
	case pool == nil:
		pool = semaphore.NewWeighted(int64(parallel(o)))
	}
	store := e.store(o)
	track := newTracker(o.Progress, jobs)
	g, ctx := errgroup.WithContext(ctx)
	var stopped error
	for i, j := range jobs {
		if store.load(j) {
			j.kept, j.ended = true, true
			board.end(i, nil)
			track.moved(i, j, 1)
			continue
		}
		cores := min(max(1, o.Cores), parallel(o))
		if stopped = pool.Acquire(ctx, int64(cores)); stopped != nil {
			break
		}
		if o.Cores == 0 && j.e.Spreads() {
			cores += spare(pool, parallel(o)/(len(jobs)-i)-1)
		}
		g.Go(func() (err error) {
			defer pool.Release(int64(cores))
			o := o
			o.Cores = cores
			board.start(i, &o)
			defer func() { board.end(i, err) }()
			progress := func(part float64) {
				board.moved(i, part)
				track.moved(i, j, part)
			}
			if j.result, err = j.e.run(ctx, o, j.use, j.seed, progress); err != nil {
				return fmt.Errorf("%s: %w", j.name(), err)
			}
			if !j.first {
				j.result.series, j.result.ended = Series{}, nil // of a thousand repetitions nobody looks at them
			}
			if err := store.save(j, o.looks); err != nil {
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
func (e *Experiment) Spreads() bool {
	p, err := e.plan()
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

// mostSpare is how many processors a run takes that nobody asked for: what more than
// a few would gain is not known.
const mostSpare = 3

// spare takes up to n processors that no run waits for, and returns how many.
func spare(pool *semaphore.Weighted, n int) (taken int) {
	for taken < min(n, mostSpare) && pool.TryAcquire(1) {
		taken++
	}
	return taken
}
