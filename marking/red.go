package marking

import (
	"fmt"
	"math/rand/v2"

	"photon/units"
)

// REDParams are the marking curve of DCQCN (SIGCOMM'15 section 3.1), a RED
// curve on the instantaneous queue. SONiC calls them min_threshold,
// max_threshold and drop_probability.
type REDParams struct {
	Kmin units.Size // at most this much queued: no mark
	Kmax units.Size // more than this queued: every frame is marked
	Pmax float64    // probability just below Kmax, 0 to 1
}

// Validate says what is wrong with the parameters, in one line.
func (p REDParams) Validate() error {
	switch {
	case p.Kmin < 0:
		return fmt.Errorf("kmin %v must not be negative", p.Kmin)
	case p.Kmax < p.Kmin:
		return fmt.Errorf("kmax %v is below kmin %v", p.Kmax, p.Kmin)
	case !(p.Pmax >= 0 && p.Pmax <= 1):
		return fmt.Errorf("pmax %v is not a probability (0 to 1)", p.Pmax)
	}
	return nil
}

// RED is the congestion point of DCQCN: it marks with a probability that grows with
// the queue.
type RED struct {
	kmin, kmax int64
	span       int64 // over which the probability grows by pmax
	pmax       int64 // in units of 2^-31: integers decide, so that a run repeats on any machine
	random     rand.PCG
}

var (
	_ Runner   = (*RED)(nil)
	_ Idler    = (*RED)(nil)
	_ ByLength = (*RED)(nil)
)

// NewRED returns a congestion point that draws from its own sequence, given by seed.
func NewRED(p REDParams, seed uint64) *RED {
	r := &RED{kmin: int64(p.Kmin), kmax: int64(p.Kmax), span: int64(p.Kmax - p.Kmin), pmax: int64(p.Pmax * (1 << 31))}
	for ; r.span > 1<<32; r.span /= 2 { // a part of the curve, with as steep a slope: products have 63 bits
		r.pmax /= 2
	}
	r.random.Seed(seed, 0x52ED)
	return r
}

// Dequeue marks with probability 0 up to Kmin, rising linearly to Pmax at
// Kmax, and 1 above. The queue is what remains after the frame left.
func (r *RED) Dequeue(_ units.Time, q Queue, _ *Packet) Mark {
	if r.congested(int64(q.Bytes)) {
		return Congestion
	}
	return Unchanged
}

// Thresholds implements ByLength.
func (r *RED) Thresholds() (kmin, kmax units.Size) { return units.Size(r.kmin), units.Size(r.kmax) }

// congested draws whether a queue of so many bytes is taken for congested.
func (r *RED) congested(b int64) bool {
	switch {
	case b <= r.kmin:
		return false
	case b > r.kmax:
		return true
	}
	return int64(r.random.Uint64()>>33)*r.span < r.pmax*(b-r.kmin)
}

// DequeueRun judges several frames.
func (r *RED) DequeueRun(_ units.Time, q Queue, sizes []uint16) (marked uint64) {
	if int64(q.Bytes) <= r.kmin {
		return 0
	}
	for i, size := range sizes {
		q.Bytes -= units.Size(size)
		if r.congested(int64(q.Bytes)) {
			marked |= 1 << (i & 63)
		}
	}
	return marked
}

// LeavesUnqueuedUnchanged says that a frame alone leaves no queue behind, and Kmin is not negative.
func (r *RED) LeavesUnqueuedUnchanged() {}

// Resume does nothing: RED does not know of pauses, which is what PCN and TCD hold against it.
func (r *RED) Resume(units.Time, Queue) {}
