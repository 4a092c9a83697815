package dpdk

import (
	"math/bits"

	"photon/units"
	"photon/wire"
)

// descriptors are those of each of a device's rings, unless a card's receive ring needs more of them.
const descriptors = 1024

// mostDescriptors is what an 82599 has, and many others. More of them would fill a cache with frames that nobody has
// looked at yet.
const mostDescriptors = 4096

// Descriptors is how many receive descriptors a card needs for nothing to be lost in a gap between two polls while the
// shortest frames come at its rate; a power of two, which some cards want, and as many as there can be if the rate is not
// known.
func Descriptors(rate units.Rate, gap units.Time) int {
	switch {
	case gap <= 0:
		return descriptors
	case rate <= 0:
		return mostDescriptors
	}
	frames := (gap + Shortest(rate) - 1) / Shortest(rate)
	return min(max(1<<bits.Len64(uint64(frames)-1), descriptors), mostDescriptors)
}

// Shortest is the time that the shortest frame takes of a link, by which a ring of descriptors is full the soonest.
func Shortest(rate units.Rate) units.Time { return rate.Serialize(wire.MinFrameLen + wire.Overhead) }
