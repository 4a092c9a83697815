package dataplane

import (
	"math/bits"
	"unsafe"

	"photon/internal/memory"
	"photon/wire"
)

// A world that knows its next events can say so, for several of them together: the
// lines of the cache that they need come meanwhile. Nothing of this changes anything.

// Ahead is a node that can be told what comes.
type Ahead interface {
	// Soon tells that a frame that begins like this will arrive at a port; b is nil if
	// that is not known, or if the port will be served. It returns the port through which
	// the frame will leave, perhaps, or a negative number.
	Soon(port int, b *wire.Quick) (out int)
}

var _ Ahead = (*Switch)(nil)

// Soon fetches what a port needs to send a frame of the first lossless priority, or to
// take one, and what the port needs to which that goes.
func (s *Switch) Soon(port int, b *wire.Quick) (out int) {
	p := &s.ports[port]
	if b == nil {
		q := &p.queues[s.firstLossless()]
		memory.Prefetch4(unsafe.Pointer(p), unsafe.Pointer(q), unsafe.Pointer(&q.lane), unsafe.Pointer(p))
		return noPort
	}
	prio, fdb := s.classes[b.TOS()].prio(), s.ports[0].fdb // mostly all ports have the same, and p has not come yet
	if fdb == nil {
		memory.Prefetch4(unsafe.Pointer(p), p.in.Line(prio), unsafe.Pointer(p), unsafe.Pointer(p))
		return noPort
	}
	if out = fdb.soon(b); out < 0 {
		memory.Prefetch4(unsafe.Pointer(p), p.in.Line(prio), unsafe.Pointer(p), unsafe.Pointer(p))
		return out
	}
	to := &s.ports[out]
	memory.Prefetch4(unsafe.Pointer(p), p.in.Line(prio), unsafe.Pointer(to), unsafe.Pointer(&to.queues[prio].lane))
	return out
}

// soon is the port to which a frame will go, if that is a static entry in a row; else
// it fetches the entry.
func (t *fdb) soon(b *wire.Quick) int {
	dst := b.Dst()
	if e := t.row.entry(dst); e != 0 {
		return t.static(e, b.Hash())
	}
	memory.Prefetch(unsafe.Pointer(&t.entries[t.home(dst)]), 1)
	return noPort
}

func (s *Switch) firstLossless() uint8 {
	return uint8(bits.TrailingZeros8(s.config.Lossless|0x80)) & 7
}

// Head is the first bytes of a new frame in a buffer, as far as nothing was put before
// them since.
func (p *Pool) Head(ref uint32) *wire.Quick {
	at := p.place(ref) + int(p.off)
	return (*wire.Quick)(p.chunk(ref)[at : at+wire.QuickLen])
}
