package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"photon/dataplane"
	"photon/telemetry"
	"photon/telemetry/pcapng"
	"photon/units"
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
			"ports. The switch never waits for the recording: what its ring does not hold is missing and counted.",
		Args: one("a port (photon show ports lists them)"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case file == "":
				return bad(errors.New("say where to: -w file.pcapng, or -w - for the standard output"))
			case frames < 0:
				return bad(fmt.Errorf("--count %d must not be negative", frames))
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
	f.StringVarP(&file, "write", "w", "", "pcapng `file`, or - for the standard output")
	f.IntVarP(&frames, "count", "c", 0, "end after so many `frames` (0: at Ctrl-C)")
	f.IntVarP(&snap, "snaplen", "s", 2048, "`bytes` kept of each frame")
	return c
}

// captureFile is the file that frames go to. What it held before is there until the capture has begun.
type captureFile struct {
	io.Writer
	file  *os.File // nil: it is none of ours
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
		_ = r.file.Truncate(0) // a pipe has nothing to be cut off
	}
}

// end closes the file. One that was made for a capture that did not come about is removed.
func (r *captureFile) end(ok bool) error {
	if r.file == nil {
		return nil
	}
	if s, err := r.file.Stat(); err == nil && !ok && r.fresh && s.Size() == 0 {
		_ = os.Remove(r.file.Name())
	}
	return r.file.Close()
}

// tapFrames is how many frames a port's ring holds: 10 ms of small ones at a
// million a second.
const tapFrames = 8192

// taps are the ports that are being captured.
type taps struct {
	sync.Mutex
	on map[int]bool
}

// capture has the frames of a port copied.
func (d *daemon) capture(port string, snap int) (telemetry.Stream, func(), error) {
	number, err := d.number(port)
	if err != nil {
		return nil, nil, err
	}
	d.taps.Lock()
	defer d.taps.Unlock()
	if d.taps.on[number] {
		return nil, nil, fmt.Errorf("port %s is being captured already", port)
	}
	var n node
	d.world.DoBriefly(func(units.Time) { n = d.node }) // which a reload may replace
	tap := dataplane.NewTap(tapFrames, snap, n.Priority)
	at := dataplane.End{Node: d.id, Port: number}
	var start units.Time
	var wall time.Time
	d.world.DoBriefly(func(now units.Time) {
		d.world.Tap(at, tap)
		start, wall = now, time.Now()
	})
	if d.taps.on == nil {
		d.taps.on = map[int]bool{}
	}
	d.taps.on[number] = true
	d.log.Infof("port %s is being captured", port)
	c := &pcapng.Capture{Port: port, Tap: tap, Wall: func(t units.Time) time.Time { return wall.Add((t - start).Duration()) }}
	return c.Stream, func() {
		d.world.DoBriefly(func(units.Time) { d.world.Tap(at, nil) })
		d.taps.Lock()
		defer d.taps.Unlock()
		delete(d.taps.on, number)
		d.log.Infof("port %s is not captured any more: %d frames were missed", port, tap.Lost())
	}, nil
}
