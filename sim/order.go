package sim

import "math/bits"

const (
	insertionMax = 12      // arrivals: more are counted into buckets first
	maxBuckets   = 1 << 11 // a power of two
)

// sortArrivals sorts arrivals by their keys, and puts one beyond the window behind them.
func (v *visit) sortArrivals() {
	n := len(v.arrivals)
	if n > insertionMax {
		v.bucketArrivals(n)
	}
	a := v.arrivals
	for i := 1; i < len(a); i++ {
		if a[i-1].Key <= a[i].Key {
			continue
		}
		e := a[i]
		k := i
		for ; k > 0 && a[k-1].Key > e.Key; k-- {
			a[k] = a[k-1]
		}
		a[k] = e
	}
	v.arrivals = append(v.arrivals, arrival{Key: beyond})
}

// bucketArrivals sorts arrivals into buckets of equal time (a counting sort). There are two to four buckets for each
// arrival, so that few are left in wrong order.
func (v *visit) bucketArrivals(n int) {
	width := min(bits.Len(uint(n))+1, bits.Len(maxBuckets)-1)
	shift := uint(max(0, bits.Len64(uint64(v.end-v.base-1))-width)+portBits) & 63
	counts := v.counts[:1<<width+1]
	clear(counts)
	for i := range v.arrivals {
		counts[v.arrivals[i].Key>>shift+1]++
	}
	sum := uint32(0)
	for i := range counts {
		sum += counts[i]
		counts[i] = sum
	}
	if cap(v.scratch) < n+1 {
		v.scratch = make([]arrival, 2*n)
	}
	to := v.scratch[:n]
	for i := range v.arrivals {
		e := &v.arrivals[i]
		at := &counts[e.Key>>shift]
		to[*at] = *e
		*at++
	}
	v.arrivals, v.scratch = to, v.arrivals[:0]
}
