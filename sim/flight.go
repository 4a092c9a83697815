package sim

import (
	"unsafe"

	"photon/dataplane"
	"photon/units"
)

// flight is what is on its way to a port, in the order in which it arrives: a link does not
// reorder. It is a ring that grows.
type flight struct {
	slots     *flying    // as many as mask says
	mask      uint32     // one less than there are slots, which are a power of two; 0: there are none
	head, end uint32     // of the next that arrives, and of the next that is sent, modulo 2^32
	member    int32      // whose port it is
	first     units.Time // when the first arrives; units.Never: there is none
}

// flying is a frame on its way.
type flying struct {
	at     units.Time
	place  uint64
	digest uint32
}

// shortest is how many frames there is room for at first.
const shortest = 8

func (l *flight) slot(n uint32) *flying {
	return (*flying)(unsafe.Add(unsafe.Pointer(l.slots), uintptr(n&l.mask)*unsafe.Sizeof(flying{})))
}

// land lets a frame arrive at a port, after all that is on its way there.
func (w *part) land(port int, at units.Time, f *dataplane.Frame) {
	l := &w.ports[port].flight
	if l.end-l.head >= l.mask {
		l.grow()
	}
	s := l.slot(l.end)
	s.at, s.place, s.digest = at, f.Place(), f.Digest
	if l.end == l.head {
		l.first = at
	}
	l.end++
	soon := &w.soon[l.member]
	*soon = min(*soon, at)
	w.first = min(w.first, at)
}

// grow makes room for more.
func (l *flight) grow() {
	slots := make([]flying, max(shortest, 2*(l.mask+1)))
	n := l.end - l.head
	for i := range n {
		slots[i] = *l.slot(l.head + i)
	}
	l.slots, l.mask, l.head, l.end = unsafe.SliceData(slots), uint32(len(slots)-1), 0, n
}

// take takes the first frame off, of which there is one.
func (l *flight) take() *flying {
	f := l.slot(l.head)
	l.head++
	l.first = units.Never
	if l.head != l.end {
		l.first = l.slot(l.head).at
	}
	return f
}
