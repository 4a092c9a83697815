package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"photon/dataplane/dpdk"
	"photon/internal/shell"
	"photon/lab"
	"photon/lab/experiment"
	"photon/lab/live"
	"photon/lab/remote"
	"photon/lab/report"
	labrun "photon/lab/run"
	"photon/lab/testbed"
)

func replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay ID...",
		Short: "Repeat experiments of papers, and compare the papers' numbers with ours",
		Example: "  photon replay pcn/fig11\n" +
			"  photon replay pcn/fig11 --schemes pcn,hpcc --world both\n" +
			"  photon replay pcn/fig11 --serve       # watch it in a browser\n" +
			"  photon replay pcn --quick             # all of a paper; 'pcn/fig1*' those that match\n" +
			"  photon replay --all --quick",
		Long: "Repeat experiments of papers, in virtual time or on DPDK, and compare the papers' numbers with ours.\n" +
			"`photon list experiments` shows the ids. Results go to OUT/<id, slashes as dashes>/<world>/: result.json,\n" +
			"timing.json, and for each scheme its series as CSV and its plot as PNG; the report is beside the worlds.\n\n" +
			"Runs in virtual time share the cores, and those of large networks use idle ones. After an interruption the same\n" +
			"command goes on where it was.",
		RunE: func(c *cobra.Command, words []string) error {
			if f.all == (len(words) > 0) {
				return bad(errors.New("name the experiments, or say --all (photon list experiments shows them)"))
			}
			if f.all {
				all, err := experiment.All()
				if err != nil {
					return err
				}
				return f.run(c, all)
			}
			all, err := f.named(words)
			if err != nil {
				return bad(err)
			}
			return f.run(c, all)
		},
		Args: cobra.ArbitraryArgs,
	}
	f.add(c)
	c.Flags().BoolVar(&f.all, "all", false, "Run every experiment that comes with photon")
	return c
}

// named are the experiments that words stand for, each once.
func (r *replayFlags) named(words []string) (all []*experiment.Experiment, _ error) {
	var ids []string
	for _, word := range words {
		chosen, err := experiment.Select(word)
		switch {
		case err != nil && r.page.isAddress(word):
			return nil, fmt.Errorf("%q is no experiment; to serve the page there, write --serve=%s", word, word)
		case err != nil && isFile(word):
			return nil, fmt.Errorf("there is no experiment %q; for a file: photon run %s", word, shell.Word(word))
		case err != nil:
			return nil, err
		}
		for _, id := range chosen {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	for _, id := range ids {
		e, err := experiment.Get(id)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// isFile reports whether a word that is no experiment is a file.
func isFile(word string) bool {
	info, err := os.Stat(word)
	return err == nil && !info.IsDir()
}

// replayFlags say how experiments are run.
type replayFlags struct {
	o                   labrun.Options
	world, schemes, out string
	testbed             string // file
	all                 bool
	page                pageFlags
	capture             runCaptureFlags
	log                 logFlags
}

func (r *replayFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.world, "world", "sim", "Run in this `world`: sim (virtual time), dpdk (DPDK devices, slowed down by --dilation) or both")
	f.StringVar(&r.schemes, "schemes", "", "Run these `schemes`, separated by commas, even if the experiment has others (default: the experiment's)")
	f.Uint64Var(&r.o.Seed, "seed", 0, "Begin random numbers with this `seed` (default: the experiment's)")
	f.IntVar(&r.o.Repeat, "repeat", 0,
		"Run with this `number` of seeds (default: the experiment's in virtual time, and one on dpdk)")
	f.IntVar(&r.o.Dilation, "dilation", 20,
		"Run the clock of dpdk this many `times` slower than the wall's, or more so if links are fast")
	f.StringVar(&r.testbed, "testbed", "", "Run on the cards and machines that this `file` names, with --world dpdk (docs/testbed.md)")
	f.IntVar(&r.o.Cores, "cores", 0, "Use this `number` of processors for one run in virtual time (default: one; for large networks idle ones, too)")
	f.BoolVar(&r.o.Quick, "quick", false, "Run fewer seeds and no alternatives, with the windows of claims whole")
	f.StringVar(&r.out, "out", "out", "Write results into this `folder`")
	r.page.add(f)
	r.capture.add(c)
	r.log.add(c, "Log every run that has ended, instead of one now and then")
}

// run checks the flags and runs experiments.
func (r *replayFlags) run(c *cobra.Command, all []*experiment.Experiment) error {
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
	if r.world == "sim" && c.Flags().Changed("dilation") {
		return bad(errors.New("--dilation: how many times slower dpdk runs; with --world sim nothing does"))
	}
	if err := r.checkNumbers(c); err != nil {
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
			if err := remote.Check(e, r.o.Testbed); err != nil {
				return bad(fmt.Errorf("%s: %w", e.ID, err))
			}
		}
	}
	if r.world != "sim" && r.testbed == "" {
		for _, e := range all {
			if err := labrun.CheckDPDK(e, r.o); err != nil {
				return bad(err)
			}
		}
	}
	r.o.Program = labrun.Program{Version: version, Commit: revision()}
	for _, name := range []string{"dilation", "testbed"} {
		if r.world != "sim" && c.Flags().Changed(name) {
			r.o.Flags = append(r.o.Flags, "--"+name+" "+shell.Word(c.Flags().Lookup(name).Value.String()))
		}
	}
	if c.Flags().Changed("schemes") {
		r.o.Schemes = strings.Split(r.schemes, ",")
	}
	for _, e := range all {
		if err := labrun.CheckSchemes(e, r.o.Schemes); err != nil {
			return bad(err)
		}
	}
	if err := r.page.check(); err != nil {
		return bad(err)
	}
	switch {
	case r.capture.File != "" && len(all) > 1:
		return bad(fmt.Errorf("--capture: of one experiment, not of %d", len(all)))
	case r.capture.File != "" && r.world != "sim":
		return bad(fmt.Errorf("--capture: with --world sim, not %s: `photon capture` records nodes that run", r.world))
	}
	if err := r.capture.check(c, all[0], &r.o); err != nil {
		return bad(err)
	}
	if err := r.checkWritten(all, worlds); err != nil {
		return bad(err)
	}
	if err := r.makeOut(); err != nil {
		return bad(err)
	}
	if err := r.capture.begin(&r.o); err != nil {
		return bad(err)
	}
	return r.capture.report(c.ErrOrStderr(), r.replay(c, all, worlds))
}

// makeOut makes the folder of results.
func (r *replayFlags) makeOut() error {
	if r.out == "" {
		return errors.New("--out: a name of a folder belongs here")
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// checkWritten refuses results that would be written over each other, or over what is read.
func (r *replayFlags) checkWritten(all []*experiment.Experiment, worlds []string) error {
	if err := report.CheckFolders(all); err != nil {
		return err
	}
	read := []string{r.testbed}
	write := r.capture.written()
	for _, e := range all {
		read = append(read, e.File())
		files, err := report.Files(e, r.out, worlds, r.o.Schemes)
		if err != nil {
			return err
		}
		for _, f := range files {
			write = append(write, written{path: f, by: "--out", mend: anotherFolder, of: " as a result of " + e.ID})
		}
	}
	return checkWritten(read, write)
}

// checkNumbers checks --seed, --repeat and --cores.
func (r *replayFlags) checkNumbers(c *cobra.Command) error {
	switch n := r.o.Repeat; {
	case (n < 1 || n > labrun.MostSeeds) && c.Flags().Changed("repeat"):
		return bad(fmt.Errorf("--repeat %d: from 1 to %d", n, labrun.MostSeeds))
	case r.o.Seed == 0 && c.Flags().Changed("seed"): // it would be the experiment's
		return bad(errors.New("--seed 0: from 1"))
	case !c.Flags().Changed("cores"):
		return nil
	case r.world == "dpdk":
		return bad(errors.New("--cores: how many virtual time uses; with --world dpdk ports have workers of their own"))
	case r.o.Cores < 1:
		return bad(fmt.Errorf("--cores %d: at least 1", r.o.Cores))
	}
	return nil
}

// replayed is an experiment on its way.
type replayed struct {
	e    *experiment.Experiment
	x    *lab.Replayed // nil: there is nothing of it
	err  error
	done chan struct{} // closed when the rest is there
}

// replay runs experiments, and shows them on a page if that is wanted.
func (r *replayFlags) replay(c *cobra.Command, all []*experiment.Experiment, worlds []string) error {
	work := make([]float64, len(all))
	for i, e := range all {
		work[i] = labrun.Work(e, r.o)
	}
	show := newProgress(c.ErrOrStderr(), r.log, work...)
	status, stay, err := r.page.serve(c, all, show)
	if err != nil {
		return err
	}
	return stay(r.replayAll(c, all, worlds, show, status))
}

// replayAll runs experiments, in virtual time side by side, and prints what comes
// out in their order. Runs that end are kept until all have, so that the same
// command goes on after an interruption.
func (r *replayFlags) replayAll(c *cobra.Command, all []*experiment.Experiment, worlds []string, show *progressLine, status *live.Status) error {
	o := r.o
	if status != nil {
		o.Viewer = status
	}
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
				x.x, x.err = lab.Replay(ctx, x.e, worlds, o, r.out, func(what string, s labrun.Progress) { show.moved(i, what, s) })
				if x.x != nil && x.x.Report != "" {
					status.Report(x.e, x.x.Report)
				}
				return x.err
			})
		}
	}()
	var failed error
	for _, x := range list {
		<-x.done
		if x.x != nil && x.x.Report != "" {
			failed = errors.Join(failed, show.aside(func() error { return x.x.Print(c.OutOrStdout()) }))
		}
	}
	show.end()
	if c.Context().Err() != nil {
		if err := resumeHint(list); err != nil {
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
			if err := os.RemoveAll(lab.CheckpointDir(x.e, r.out, w)); err != nil {
				return err
			}
		}
	}
	return nil
}

// resumeHint is the error of interrupted experiments: how much is done, and how to continue.
// It is nil if all had ended.
func resumeHint(list []*replayed) error {
	ended, runs, done, kept := 0, 0, 0, true
	for _, x := range list {
		var i *labrun.Interrupted
		switch {
		case x.err == nil:
			done++
		case errors.As(x.err, &i):
			ended, runs, kept = ended+i.Ended, runs+i.Runs, kept && i.Checkpoints != ""
		default:
			return x.err
		}
	}
	if done == len(list) {
		return nil
	}
	next := "the same command goes on from there"
	if !kept {
		next = "runs on a testbed are not kept, and the same command begins anew"
	}
	return fmt.Errorf("interrupted: %d of %d experiments are done, and %d of %d runs of the others; %s",
		done, len(list), ended, runs, next)
}
