package sim

import (
	"math/bits"

	"photon/fabric"
)

const (
	insertionMax = 12      // arrivals: more are counted into buckets first
	maxBuckets   = 1 << 11 // a power of two
)

// sortArrivals sorts arrivals by their keys, and puts one beyond the window behind them.
func (v *visit) sortArrivals() {
	if len(v.keys) > insertionMax {
		v.bucketArrivals()
	}
	keys, frames := v.keys, v.frames[:len(v.keys)]
	for i := 1; i < len(keys); i++ {
		key := keys[i]
		if keys[i-1] <= key {
			continue
		}
		f := frames[i]
		k := i
		for ; k > 0 && keys[k-1] > key; k-- {
			keys[k], frames[k] = keys[k-1], frames[k-1]
		}
		keys[k], frames[k] = key, f
	}
	v.keys = append(v.keys, beyond)
}

// bucketArrivals sorts arrivals into buckets of equal time (a counting sort). There are two to four buckets for each
// arrival, so that few are left in wrong order.
func (v *visit) bucketArrivals() {
	n := len(v.keys)
	width := min(bits.Len(uint(n))+1, bits.Len(maxBuckets)-1)
	shift := uint(max(0, bits.Len64(uint64(v.end-v.base-1))-width)+portBits) & 63
	counts := v.counts[:1<<width+1]
	clear(counts)
	for _, key := range v.keys {
		counts[key>>shift+1]++
	}
	sum := uint32(0)
	for i := range counts {
		sum += counts[i]
		counts[i] = sum
	}
	if min(cap(v.otherKeys), cap(v.otherFrames)) < n+1 {
		v.otherKeys, v.otherFrames = make([]uint64, 2*n), make([]fabric.Frame, 2*n)
	}
	keys, frames, from := v.otherKeys[:n], v.otherFrames[:n], v.frames[:n]
	for i, key := range v.keys {
		at := counts[key>>shift]
		counts[key>>shift]++
		keys[at] = key
		frames[at].Begin(from[i].Place(), from[i].Digest)
	}
	v.keys, v.frames, v.otherKeys, v.otherFrames = keys, frames, v.keys[:0], v.frames[:0]
}
