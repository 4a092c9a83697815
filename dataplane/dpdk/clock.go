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

// maxStep is how far a closed world's clock goes between two rounds: more than a
// quiet round takes at a dilation of 20, and a small part of a frame's time.
const maxStep = 100 * units.Nanosecond

func newClock(ticksPerSecond uint64, dilation int, closed bool) clock {
	second := uint64(units.Second)
	perTick, _ := bits.Div64(second>>32, second<<32, ticksPerSecond*uint64(dilation))
	c := clock{perTick: perTick}
	if closed {
		c.step = maxStep
	}
	return c
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
