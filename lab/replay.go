package lab

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/figure"
	"photon/lab/report"
	"photon/lab/run"
	"photon/lab/web/pages"
)

// Replayed is an experiment in the worlds in which it was replayed.
type Replayed struct {
	Experiment *experiment.Experiment
	Results    []*claim.Judged
	Report     string // the path of its page; empty: there are no results
}

// CheckpointDir is the folder of runs that have ended while others have not.
func CheckpointDir(e *experiment.Experiment, out, world string) string {
	return filepath.Join(report.Folder(e, out), world, "runs")
}

// Replay takes an experiment through the packages of the laboratory, in each world: it is built,
// run and measured (package run), judged (claim), written and drawn (report, figure), and at
// the end put on a page. moved is called with its progress. If it is interrupted, the schemes that
// have ended are written; then, and if runs lost frames, there are results and an error.
func Replay(ctx context.Context, e *experiment.Experiment, worlds []string, o run.Options, out string, moved func(what string, p run.Progress)) (*Replayed, error) {
	if err := report.CheckNames(e, o.Schemes); err != nil {
		return nil, err
	}
	x := &Replayed{Experiment: e}
	var stopped error
	for k, w := range worlds {
		o.World, o.Checkpoints = w, CheckpointDir(e, out, w)
		o.Progress = func(p run.Progress) {
			p.Done = (float64(k) + p.Done) / float64(len(worlds))
			moved(fmt.Sprintf("%s %s %s", e.ID, w, p.Run), p)
		}
		r, err := run.Replay(ctx, e, o)
		if stopped = err; r == nil {
			break
		}
		judged := claim.Judge(e, r)
		if err := report.Write(e, out, judged); err != nil {
			return nil, err
		}
		if err := figure.Write(e, out, r); err != nil {
			return nil, err
		}
		x.Results = append(x.Results, judged)
		if stopped != nil {
			break
		}
	}
	if len(x.Results) == 0 {
		return x, stopped
	}
	var err error
	if x.Report, err = report.Page(e, out, x.Results, pages.Write); err != nil {
		return nil, err
	}
	if stopped != nil {
		return x, stopped
	}
	return x, x.sound()
}

// sound is an error if a run lost a frame: its numbers are worth nothing.
func (x *Replayed) sound() error {
	for _, r := range x.Results {
		for i := range r.Runs {
			if run := &r.Runs[i]; !run.Sound() {
				return fmt.Errorf("%s, %s on %s: %w", x.Experiment.ID, run.Scheme, r.World, run.Invariants.Err())
			}
		}
	}
	return nil
}

// Print prints what came out for a terminal.
func (x *Replayed) Print(w io.Writer) error {
	fmt.Fprintln(w)
	if err := report.Table(w, x.Experiment, x.Results); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nreport: %s\n", x.Report)
	return nil
}
