package dataplane

import (
	"math/bits"
	"unsafe"

	"photon/internal/memory"
)

// A world that knows its next events can say so, for several of them together: the
// lines of the cache that they need come meanwhile. Nothing of this changes anything.

// Ahead is a node that can be told what comes.
type Ahead interface {
	// Soon tells that a frame will arrive at a port, or, if f is nil, that the port will
	// be served. f says where the frame is, and no more.
	Soon(port int, f *Frame)
}

var _ Ahead = (*Switch)(nil)

// Soon fetches what a port needs to send, or to take a frame of the first lossless
// priority, and what tells where that leaves.
func (s *Switch) Soon(port int, f *Frame) {
	p, prio := &s.ports[port], s.firstLossless()
	q := &p.queues[prio]
	if f == nil {
		memory.Prefetch4(unsafe.Pointer(p), unsafe.Pointer(q), unsafe.Pointer(&q.lane), unsafe.Pointer(p))
		return
	}
	memory.Prefetch4(unsafe.Pointer(p), unsafe.Pointer(&q.lane), p.in.Line(prio), s.line(f))
}

// line is where a frame's destination is in the forwarding database, by the first
// port: the port itself has not come yet.
func (s *Switch) line(f *Frame) unsafe.Pointer {
	p := &s.ports[0]
	b := p.env.single(f)
	if b == nil || p.fdb == nil {
		return unsafe.Pointer(p)
	}
	return unsafe.Pointer(&p.fdb.entries[p.fdb.home(b.Dst())])
}

func (s *Switch) firstLossless() uint8 {
	return uint8(bits.TrailingZeros8(s.config.Lossless|0x80)) & 7
}

// Line is where the first bytes of a new frame are in a buffer.
func (p *Pool) Line(ref uint32) unsafe.Pointer {
	return unsafe.Pointer(&p.chunk(ref)[p.place(ref)+int(p.off)])
}
