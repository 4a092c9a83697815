package dataplane

import (
	"photon/pfc"
	"photon/units"
)

// Flow control is the part of a link that says when a port may send, and how much its peer may. What stands above
// it asks two questions, and does not know who answers: whether a priority is stopped, and until when (pfc.Stops);
// and whether the peer is (grants). The answers that every frame needs are kept in fields of the port: see note.

// grants is what the receiving end of a link answers: what the peer may still send.
type grants interface {
	// Held is the set of priorities of which the peer may not send now.
	Held() uint8
	// XON is how much of a priority may be buffered so that the peer may send again.
	XON(p uint8) units.Size
}

// stops answers for what the port sends.
func (p *switchPort) stops() pfc.Stops { return &p.eg }

// grants answers for what the port's peer sends.
func (p *switchPort) grants() grants { return &p.in }
