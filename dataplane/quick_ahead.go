package dataplane

import (
	"math/bits"
	"unsafe"

	"photon/internal/memory"
	"photon/units"
)

// A large network does not fit into the caches, and what an event touches depends on
// what it has read before: the processor waits a dozen times for memory. A world
// that knows its next events can say so, step by step for all of them; the lines
// come meanwhile. Nothing of this changes anything.

// Ahead is a node that can be told what comes.
type Ahead interface {
	// Soon tells that a port will be served soon.
	Soon(port int)
	// SoonFrom is the second step, if a frame will arrive there; f says where it is,
	// and the bytes have been fetched.
	SoonFrom(now units.Time, port int, f *Frame)
}

var _ Ahead = (*Switch)(nil)

// Soon fetches what a port needs to send, or to take a frame of the first lossless priority.
func (s *Switch) Soon(port int) {
	p := &s.ports[port]
	prio := s.firstLossless()
	memory.Prefetch(unsafe.Pointer(p), 1)
	memory.Prefetch(unsafe.Pointer(&p.queues[prio]), 2)
	memory.Prefetch(unsafe.Pointer(&p.in), 1)
	p.in.Soon(prio)
}

// SoonFrom fetches what a plain frame that comes through a port will need where it leaves.
func (s *Switch) SoonFrom(now units.Time, port int, f *Frame) {
	p := &s.ports[port]
	b := p.env.single(f)
	if b == nil || !b.Plain() || p.fdb == nil {
		return
	}
	out := p.fdb.lookup(b.Dst(), b.Hash(), now)
	if out < 0 {
		return
	}
	to := &s.ports[out]
	memory.Prefetch(unsafe.Pointer(to), 1)
	memory.Prefetch(unsafe.Pointer(&to.queues[s.classes[b.TOS()].prio()]), 2)
	memory.Prefetch(unsafe.Pointer(&to.in), 1)
}

func (s *Switch) firstLossless() uint8 {
	return uint8(bits.TrailingZeros8(s.config.Lossless|0x80)) & 7
}

// Soon fetches the first bytes of a frame.
func (p *Pool) Soon(ref uint32) {
	memory.Prefetch(unsafe.Pointer(&p.chunk(ref)[p.place(ref)]), 1)
}
