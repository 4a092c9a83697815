// Package pcapng writes what ports receive and send for Wireshark. It is apart
// from telemetry because the tables of protocols that come with the writer are
// megabytes, which what only asks a node need not carry.
package pcapng

import (
	"context"
	"io"
	"time"

	"photon/fabric"
	"photon/units"
)

// Capture is frames of one port on their way to a file.
type Capture struct {
	Port string // its name
	Tap  *fabric.Tap
	Wall func(units.Time) time.Time // of an instant of the node's
}

// Stream writes pcapng until the context ends: an interface of the port's name,
// and for each frame its direction and, as a comment, its priority.
func (c *Capture) Stream(ctx context.Context, w io.Writer, flush func() error) error {
	file, err := New(w, Interface{Name: c.Port})
	if err != nil {
		return err
	}
	seen := uint64(0)
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	over := false
	for first := true; ; first = false {
		had := seen
		for c.Tap.Take(func(f *fabric.Tapped) { err = c.write(file, f) }) {
			if err != nil {
				return err
			}
			seen++
		}
		if seen > had || first { // the first is the head of the file: it says that the capture is on
			if err := file.Flush(); err != nil {
				return err
			}
			if err := flush(); err != nil {
				return err
			}
		}
		if over { // with what came since the look before
			return file.End(time.Now(), c.Tap.Lost())
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			over = true
		}
	}
}

func (c *Capture) write(file *File, f *fabric.Tapped) error {
	return file.Write(0, &Frame{
		At: c.Wall(f.At), Out: f.Out, Priority: f.Priority, Len: f.Len, Bytes: f.Bytes, Lost: f.Lost,
	})
}
