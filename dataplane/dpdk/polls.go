package dpdk

import (
	"math/bits"

	"photon/units"
)

// Polls is how a worker polled since the start of its world, in wall time. Only
// the worker writes it; it is read while the worker rests (World.Do).
type Polls struct {
	// Gaps counts the times between two polls: Gaps[i] those shorter than
	// GapBound(i) and not shorter than the bound before; the last are all others.
	// A rest that an idle worker chose is no gap.
	Gaps [gapBuckets + 1]uint64
	Time units.Time // of all gaps together
	// Rx counts the bursts that a poll took from a port, by their size, and Tx
	// those that it staged for one: [i] those of at most 1<<i frames and more than
	// half of that. Polls that took nothing are not among them.
	Rx, Tx             [burstBuckets]uint64
	RxFrames, TxFrames uint64 // in those bursts

	ticks   uint64 // of all gaps
	perTick uint64 // nanoseconds per tick, in 2^-32
}

const (
	gapBuckets   = 25 // 64 ns to 1.07 s
	shortestGap  = 6  // log2 of the first bound in nanoseconds
	burstBuckets = 6  // 1 to 32 frames, the most that a poll takes
)

// GapBound is the upper bound of a bucket of Gaps: 64 ns and its doubles.
func GapBound(i int) units.Time { return units.Nanosecond << (shortestGap + i) }

// GapBounds is how many buckets have one.
const GapBounds = gapBuckets

// BurstBounds is how many buckets of bursts there are.
const BurstBounds = burstBuckets

func newPolls(ticksPerSecond uint64) Polls {
	const second = 1_000_000_000
	perTick := second << 32 / ticksPerSecond // fits: a second is less than 2^30 ns
	return Polls{perTick: perTick}
}

// gap counts the time between two polls. It costs a few instructions a poll.
func (p *Polls) gap(ticks uint64) {
	hi, lo := bits.Mul64(ticks, p.perTick)
	ns := hi<<32 | lo>>32
	p.Gaps[min(bits.Len64(ns>>shortestGap), gapBuckets)]++
	p.ticks += ticks
}

// rx counts a burst of n frames, at least one.
func (p *Polls) rx(n int) {
	p.Rx[min(bits.Len(uint(n-1)), burstBuckets-1)]++
	p.RxFrames += uint64(n)
}

// tx does the same.
func (p *Polls) tx(n int) {
	p.Tx[min(bits.Len(uint(n-1)), burstBuckets-1)]++
	p.TxFrames += uint64(n)
}

// copy is what is handed out.
func (p *Polls) copy() Polls {
	c := *p
	hi, lo := bits.Mul64(p.ticks, p.perTick)
	c.Time = units.Time(hi<<32|lo>>32) * units.Nanosecond
	return c
}

// Add takes in what another worker did.
func (p *Polls) Add(q *Polls) {
	for i := range p.Gaps {
		p.Gaps[i] += q.Gaps[i]
	}
	for i := range p.Rx {
		p.Rx[i] += q.Rx[i]
		p.Tx[i] += q.Tx[i]
	}
	p.Time += q.Time
	p.RxFrames += q.RxFrames
	p.TxFrames += q.TxFrames
}
