package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"photon/lab/capture"
	"photon/lab/experiment"
	labrun "photon/lab/run"
	"photon/units"
)

// runCaptureFlags say what of a run in virtual time is written for Wireshark.
type runCaptureFlags struct {
	capture.Captures
	runs []string // that are captured
}

// captureFrames is the default number of frames of a file: with packets of 1 KB some 200 MB.
const captureFrames = 200_000

func (r *runCaptureFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.File, "capture", "",
		"Write what ports receive and send in virtual time into this pcapng `file`, for Wireshark")
	f.StringSliceVar(&r.Ports, "capture-ports", nil,
		"Record only these `ports`: a port (S0>H10), all of a node (S0) or of a layer of switches (leaf)")
	f.Var(&timeFlag{&r.From}, "capture-from", "Record from this `time` on, as in 5ms")
	f.IntVar(&r.Most, "capture-count", captureFrames, "Record at most this many `frames`; 0 means all")
	f.IntVar(&r.Snap, "capture-snaplen", 0, "Keep this many `bytes` of each frame; 0 means all, and 80 hold the headers of most")
}

// timeFlag is a flag that is a time.
type timeFlag struct{ time *units.Time }

func (t *timeFlag) String() string { return "" }
func (t *timeFlag) Type() string   { return "time" }
func (t *timeFlag) Set(text string) (err error) {
	if *t.time, err = units.ParseTime(text); err == nil && *t.time < 0 {
		err = errors.New("must not be negative")
	}
	return err
}

// check finds what is wrong with the flags, for an experiment that is to be run with these options.
func (r *runCaptureFlags) check(c *cobra.Command, e *experiment.Experiment, o *labrun.Options) error {
	if r.File == "" {
		for _, name := range []string{"capture-ports", "capture-from", "capture-count", "capture-snaplen"} {
			if c.Flags().Changed(name) {
				return fmt.Errorf("--%s goes with --capture", name)
			}
		}
		return nil
	}
	if r.File == "-" {
		return errors.New("--capture -: the standard output is for results; name a file")
	}
	if r.Most < 0 || r.Snap < 0 {
		return errors.New("--capture-count and --capture-snaplen must not be negative")
	}
	for _, v := range e.Variants() {
		plan, err := v.Experiment.Plan()
		if err != nil {
			return err
		}
		if _, err := capture.Ports(plan, r.Ports); err != nil {
			return fmt.Errorf("--capture-ports: %w", err)
		}
	}
	if r.From >= e.Duration {
		return fmt.Errorf("--capture-from %v: the run ends at %v", r.From, e.Duration)
	}
	names, err := labrun.Captured(e, *o)
	r.Several, r.runs = len(names) > 1, names
	return err
}

// written are the files that are going to be written.
func (r *runCaptureFlags) written() (list []written) {
	for _, run := range r.runs {
		list = append(list, written{path: r.Name(run), by: "--capture", mend: anotherFile, of: " of " + run})
	}
	return list
}

// begin has runs with these options captured; the folder for results is there.
func (r *runCaptureFlags) begin(o *labrun.Options) error {
	if r.File == "" {
		return nil
	}
	if err := r.CheckFile(); err != nil {
		return fmt.Errorf("--capture: %w", err)
	}
	o.Capture = &r.Captures
	return nil
}

// report says what was written of runs that ended with an error, or without.
func (r *runCaptureFlags) report(w io.Writer, err error) error {
	for _, d := range r.Done() {
		if d.Err == nil {
			fmt.Fprintln(w, "captured:", &d)
			continue
		}
		failed := fmt.Errorf("--capture: %s: %w", d.File, d.Err)
		if err == nil {
			err = failed
		} else {
			err = errors.Join(err, failed)
		}
	}
	return err
}
