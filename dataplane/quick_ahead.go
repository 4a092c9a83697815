package dataplane

import (
	"unsafe"

	"photon/wire"
)

// A world that knows its next events can fetch what they need into the cache meanwhile.
// Nothing of this changes anything.

// Near is a node that says where it keeps what every frame at a port needs first.
type Near interface {
	Near(port int) unsafe.Pointer // to a line of the cache
}

var _ Near = (*Switch)(nil)

// Near is where what every frame needs of a port is.
func (s *Switch) Near(port int) unsafe.Pointer { return unsafe.Pointer(&s.ports[port]) }

// Head is the first bytes of a frame in a buffer, if nothing was put before those with
// which it was made, or taken away.
func (p *Pool) Head(ref uint32) *wire.Quick {
	at := p.place(ref) + int(p.off)
	return (*wire.Quick)(p.chunk(ref)[at : at+wire.QuickLen])
}
