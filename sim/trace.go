package sim

import (
	"math/bits"

	"photon/units"
)

// The trace hash is a sum over all arrivals. What each adds is a function of its time, its port, the length of the
// frame, and a digest of the headers (fabric.Frame.Digest): addresses, ports, queue pair, sequence number, marks. Two
// arrivals at one port are at different times, so the sum says no less than a chain of hashes, in which the order
// counts. And it does not depend on who adds first, so that each part of a world has a sum of its own.

// Factors are combined with these constants before they are multiplied, so that no usual value, such as 0, makes a
// product vanish: the first 64 bits of the fractions of the square roots of 2, 3, 5 and 7.
const (
	mixTime  = 0x6A09E667F3BCC908
	mixWhere = 0xBB67AE8584CAA73B
	mixWhat  = 0x3C6EF372FE94F82B
	mixBoth  = 0xA54FF53A5F1D36F1
)

// trace adds an arrival to the part's sum.
func (p *part) trace(at units.Time, id int, length uint16, digest uint32) {
	where := uint64(id)<<32 | uint64(length)
	p.hash += fold(fold(uint64(at)^mixTime, where^mixWhere)^mixBoth, uint64(digest)^mixWhat)
}

// fold is the exclusive or of the two halves of a product.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Hash is the trace hash of all arrivals so far: equal runs have equal hashes. There always is one.
func (w *World) Hash() (uint64, bool) {
	sum := uint64(emptyHash)
	for _, p := range w.parts {
		sum += p.hash
	}
	return sum, true
}

// emptyHash is that of a world in which nothing arrived: not zero, as of a world that has no hash. It is the number that
// FNV-1a begins with, but nothing else here is FNV, because a chain of bytes would cost each frame more than fold does.
const emptyHash = 0xCBF29CE484222325
