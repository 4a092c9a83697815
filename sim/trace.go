package sim

import (
	"math/bits"

	"photon/dataplane"
)

// The trace hash is a sum over all arrivals, of one number each that is a function of when
// it was, at which port, how long the frame, and what the frame's value says of its headers
// (dataplane.Frame.Digest): addresses, ports, queue pair, sequence number, marks. Two arrivals at
// one port are at different times, so that their order is in what is added: a chain over them, one
// after the other, would say no more. But a sum does not depend on who adds first, so each part of
// a world has one of its own.

// What is multiplied is combined with one of these before, so that no number that is usual
// there, as 0, makes the other factor vanish: the first 64 bits behind the point of the square
// roots of 2, 3, 5 and 7.
const (
	mixTime  = 0x6A09E667F3BCC908
	mixWhere = 0xBB67AE8584CAA73B
	mixWhat  = 0x3C6EF372FE94F82B
	mixBoth  = 0xA54FF53A5F1D36F1
)

// trace adds an arrival to the part's sum.
func (w *part) trace(p int, f *dataplane.Frame) {
	where := uint64(p)<<32 | uint64(f.Len)
	w.hash += fold(fold(uint64(w.now)^mixTime, where^mixWhere)^mixBoth, uint64(f.Digest)^mixWhat)
}

// fold is the product of two numbers, its upper half over its lower.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Hash is a function of every arrival so far, which two equal runs have in common;
// it is there always.
func (w *World) Hash() (uint64, bool) {
	sum := uint64(emptyHash)
	for _, p := range w.parts() {
		sum += p.hash
	}
	return sum, true
}

// emptyHash is that of a world in which nothing arrived: not zero, as of a world that has no hash. It is the number that
// FNV-1a begins with, but nothing else here is FNV, because a chain of bytes would cost each frame more than fold does.
const emptyHash = 0xCBF29CE484222325
