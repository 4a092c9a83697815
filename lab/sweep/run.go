package sweep

import (
	"context"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"photon/lab/build"
	"photon/lab/report"
	"photon/lab/run"
)

// Failed is the error of tasks that could not be run.
type Failed struct {
	Tasks int
	First error
}

func (f *Failed) Error() string {
	return fmt.Sprintf("%d tasks failed, the first: %v", f.Tasks, f.First)
}

func (f *Failed) Unwrap() error { return f.First }

// Run runs tasks, so many at once and each on so many cores, which changes nothing
// but the time, and puts their results into the folder. A task that fails does not
// stop the others. Progress is reported by one goroutine at a time.
func (f Folder) Run(ctx context.Context, tasks []*Task, atOnce, cores int, tell func(run.Progress)) error {
	if err := os.MkdirAll(f.tasks(), 0o755); err != nil {
		return err
	}
	var mu sync.Mutex
	failed := &Failed{}
	sum, ended := 0.0, 0
	part := make([]float64, len(tasks))
	moved := func(i int, now float64, last bool) {
		mu.Lock()
		defer mu.Unlock()
		sum += now - part[i]
		part[i] = now
		if last {
			ended++
		}
		t := tasks[i]
		tell(run.Progress{Run: fmt.Sprintf("%s seed=%d", t, t.Seed), Part: now, Last: last, Done: sum / float64(len(tasks)), Ended: ended, Runs: len(tasks)})
	}
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, t := range tasks {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			err := f.run(ctx, t, cores, func(part float64) { moved(i, part, false) })
			if err == nil {
				moved(i, 1, true)
				return nil
			}
			if ctx.Err() != nil {
				return nil // it did not fail: it was stopped
			}
			mu.Lock()
			defer mu.Unlock()
			if failed.Tasks++; failed.First == nil {
				failed.First = fmt.Errorf("%s: %w", t.ID, err)
			}
			return nil
		})
	}
	_ = g.Wait() // no task stops the others
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed.Tasks > 0 {
		return failed
	}
	return nil
}

// run runs one task.
func (f Folder) run(ctx context.Context, t *Task, cores int, progress func(float64)) error {
	e, err := t.load()
	if err != nil {
		return err
	}
	o := run.Options{World: "sim", Seed: t.Seed, Cores: cores, Progress: func(p run.Progress) { progress(p.Part) }}
	r, err := run.RunOnce(ctx, e, o, e.Schemes[0], build.Observer{})
	if err != nil {
		return err
	}
	record := &Record{
		Task: t.ID, Experiment: t.Experiment, Scheme: t.Scheme, Seed: t.Seed, Params: t.settings(), Metrics: r.Metrics,
		Invariants: r.Invariants, TraceHash: r.TraceHash, PacketHops: r.PacketHops, Virtual: r.Virtual, Notes: r.Notes, Wall: r.Wall, Build: run.Build(),
	}
	if t.Flows { // first: a task with a result has all it is to have
		if err := report.WriteFlows(f.flows(t.ID), r.Ended); err != nil {
			return err
		}
	}
	return f.put(record)
}

// Shard is every n-th task, from the k-th: what one of n workers does. Who does
// what depends on the spec only, not on what is done.
func Shard(tasks []*Task, k, n int) (shard []*Task) {
	for i := k; i < len(tasks); i += n {
		shard = append(shard, tasks[i])
	}
	return shard
}
