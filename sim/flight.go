package sim

import (
	"unsafe"

	"photon/fabric"
	"photon/units"
)

// flight is the frames on their way to a port, in the order in which they arrive: a link does not reorder. It is a
// ring that grows.
type flight struct {
	slots     *flying    // a power of two of them
	mask      uint32     // one less than there are slots; 0: there are none
	head, end uint32     // of the next that arrives, and of the next that is sent, modulo 2^32
	node      int32      // whose port it is
	first     units.Time // when the first arrives; units.Never: there is none
}

// flying is a frame on its way.
type flying struct {
	at    units.Time
	frame fabric.Frame // its place and its digest
}

// firstSlots is how many frames there is room for at first.
const firstSlots = 8

// len is how many frames are on their way.
func (l *flight) len() uint32 { return l.end - l.head }

func (l *flight) slot(n uint32) *flying {
	return (*flying)(unsafe.Add(unsafe.Pointer(l.slots), uintptr(n&l.mask)*unsafe.Sizeof(flying{})))
}

// carry puts a frame on its way to a port, behind all others that are.
func (p *part) carry(id int, at units.Time, f *fabric.Frame) {
	l := &p.ports[id].flight
	if l.len() >= l.mask {
		l.grow()
	}
	s := l.slot(l.end)
	s.at = at
	s.frame.Begin(f.Place(), f.Digest)
	if l.end == l.head { // else the node has an earlier event, of which all know
		l.first = at
		next := &p.nextOf[l.node]
		*next = min(*next, at)
		p.next = min(p.next, at)
	}
	l.end++
}

// grow makes room for more.
func (l *flight) grow() {
	slots := make([]flying, max(firstSlots, 2*(l.mask+1)))
	n := l.len()
	for i := range n {
		slots[i] = *l.slot(l.head + i)
	}
	l.slots, l.mask, l.head, l.end = unsafe.SliceData(slots), uint32(len(slots)-1), 0, n
}

// take takes off the first frame, of which there is one.
func (l *flight) take() *flying {
	f := l.slot(l.head)
	l.head++
	l.first = units.Never
	if l.head != l.end {
		l.first = l.slot(l.head).at
	}
	return f
}
