package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"photon/dataplane/dpdk"
	"photon/lab"
	"photon/lab/figure"
	"photon/lab/testbed"
	"photon/lab/web/pages"
)

func replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay ID...",
		Short: "Repeat experiments of papers and lay the papers' numbers beside ours",
		Example: "  photon replay pcn/fig11\n" +
			"  photon replay pcn/fig11 --schemes pcn,hpcc --world both\n" +
			"  photon replay pcn/fig11 --serve       # watch it in a browser\n" +
			"  photon replay --all --quick",
		Long: "Repeat experiments of papers, in virtual time or on DPDK, and lay the papers' numbers beside ours.\n" +
			"`photon list experiments` shows the ids. Results go to OUT/<id, slashes as dashes>/<world>/: result.json,\n" +
			"timing.json, and for each scheme its series as CSV and its plot as PNG; the report is beside the worlds.\n\n" +
			"Runs in virtual time share the cores; those of large networks use what is left of them. After an interruption the same command goes on where it was.",
		RunE: func(c *cobra.Command, ids []string) error {
			if f.all == (len(ids) > 0) {
				return bad(errors.New("name the experiments, or say --all (photon list experiments shows them)"))
			}
			var all []*lab.Experiment
			if f.all {
				var err error
				if all, err = lab.All(); err != nil {
					return err
				}
			}
			for _, id := range ids {
				e, err := lab.Get(id)
				if err != nil && f.page.meant(id) {
					return bad(fmt.Errorf("%q is no experiment; to serve the page there, write --serve=%s", id, id))
				}
				if err != nil {
					return bad(err)
				}
				all = append(all, e)
			}
			return f.run(c, all)
		},
		Args: cobra.ArbitraryArgs,
	}
	f.add(c)
	c.Flags().BoolVar(&f.all, "all", false, "every experiment there is")
	return c
}

// replayFlags say how experiments are run.
type replayFlags struct {
	o                   lab.Options
	world, schemes, out string
	testbed             string // file
	all                 bool
	page                pageFlags
}

func (r *replayFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.world, "world", "sim", "where: sim (virtual time), dpdk (DPDK devices, dilated real time) or both")
	f.StringVar(&r.schemes, "schemes", "", "only these, separated by commas; others than the experiment's too (default: the experiment's)")
	f.Uint64Var(&r.o.Seed, "seed", 0, "of everything random (default: the experiment's)")
	f.IntVar(&r.o.Dilation, "dilation", 20, "how many times slower than the wall the clock runs on dpdk")
	f.StringVar(&r.testbed, "testbed", "", "`file` that says where the nodes are, with --world dpdk: cards of this machine, switches and agents elsewhere (docs/testbed.md)")
	f.IntVar(&r.o.Cores, "cores", 0, "processors that one run in virtual time uses; results are the same (default: one, and of large networks those that no other run needs)")
	f.BoolVar(&r.o.Quick, "quick", false, "leave out what no claim needs: repetitions, and the runs of other choices; windows in which claims are judged stay whole")
	f.StringVar(&r.out, "out", "out", "folder for results")
	r.page.add(f)
}

// run checks the flags and runs experiments.
func (r *replayFlags) run(c *cobra.Command, all []*lab.Experiment) error {
	worlds := []string{r.world}
	switch r.world {
	case "sim", "dpdk":
	case "both":
		worlds = []string{"sim", "dpdk"}
	default:
		return bad(fmt.Errorf("--world %q: sim, dpdk or both", r.world))
	}
	if r.world != "sim" && !dpdk.Available {
		return bad(dpdk.ErrNotBuilt)
	}
	if r.o.Dilation < 1 || r.o.Dilation > 1000 {
		return bad(fmt.Errorf("--dilation %d: from 1 to 1000", r.o.Dilation))
	}
	if err := r.checkCores(c); err != nil {
		return err
	}
	if r.testbed != "" {
		if r.world != "dpdk" {
			return bad(fmt.Errorf("--testbed: with --world dpdk, not %s", r.world))
		}
		var err error
		if r.o.Testbed, err = testbed.Read(r.testbed); err != nil {
			return bad(err)
		}
		for _, e := range all {
			if err := e.CheckTestbed(r.o.Testbed); err != nil {
				return bad(fmt.Errorf("%s: %w", e.ID, err))
			}
		}
	}
	if c.Flags().Changed("schemes") {
		r.o.Schemes = strings.Split(r.schemes, ",")
	}
	for _, e := range all {
		if err := e.CheckSchemes(r.o.Schemes); err != nil {
			return bad(err)
		}
	}
	if err := r.page.check(); err != nil {
		return bad(err)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return bad(fmt.Errorf("--out: %w", err))
	}
	return r.replay(c, all, worlds)
}

// checkCores checks --cores.
func (r *replayFlags) checkCores(c *cobra.Command) error {
	switch {
	case !c.Flags().Changed("cores"):
		return nil
	case r.world == "dpdk":
		return bad(errors.New("--cores: how many virtual time uses; with --world dpdk ports have workers of their own"))
	case r.o.Cores < 1:
		return bad(fmt.Errorf("--cores %d: at least 1", r.o.Cores))
	}
	return nil
}

// replayed is an experiment in its worlds.
type replayed struct {
	e       *lab.Experiment
	results []*lab.Result
	report  string
	err     error
	done    chan struct{} // closed when the rest is there
}

// replay runs experiments, and shows them on a page if that is wanted.
func (r *replayFlags) replay(c *cobra.Command, all []*lab.Experiment, worlds []string) error {
	work := make([]float64, len(all))
	for i, e := range all {
		work[i] = e.Work(r.o)
	}
	show := newProgress(c.ErrOrStderr(), work...)
	board, stay, err := r.page.serve(c, all, show)
	if err != nil {
		return err
	}
	return stay(r.replayAll(c, all, worlds, show, board))
}

// replayAll runs experiments, in virtual time side by side, and prints what comes
// out in their order. Runs that end are kept until all have, so that the same
// command goes on after an interruption.
func (r *replayFlags) replayAll(c *cobra.Command, all []*lab.Experiment, worlds []string, show *progress, board *lab.Board) error {
	o := r.o
	o.Board = board
	atOnce := 1
	if r.world == "sim" {
		atOnce = runtime.GOMAXPROCS(0)
		o.Pool = semaphore.NewWeighted(int64(atOnce))
	}
	list := make([]*replayed, len(all))
	for i, e := range all {
		list[i] = &replayed{e: e, done: make(chan struct{})}
	}
	g, ctx := errgroup.WithContext(c.Context())
	g.SetLimit(atOnce)
	go func() {
		for i, x := range list {
			g.Go(func() error {
				defer close(x.done)
				x.err = x.run(ctx, o, worlds, r.out, func(what string, s lab.Progress) { show.moved(i, what, s) })
				return x.err
			})
		}
	}()
	var failed error
	for _, x := range list {
		<-x.done
		if len(x.results) > 0 && x.report != "" {
			failed = errors.Join(failed, show.aside(func() error { return x.print(c.OutOrStdout()) }))
		}
	}
	show.end()
	if c.Context().Err() != nil {
		if err := goOn(list); err != nil {
			return err
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	for _, x := range list {
		for _, w := range worlds {
			if err := os.RemoveAll(keep(x.e, r.out, w)); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep is the folder of runs that have ended while others have not.
func keep(e *lab.Experiment, out, world string) string {
	return filepath.Join(e.Folder(out), world, "runs")
}

// run runs the experiment in each world and writes its results and its report. Of
// an experiment that is interrupted the schemes that have ended are written.
func (x *replayed) run(ctx context.Context, o lab.Options, worlds []string, out string, moved func(string, lab.Progress)) error {
	var stopped error
	for k, w := range worlds {
		o.World, o.Keep = w, keep(x.e, out, w)
		o.Progress = func(s lab.Progress) {
			s.Done = (float64(k) + s.Done) / float64(len(worlds))
			moved(fmt.Sprintf("%s %s %s", x.e.ID, w, s.Run), s)
		}
		r, err := x.e.Replay(ctx, o)
		if stopped = err; r == nil {
			break
		}
		if err := x.e.Write(out, r); err != nil {
			return err
		}
		if err := figure.Write(x.e, out, r); err != nil {
			return err
		}
		x.results = append(x.results, r)
		if stopped != nil {
			break
		}
	}
	if len(x.results) == 0 {
		return stopped
	}
	var err error
	if x.report, err = x.e.Report(out, pages.Write); err != nil {
		return err
	}
	o.Board.Report(x.e, x.report)
	if stopped != nil {
		return stopped
	}
	return invariants(x.results)
}

// print prints the table of claims.
func (x *replayed) print(w io.Writer) error {
	fmt.Fprintln(w)
	if err := lab.Table(w, x.results); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nreport: %s\n", x.report)
	return nil
}

// goOn says what has ended of experiments that were interrupted, and how to go on;
// nothing, if all had.
func goOn(list []*replayed) error {
	ended, runs, done := 0, 0, 0
	for _, x := range list {
		var i *lab.Interrupted
		switch {
		case x.err == nil:
			done++
		case errors.As(x.err, &i):
			ended, runs = ended+i.Ended, runs+i.Runs
		default:
			return x.err
		}
	}
	if done == len(list) {
		return nil
	}
	return fmt.Errorf("interrupted: %d of %d experiments are done, and %d of %d runs of the others; the same command goes on from there", done, len(list), ended, runs)
}

// invariants is an error if a run lost a frame: its numbers are worth nothing.
func invariants(results []*lab.Result) error {
	for _, r := range results {
		for _, run := range r.Runs {
			if run.Invariants.LostFrames > 0 || !run.Invariants.ConservationOK {
				return errors.Join(fmt.Errorf("%s, %s on %s: %d frames lost, conservation %v", r.Experiment, run.Scheme, r.World,
					run.Invariants.LostFrames, run.Invariants.ConservationOK))
			}
		}
	}
	return nil
}
