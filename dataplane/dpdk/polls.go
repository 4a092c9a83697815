package dpdk

import (
	"math/bits"
	"time"

	"photon/units"
)

// Polls is how a worker polled since the start of its world, in wall time. Only
// the worker writes it; it is read while the worker rests (World.Do).
type Polls struct {
	// Gaps counts the times between two polls: Gaps[i] those shorter than
	// GapBound(i) and not shorter than the bound before; the last are all others.
	// A rest that an idle worker chose is no gap.
	Gaps [gapBuckets + 1]uint64
	Time time.Duration // of all gaps together
	// Slept are those of them, from SleptFrom, in which the worker's thread gave up
	// its core by itself: what Go's runtime, or a function in World.Do, had it wait
	// for. In the others the kernel took the core away, or the machine stood still.
	Slept     [gapBuckets + 1]uint64
	SleptTime time.Duration
	// Requests counts, by the processor time that it took of the worker, how often it
	// stopped for World.Do or World.DoBriefly: for a command, a scrape, the check of
	// links and storms. The buckets are those of Gaps.
	Requests    [gapBuckets + 1]uint64
	RequestTime time.Duration
	// Rx counts the bursts that a poll took from a port, by their size, and Tx
	// those that it staged for one: [i] those of at most 1<<i frames and more than
	// half of that. Polls that took nothing are not among them.
	Rx, Tx             [burstBuckets]uint64
	RxFrames, TxFrames uint64 // in those bursts

	ticks   uint64 // of all gaps
	asleep  uint64 // of those in Slept
	long    uint64 // ticks of SleptFrom
	perTick uint64 // nanoseconds per tick, in 2^-32
}

const (
	gapBuckets   = 25 // 64 ns to 1.07 s
	shortestGap  = 6  // log2 of the first bound in nanoseconds
	burstBuckets = 8  // 1 to 128 frames: a poll takes MaxBurst from a port, and gives it twice as many
)

// GapBound is the upper bound of a bucket of Gaps: 64 ns and its doubles.
func GapBound(i int) units.Time { return units.Nanosecond << (shortestGap + i) }

// SleptFrom is the shortest gap of which is found out whether the worker slept.
const SleptFrom = 32768 * units.Nanosecond

// GapBounds is how many buckets have one.
const GapBounds = gapBuckets

// BurstBounds is how many buckets of bursts there are.
const BurstBounds = burstBuckets

// Residence is how long sampled frames were in a node that left through one of its ports, in wall time: from the poll that
// took them from a device to the end of the one that gave them to another. It is copied as Polls are.
type Residence struct {
	Counts [gapBuckets + 1]uint64 // in buckets as those of Polls.Gaps
	Time   time.Duration          // of all together
}

func newPolls(ticksPerSecond uint64) Polls {
	const second = 1_000_000_000
	perTick := second << 32 / ticksPerSecond // fits: a second is less than 2^30 ns
	return Polls{perTick: perTick, long: uint64(SleptFrom/units.Nanosecond) * ticksPerSecond / second}
}

// gap counts the time between two polls. It costs a few instructions a poll.
func (p *Polls) gap(ticks uint64) {
	p.Gaps[p.bucket(ticks)]++
	p.ticks += ticks
}

// slept counts one in which the worker's thread slept.
func (p *Polls) slept(ticks uint64) {
	p.Slept[p.bucket(ticks)]++
	p.asleep += ticks
}

// request counts a stop for a request.
func (p *Polls) request(ns uint64) {
	p.Requests[bucketOf(ns)]++
	p.RequestTime += time.Duration(ns)
}

func (p *Polls) bucket(ticks uint64) int {
	hi, lo := bits.Mul64(ticks, p.perTick)
	return bucketOf(hi<<32 | lo>>32)
}

func bucketOf(ns uint64) int { return min(bits.Len64(ns>>shortestGap), gapBuckets) }

func (p *Polls) wall(ticks uint64) time.Duration {
	hi, lo := bits.Mul64(ticks, p.perTick)
	return time.Duration(hi<<32 | lo>>32)
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
	c.Time, c.SleptTime = p.wall(p.ticks), p.wall(p.asleep)
	return c
}

// Add takes in what another worker did.
func (p *Polls) Add(q *Polls) {
	for i := range p.Gaps {
		p.Gaps[i] += q.Gaps[i]
		p.Slept[i] += q.Slept[i]
		p.Requests[i] += q.Requests[i]
	}
	for i := range p.Rx {
		p.Rx[i] += q.Rx[i]
		p.Tx[i] += q.Tx[i]
	}
	p.Time += q.Time
	p.SleptTime += q.SleptTime
	p.RequestTime += q.RequestTime
	p.RxFrames += q.RxFrames
	p.TxFrames += q.TxFrames
}
