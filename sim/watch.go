package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"photon/dataplane"
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

// watch is what somebody wants to see.
type watch struct {
	from units.Time
	do   func(*WatchedFrame) bool
	taps []*tap // in the order in which the ports were named
}

// tap is what one port received and sent since the watcher was told last. Only the part that
// the port belongs to writes to it.
type tap struct {
	from   units.Time
	frames []tapped
	bytes  []byte
}

type tapped struct {
	at    units.Time
	begin int // in bytes
	kept  uint16
	len   uint16
	out   bool
}

// watchEvery is the time between two calls of a watcher; frames in between are buffered.
const watchEvery = 50 * units.Microsecond

// Watch has do given every frame that some ports receive or send, from an instant on and until do
// returns false, in the order of time; of one instant what came first, then by port. It may be
// called before the world runs, or in a function of Every; what happens does not depend on it.
func (w *World) Watch(ends []dataplane.End, from units.Time, do func(*WatchedFrame) bool) error {
	if w.watch != nil {
		return errors.New("sim: somebody watches already")
	}
	v := &watch{from: from, do: do}
	by := make([]*tap, len(w.ports))
	for _, e := range ends {
		id, err := w.portID(e)
		if err != nil {
			return err
		}
		if by[id] != nil {
			return fmt.Errorf("sim: port %d of %s is watched twice", e.Port, w.members[e.Node].name)
		}
		by[id] = &tap{from: from}
		v.taps = append(v.taps, by[id])
	}
	w.watch = v
	w.setTaps(by)
	w.Every(watchEvery, func(units.Time) { w.deliverWatched() })
	return nil
}

func (w *World) setTaps(taps []*tap) {
	for _, p := range w.parts {
		p.taps = taps
	}
}

// recordFrame notes the frame at hand, if somebody watches the port.
func (p *part) recordFrame(id int, out bool) {
	t := p.taps[id]
	if t == nil || p.now < t.from {
		return
	}
	b := p.pool.Bytes(&p.burst[0])
	t.frames = append(t.frames, tapped{
		at: p.now, begin: len(t.bytes), kept: uint16(len(b)), len: p.burst[0].Len, out: out,
	})
	t.bytes = append(t.bytes, b...)
}

// deliverWatched tells the watcher what was seen since the last time. Everything before now has happened.
func (w *World) deliverWatched() {
	v := w.watch
	if v == nil || v.do == nil {
		return
	}
	type place struct {
		at          units.Time
		tap, number int32
		out         bool
	}
	var order []place
	for i, t := range v.taps {
		for k := range t.frames {
			order = append(order, place{t.frames[k].at, int32(i), int32(k), t.frames[k].out})
		}
	}
	slices.SortFunc(order, func(a, b place) int {
		return cmp.Or(
			cmp.Compare(a.at, b.at), outLast(a.out, b.out), cmp.Compare(a.tap, b.tap), cmp.Compare(a.number, b.number),
		)
	})
	for _, o := range order {
		t := v.taps[o.tap]
		f := &t.frames[o.number]
		end := f.begin + int(f.kept)
		if !v.do(&WatchedFrame{At: f.at, Port: int(o.tap), Out: f.out, Len: int(f.len), Bytes: t.bytes[f.begin:end:end]}) {
			v.do = nil
			w.setTaps(nil)
			return
		}
	}
	for _, t := range v.taps {
		t.frames, t.bytes = t.frames[:0], t.bytes[:0]
	}
}

// outLast compares directions: at one instant a node gets what comes before it sends.
func outLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
