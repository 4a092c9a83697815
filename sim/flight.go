package sim

import (
	"photon/dataplane"
	"photon/units"
)

// flight is what is on its way through one direction of a link, in the order of
// arrival: a link does not reorder. Of a frame it keeps what travels, so that
// four share a line of the cache.
type flight struct {
	ring       []travelling // a power of two
	head, tail uint32
}

type travelling struct {
	at  units.Time
	ref uint32
	len uint16
	off uint16
}

func (f *flight) len() int { return int(f.tail - f.head) }

// push appends a frame that arrives at an instant, and reports whether it is the
// first to arrive.
func (f *flight) push(frame *dataplane.Frame, at units.Time) (first bool) {
	if int(f.tail-f.head) == len(f.ring) {
		f.grow()
	}
	f.ring[f.tail&uint32(len(f.ring)-1)] = travelling{at, frame.Ref, frame.Len, frame.Off}
	f.tail++
	return f.tail-f.head == 1
}

func (f *flight) grow() {
	bigger := make([]travelling, max(4, 2*len(f.ring)))
	held := f.len()
	for i := range held {
		bigger[i] = f.ring[(f.head+uint32(i))&uint32(len(f.ring)-1)]
	}
	f.ring, f.head, f.tail = bigger, 0, uint32(held)
}

// pop removes the first frame, of which there must be one, and says when the next
// arrives; units.Never if there is none.
func (f *flight) pop(frame *dataplane.Frame) (next units.Time) {
	t := &f.ring[f.head&uint32(len(f.ring)-1)]
	*frame = dataplane.Frame{Ref: t.ref, Len: t.len, Off: t.off}
	if f.head++; f.head == f.tail {
		f.head, f.tail = 0, 0 // a short one stays in the same lines
		return units.Never
	}
	return f.ring[f.head&uint32(len(f.ring)-1)].at
}
