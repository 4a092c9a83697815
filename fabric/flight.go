package fabric

import "photon/units"

// Flight is what is on its way through one direction of a link, in the order of arrival: a link does not
// reorder. Ports on DPDK whose links are emulated have one each; the simulator has a leaner one of its own.
type Flight struct {
	ring       []travelling // a power of two
	head, tail uint32
}

type travelling struct {
	at    units.Time
	frame Frame
}

// Len is the number of frames on their way.
func (f *Flight) Len() int { return int(f.tail - f.head) }

// Push appends a frame that arrives at an instant, which is not before that of the last.
func (f *Flight) Push(frame Frame, at units.Time) {
	if f.Len() == len(f.ring) {
		f.Reserve(2 * len(f.ring))
	}
	f.ring[f.tail&uint32(len(f.ring)-1)] = travelling{at, frame}
	f.tail++
}

// Reserve makes room for n frames ahead of time.
func (f *Flight) Reserve(n int) {
	size := 8
	for size < n {
		size *= 2
	}
	if size <= len(f.ring) {
		return
	}
	bigger := make([]travelling, size)
	length := f.Len()
	for i := range length {
		bigger[i] = f.ring[(f.head+uint32(i))&uint32(len(f.ring)-1)]
	}
	f.ring, f.head, f.tail = bigger, 0, uint32(length)
}

// Next is when the first frame arrives, or units.Never.
func (f *Flight) Next() units.Time {
	if f.head == f.tail {
		return units.Never
	}
	return f.ring[f.head&uint32(len(f.ring)-1)].at
}

// Pop removes the first frame; there must be one.
func (f *Flight) Pop() Frame {
	f.head++
	return f.ring[(f.head-1)&uint32(len(f.ring)-1)].frame
}

// Rebase implements units.Rebaser.
func (f *Flight) Rebase(by units.Time) {
	for i := range f.ring {
		f.ring[i].at.Rebase(by)
	}
}
