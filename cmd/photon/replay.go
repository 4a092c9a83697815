package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"photon/dataplane/dpdk"
	"photon/lab"
	"photon/lab/testbed"
)

func replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay ID...",
		Short: "Repeat experiments of papers and lay the papers' numbers beside ours",
		Long: "Repeat experiments of papers, in virtual time or on DPDK, and lay the papers' numbers beside ours.\n" +
			"`photon list experiments` shows the ids. Results go to OUT/<id, slashes as dashes>/<world>/: result.json,\n" +
			"timing.json, and for each scheme its series as CSV and its plot as PNG; the report is beside the worlds.",
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
}

func (r *replayFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.world, "world", "sim", "where: sim (virtual time), dpdk (DPDK devices, dilated real time) or both")
	f.StringVar(&r.schemes, "schemes", "", "only these, separated by commas; others than the experiment's too (default: the experiment's)")
	f.Uint64Var(&r.o.Seed, "seed", 0, "of everything random (default: the experiment's)")
	f.IntVar(&r.o.Dilation, "dilation", 20, "how many times slower than the wall the clock runs on dpdk")
	f.StringVar(&r.testbed, "testbed", "", "`file` that says where the nodes are, with --world dpdk: cards of this machine, switches and agents elsewhere (docs/testbed.md)")
	f.BoolVar(&r.o.Quick, "quick", false, "leave out what no claim needs: repetitions, and the runs of other choices; windows in which claims are judged stay whole")
	f.StringVar(&r.out, "out", "out", "folder for results")
}

// run runs experiments one after the other.
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
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return bad(fmt.Errorf("--out: %w", err))
	}
	for _, e := range all {
		if err := replay(c, e, worlds, r.o, r.out); err != nil {
			return err
		}
	}
	return nil
}

// replay runs one experiment in each world, writes its results and its report,
// and prints the table of claims.
func replay(c *cobra.Command, e *lab.Experiment, worlds []string, o lab.Options, out string) error {
	var results []*lab.Result
	for _, w := range worlds {
		o.World = w
		progress := newProgress(c.ErrOrStderr())
		o.Progress = func(scheme string, done float64) { progress.show(fmt.Sprintf("%s %-4s %-8s", e.ID, w, scheme), done) }
		r, err := e.Replay(c.Context(), o)
		progress.end()
		if err != nil {
			return err
		}
		if err := e.Write(out, r); err != nil {
			return err
		}
		results = append(results, r)
	}
	path, err := e.Report(out)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.OutOrStdout())
	if err := lab.Table(c.OutOrStdout(), results); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "\nreport: %s\n", path)
	return invariants(results)
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
