package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

func captureCommand() *cobra.Command {
	var at socketFlags
	var file string
	var frames, snap int
	c := &cobra.Command{
		Use:   "capture PORT -w FILE",
		Short: "Record what a port of a running switch or agent receives and sends, for Wireshark",
		Example: "  photon capture sw0 -w sw0.pcapng -c 1000\n" +
			"  photon capture sw0 -w - | wireshark -k -i -",
		Long: "Record what a port of a running switch or agent receives and sends, MAC control frames included, until Ctrl-C.\n" +
			"The file is pcapng: each frame has its direction, and its priority as a comment. `photon show ports` lists the\n" +
			"ports. The switch never waits for the recording: frames that do not fit into its ring are missing and counted.",
		Args: exactlyOne("a port (photon show ports lists them)"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case file == "":
				return bad(errors.New("say where to: -w file.pcapng, or -w - for the standard output"))
			case frames < 0:
				return bad(fmt.Errorf("--count %d must not be negative", frames))
			case snap < 1:
				return bad(fmt.Errorf("--snaplen %d: from 1 (leave it out for %s)", snap, c.Flag("snaplen").DefValue))
			}
			client, err := at.dial()
			if err != nil {
				return err
			}
			to := captureFile{Writer: c.OutOrStdout()}
			if file != "-" {
				if to, err = openCaptureFile(file); err != nil {
					return bad(err)
				}
			}
			got, err := client.Capture(c.Context(), args[0], snap, frames, to, func() {
				to.begin()
				fmt.Fprintf(c.ErrOrStderr(), "capturing on %s\n", args[0])
			})
			if err := errors.Join(err, to.end(err == nil)); err != nil {
				return answered(err)
			}
			fmt.Fprintf(c.ErrOrStderr(), "%d frames", got.Frames)
			if got.Lost > 0 {
				fmt.Fprintf(c.ErrOrStderr(), ", %d are missing: they came faster than they were written", got.Lost)
			}
			fmt.Fprintln(c.ErrOrStderr())
			return nil
		},
	}
	at.add(c)
	f := c.Flags()
	f.StringVarP(&file, "out", "w", "", "Write pcapng into this `file`, or with - to the standard output")
	f.IntVarP(&frames, "count", "c", 0, "End after this many `frames`; 0 means at Ctrl-C")
	f.IntVarP(&snap, "snaplen", "s", 2048, "Keep this many `bytes` of each frame")
	return c
}

// captureFile is the file for the frames. It keeps its old content until the capture has begun.
type captureFile struct {
	io.Writer
	file  *os.File // nil: it was opened by the caller
	fresh bool     // it was not there before
}

func openCaptureFile(name string) (r captureFile, err error) {
	_, err = os.Stat(name)
	r.fresh = errors.Is(err, os.ErrNotExist)
	r.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
	r.Writer = r.file
	return r, err
}

func (r *captureFile) begin() {
	if r.file != nil {
		_ = r.file.Truncate(0) // a pipe cannot be truncated
	}
}

// end closes the file. A new file is removed if its capture did not begin.
func (r *captureFile) end(ok bool) error {
	if r.file == nil {
		return nil
	}
	if s, err := r.file.Stat(); err == nil && !ok && r.fresh && s.Size() == 0 {
		_ = os.Remove(r.file.Name())
	}
	return r.file.Close()
}
