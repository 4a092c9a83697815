package sim

import (
	"photon/dataplane"
	"photon/units"
)

// flight is what is on its way to a port, in the order of arrival: a link does
// not reorder.
type flight struct {
	ring       []travelling // a power of two
	head, tail uint32
}

type travelling struct {
	at    units.Time
	frame dataplane.Frame
}

func (f *flight) len() int { return int(f.tail - f.head) }

// push appends a frame that arrives at an instant, and reports whether it is the first.
func (f *flight) push(frame dataplane.Frame, at units.Time) (first bool) {
	if f.len() == len(f.ring) {
		bigger := make([]travelling, max(8, 2*len(f.ring)))
		n := f.len()
		for i := range n {
			bigger[i] = f.ring[(f.head+uint32(i))&uint32(len(f.ring)-1)]
		}
		f.ring, f.head, f.tail = bigger, 0, uint32(n)
	}
	f.ring[f.tail&uint32(len(f.ring)-1)] = travelling{at, frame}
	f.tail++
	return f.len() == 1
}

// pop removes the first frame and returns when the one after it arrives.
func (f *flight) pop() (frame dataplane.Frame, next units.Time) {
	frame = f.ring[f.head&uint32(len(f.ring)-1)].frame
	f.head++
	if f.len() == 0 {
		return frame, units.Never
	}
	return frame, f.ring[f.head&uint32(len(f.ring)-1)].at
}
