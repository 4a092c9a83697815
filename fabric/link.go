package fabric

import (
	"photon/units"
	"photon/wire"
)

// Link is one direction of a cable between two ports.
type Link struct {
	Rate  units.Rate // bits on the wire per second
	Delay units.Time // propagation, one way
	// Overhead is what a frame occupies beyond the bytes that nodes see; zero
	// means an Ethernet frame's 24 bytes, NoOverhead means none.
	Overhead int
}

// NoOverhead is for comparing with simulators that count frames without preamble, FCS and gap.
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
