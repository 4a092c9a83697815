package sim

import (
	"encoding/binary"
	"math/bits"

	"photon/dataplane"
	"photon/units"
)

// The trace hash is a sum over all arrivals, of one number each that is a function of when
// it was, at which port, how long the frame, and bytes of it that tell its kind and its
// marks. Two arrivals at one port are at different times, so that their order is in what is
// added: a chain over them, one after the other, would say no more. But a sum does not depend
// on who adds first, so each part of a world has one of its own.

// What is multiplied is combined with one of these before, so that no number that is usual
// there, as 0, makes the other factor vanish: the first 64 bits behind the point of the square
// roots of 2, 3, 5, 7 and 11.
const (
	mixTime  = 0x6A09E667F3BCC908
	mixWhere = 0xBB67AE8584CAA73B
	mixStart = 0x3C6EF372FE94F82B
	mixRest  = 0xA54FF53A5F1D36F1
	mixBoth  = 0x510E527FADE682D1
)

// trace adds an arrival to the part's sum.
func (w *part) trace(p int, f *dataplane.Frame) {
	where := uint64(p)<<32 | uint64(f.Len)
	if b := w.pool.Start(f); b != nil && f.Len >= 58 {
		w.hash += digest(w.now, where, binary.LittleEndian.Uint64(b[14:]), binary.LittleEndian.Uint64(b[50:]))
		return
	}
	w.hash += bare(w.now, where)
}

// digest is what an arrival adds: when, its port and its length, and 16 bytes of the frame.
func digest(at units.Time, where, start, rest uint64) uint64 {
	return fold(fold(uint64(at)^mixTime, where^mixWhere)^mixBoth, fold(start^mixStart, rest^mixRest)^mixTime)
}

// bare is digest of a frame that is too short for those bytes.
func bare(at units.Time, where uint64) uint64 {
	return fold(fold(uint64(at)^mixTime, where^mixWhere)^mixBoth, mixRest)
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

// emptyHash is that of a world in which nothing arrived.
const emptyHash = 0xCBF29CE484222325
