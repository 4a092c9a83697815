package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"photon/fabric"
	"photon/units"
)

// WatchedFrame is a frame that a port received or sent.
type WatchedFrame struct {
	At    units.Time // its last bit has come, or its first leaves
	Port  int        // among those that are watched
	Out   bool       // the node sent it
	Len   int        // without FCS
	Bytes []byte     // those at hand: all, or the first; valid until the function that is given them returns
}

// watch is what a watcher asked for.
type watch struct {
	do   func(*WatchedFrame) bool // nil: it has seen enough
	taps []*tap                   // in the order in which the ports were named
}

// tap is what one port received and sent since the watcher was called last, in that order. Only the part that the port
// belongs to writes to it.
type tap struct {
	from   units.Time
	frames []tapped
	bytes  []byte // of all frames
}

type tapped struct {
	at       units.Time
	begin    int    // in the tap's bytes
	captured uint16 // bytes
	len      uint16
	out      bool
}

// watchEvery is how often a watcher is given frames. In between they are buffered.
const watchEvery = 50 * units.Microsecond

// Watch has do given every frame that some ports receive or send, from an instant on and until do
// returns false, in the order of time. At one instant, frames that were received come first, then lower ports. It may be
// called before the world runs, or in a function of Every; what happens does not depend on it.
func (w *World) Watch(ends []fabric.End, from units.Time, do func(*WatchedFrame) bool) error {
	if w.watch != nil {
		return errors.New("sim: somebody watches already")
	}
	v := &watch{do: do}
	taps := make([]*tap, len(w.ports))
	for _, e := range ends {
		id, err := w.portID(e)
		if err != nil {
			return err
		}
		if taps[id] != nil {
			return fmt.Errorf("sim: port %d of %s is watched twice", e.Port, w.members[e.Node].name)
		}
		taps[id] = &tap{from: from}
		v.taps = append(v.taps, taps[id])
	}
	w.watch = v
	w.setTaps(taps)
	w.Every(watchEvery, func(units.Time) { w.deliverWatched() })
	return nil
}

func (w *World) setTaps(taps []*tap) {
	for _, p := range w.parts {
		p.taps = taps
	}
}

// watched reports whether one of some ports is watched: their frames are noted one by one.
func (p *part) watched(first, ports int) bool {
	return p.taps != nil && slices.ContainsFunc(p.taps[first:first+ports], func(t *tap) bool { return t != nil })
}

// recordFrame notes a frame for the watcher, if the port is watched.
func (p *part) recordFrame(id int, f *fabric.Frame, out bool) {
	t := p.taps[id]
	if t == nil || p.now < t.from {
		return
	}
	b := p.pool.Bytes(f)
	t.frames = append(t.frames, tapped{
		at: p.now, begin: len(t.bytes), captured: uint16(len(b)), len: f.Len, out: out,
	})
	t.bytes = append(t.bytes, b...)
}

// deliverWatched gives the watcher what was noted since the last time. All events before now have been handled.
func (w *World) deliverWatched() {
	v := w.watch
	if v == nil || v.do == nil {
		return
	}
	for _, n := range v.sorted() {
		f, bytes := n.tapped, v.taps[n.tap].bytes
		end := f.begin + int(f.captured)
		if !v.do(&WatchedFrame{At: f.at, Port: n.tap, Out: f.out, Len: int(f.len), Bytes: bytes[f.begin:end:end]}) {
			v.do = nil
			w.setTaps(nil)
			return
		}
	}
	for _, t := range v.taps {
		t.frames, t.bytes = t.frames[:0], t.bytes[:0]
	}
}

// notedFrame is a frame that was noted, and the number of the tap.
type notedFrame struct {
	*tapped
	tap int
}

// sorted is all that was noted, in the order in which the watcher is given it.
func (v *watch) sorted() (list []notedFrame) {
	for i, t := range v.taps {
		for k := range t.frames {
			list = append(list, notedFrame{&t.frames[k], i})
		}
	}
	slices.SortStableFunc(list, func(a, b notedFrame) int { // stable: a tap's frames are in order
		if a.at == b.at && a.out != b.out {
			if b.out {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.tap, b.tap))
	})
	return list
}
