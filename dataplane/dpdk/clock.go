package dpdk

import (
	"math/bits"

	"photon/units"
)

// clock turns readings of the time stamp counter into a world's time. It never
// goes back.
type clock struct {
	last      uint64 // reading
	now       units.Time
	fraction  uint64     // of a picosecond, in 2^-32
	perTick   uint64     // picoseconds of world time per tick, in 2^-32
	step      units.Time // most that one reading advances it; 0: no limit
	stretched units.Time // what exceeded it
}

// maxStep is how far a closed world's clock goes between two rounds at most, and maxSent how much the fastest of its
// links sends meanwhile, in bytes: a quarter of the shortest frame. Each node acts too late by up to a step, and HPCC,
// TIMELY and PowerTCP notice if that is some percent of a packet's time (docs/decisions.md).
const (
	maxStep = 100 * units.Nanosecond
	maxSent = 16
)

// stepOf is how far a closed world's clock goes between two rounds if its fastest link has this rate; 0: none has one.
func stepOf(fastest units.Rate) units.Time {
	if fastest <= 0 {
		return maxStep
	}
	return max(1, min(maxStep, fastest.Serialize(maxSent)))
}

// newClock returns a clock that goes so many times slower than the counter's, and no further than a step from one
// reading to the next; 0: as far as it comes.
func newClock(ticksPerSecond uint64, dilation int, step units.Time) clock {
	second := uint64(units.Second)
	perTick, _ := bits.Div64(second>>32, second<<32, ticksPerSecond*uint64(dilation))
	return clock{perTick: perTick, step: step}
}

// start makes the clock continue from a reading.
func (c *clock) start(tsc uint64) { c.last = tsc }

// read advances the clock to a reading and returns the time.
func (c *clock) read(tsc uint64) units.Time {
	if tsc <= c.last {
		return c.now
	}
	hi, lo := bits.Mul64(tsc-c.last, c.perTick)
	c.last = tsc
	lo, carry := bits.Add64(lo, c.fraction, 0)
	hi += carry
	c.fraction = lo & (1<<32 - 1)
	step := units.Time(hi<<32 | lo>>32)
	if c.step > 0 && step > c.step {
		c.stretched += step - c.step
		step = c.step
	}
	c.now += step
	return c.now
}
