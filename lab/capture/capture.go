// Package capture writes what ports of a network receive and send in virtual time as pcapng, for Wireshark.
package capture

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"

	"photon/fabric"
	"photon/lab/build"
	"photon/sim"
	"photon/telemetry/pcapng"
	"photon/units"
	"photon/wire"
)

// Wanted says what is written.
type Wanted struct {
	File  string
	Ports []string   // see Ports
	From  units.Time // not what was before
	Most  int        // frames; 0: all
	Snap  int        // bytes of each; 0: all
}

// CheckFile finds out whether there can be such a file.
func (w *Wanted) CheckFile() error {
	if s, err := os.Stat(w.File); err == nil && s.IsDir() {
		return fmt.Errorf("%s is a folder", w.File)
	}
	if s, err := os.Stat(filepath.Dir(w.File)); err != nil || !s.IsDir() {
		return fmt.Errorf("%s: there is no folder %s", w.File, filepath.Dir(w.File))
	}
	return nil
}

// Captures are the files of the runs of one replay.
type Captures struct {
	Wanted
	Several bool // runs: each has a file of its own, with its name in it

	lock sync.Mutex
	done []Done
}

// Done is what became of a file.
type Done struct {
	File   string
	Ports  int
	Frames int
	Full   units.Time // when the last frame was that there was to be; Never: there were not so many
	Err    error
}

// file is one that is being written.
type file struct {
	w     *Wanted
	ports []Port
	out   *os.File
	whole *renameio.PendingFile // out, which becomes the file when the run has ended; nil: it is the file
	buf   *bufio.Writer
	ng    *pcapng.File
	frame []byte // at hand
	last  units.Time
	Done
}

// Begin has a run captured that is about to begin; end is called when it has ended.
func (c *Captures) Begin(n *build.Network, run string) (end func(), err error) {
	world, ok := n.World.(*sim.World)
	if !ok {
		return nil, errors.New("only what happens in virtual time is captured so")
	}
	f := &file{w: &c.Wanted, Done: Done{File: c.Name(run), Full: units.Never}}
	if f.ports, err = Ports(n.Plan, c.Ports); err != nil {
		return nil, err
	}
	f.Done.Ports = len(f.ports)
	var as []pcapng.Interface
	var ends []fabric.End
	for _, p := range f.ports {
		as = append(as, pcapng.Interface{Name: p.Name, Description: p.Description})
		ends = append(ends, fabric.End{Node: n.IDs[p.Node], Port: p.Port})
	}
	if err := f.create(); err != nil {
		return nil, err
	}
	f.buf = bufio.NewWriterSize(f.out, 1<<18)
	if f.ng, err = pcapng.New(f.buf, as...); err == nil {
		err = world.Watch(ends, c.From, f.add)
	}
	if err != nil {
		f.Err = err
		return nil, f.close()
	}
	return func() {
		f.end()
		c.lock.Lock()
		defer c.lock.Unlock()
		c.done = append(c.done, f.Done)
	}, nil
}

// Name is the file's of a run.
func (c *Captures) Name(run string) string {
	if !c.Several {
		return c.File
	}
	ext := filepath.Ext(c.File)
	return strings.TrimSuffix(c.File, ext) + "-" + strings.ReplaceAll(run, "/", "-") + ext
}

// Done is what became of the files so far.
func (c *Captures) Done() []Done {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.done
}

// add writes a frame. It reports false if nothing more is to be written.
func (f *file) add(s *sim.WatchedFrame) bool {
	f.last = s.At
	f.Err = f.ng.Write(s.Port, &pcapng.Frame{
		At: wall(s.At), Out: s.Out, Priority: build.Priority(s.Bytes), Len: s.Len, Bytes: f.bytes(s),
	})
	if f.Err != nil {
		return false
	}
	if f.Frames++; f.Frames == f.w.Most {
		f.Full = s.At
		return false
	}
	return true
}

// create opens what is written. An earlier file stays until there is another one, whole: of a run that failed or was
// interrupted, with what was until then. What is no regular file, as a pipe, is written as it is.
func (f *file) create() (err error) {
	path := f.File
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one
	}
	if s, err := os.Stat(path); err == nil && !s.Mode().IsRegular() {
		f.out, err = os.Create(path)
		return err
	}
	f.whole, err = renameio.NewPendingFile(path, renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
	if err == nil {
		f.out = f.whole.File
	}
	return err
}

// close ends the file, or leaves the earlier one if something went wrong.
func (f *file) close() error {
	switch {
	case f.whole == nil:
		return cmp.Or(f.Err, f.out.Close())
	case f.Err != nil:
		_ = f.whole.Cleanup()
		return f.Err
	}
	return f.whole.CloseAtomicallyReplace()
}

// end writes what is left.
func (f *file) end() {
	if f.Err == nil {
		f.Err = f.ng.End(wall(f.last), 0)
	}
	if f.Err == nil {
		f.Err = f.buf.Flush()
	}
	f.Err = f.close()
}

// wall is an instant of virtual time as a file has it: runs begin with 1970.
func wall(at units.Time) time.Time { return time.Unix(0, int64(at.Duration())) }

// bytes are what is kept of a frame. Virtual time carries headers only: the payload is the zeros that hosts send on
// DPDK, with the invariant CRC that belongs to it. What follows the headers of other protocols is not known.
func (f *file) bytes(s *sim.WatchedFrame) []byte {
	snap := s.Len
	if f.w.Snap > 0 {
		snap = min(snap, f.w.Snap)
	}
	if len(s.Bytes) == s.Len {
		return s.Bytes[:snap]
	}
	var h wire.Header
	wire.Parse(s.Bytes, &h)
	end := headers(s.Bytes, &h)
	if h.BTH == 0 || snap <= end {
		return s.Bytes[:min(snap, end)]
	}
	f.frame = append(f.frame[:0], s.Bytes[:end]...)
	f.frame = append(f.frame, make([]byte, s.Len-end)...)
	wire.SealICRC(f.frame[h.L3:], h.BTH-h.L3)
	return f.frame[:snap]
}

// headers is how long the headers are of a frame of which these are the first bytes.
func headers(b []byte, h *wire.Header) int {
	switch {
	case h.BTH > 0:
		bth := wire.BTH(b[h.BTH:])
		end := h.BTH + wire.BTHLen + wire.ExtensionsLen(bth.Extensions())
		if bth.Opcode() == wire.OpAcknowledge {
			end += wire.AETHLen
		}
		return end
	case h.L4 > 0:
		return h.L4
	}
	return h.Payload
}

// String is a line for a terminal, of a file that was written.
func (d *Done) String() string {
	ports := "ports"
	if d.Ports == 1 {
		ports = "port"
	}
	s := fmt.Sprintf("%s: %d frames of %d %s", d.File, d.Frames, d.Ports, ports)
	if d.Full != units.Never {
		s += fmt.Sprintf(", until %v: what came later is not in it", d.Full)
	}
	return s
}
