package fabric

import (
	"photon/units"
	"photon/wire"
)

// Link is one direction of a cable between two ports.
type Link struct {
	Rate  units.Rate // bits on the wire per second
	Delay units.Time // of propagation, one way
	// Overhead is how many bytes a frame occupies beyond those that nodes see; 0
	// means an Ethernet frame's 24, NoOverhead means none.
	Overhead int
}

// NoOverhead is a Link's Overhead of no bytes, for comparing with simulators that count frames without preamble, FCS
// and gap.
const NoOverhead = -1

// WireBytes is what a frame of length bytes without FCS occupies on the link.
func (l Link) WireBytes(length int) int { return length + l.overhead() }

func (l Link) overhead() int {
	switch l.Overhead {
	case 0:
		return wire.Overhead
	case NoOverhead:
		return 0
	}
	return l.Overhead
}

// Serialize is how long a frame of length bytes occupies the link.
func (l Link) Serialize(length int) units.Time {
	return l.Rate.Serialize(units.Size(l.WireBytes(length)))
}
