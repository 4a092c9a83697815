package ratelimit

import (
	"fmt"

	"photon/units"
)

// Timers of reaction points are looked at late, after a silence maybe of days. What they would have done by then is
// worked out tick by tick as long as ticks change something, and by arithmetic from then on, so that a silence costs
// no more time the longer it is. Every rate is to the last bit what it would be if the timers had ticked one by one.

// shortest is the least that a timer may be. With a timer of picoseconds the first notification would have a host count
// ticks for ever; no card has one of less than a microsecond.
const shortest = units.Microsecond

// fewestBytes is the least that a byte counter may be: a frame is a few hundred steps of it at most.
const fewestBytes = 100 * units.Byte

// Ticks that change something are as many as alpha needs to become negligible, and rates to become the line's. Less than
// the least of these would be minutes of work after a long silence; cards and papers have g from 1/1024 on.
const (
	leastG    = 1. / (1 << 14)
	mostSteps = 1_000_000 // of additive increase, from nothing to the line's rate
)

// badG says what is wrong with the weight of the newest sample in alpha; nil: nothing.
func badG(g float64) error {
	if !(g >= leastG && g <= 1) {
		return fmt.Errorf("g %v must be from 1/%d to 1", g, int(1/leastG))
	}
	return nil
}

// badSteps says what is wrong with the steps of additive and hyper increase; nil: nothing. Without steps rates stay
// where they are.
func badSteps(ai, hai, line units.Rate) error {
	if ai < 0 || hai < 0 {
		return fmt.Errorf("increase steps %v and %v must not be negative", ai, hai)
	}
	if least := (line + mostSteps - 1) / mostSteps; ai > 0 && ai < least || hai > 0 && hai < least {
		return fmt.Errorf("increase steps %v and %v must be 0, or at least a millionth of the line rate, %v", ai, hai, least)
	}
	return nil
}

// ticks is how often a timer is due by now that ticks at the instant at and then once in every period.
func ticks(at, period, now units.Time) units.Time {
	switch {
	case at > now:
		return 0
	case now-at < period: // the most frequent case costs no division
		return 1
	}
	return (now-at)/period + 1
}

// negligible is the part of g below which an alpha cannot be told from any smaller one: (1-g)alpha + g is g to the last
// bit, and 1-alpha is 1.
const negligible = 1. / (1 << 55)

// decay is alpha after n ticks without a CNP. An alpha that is negligible stays as it is: on a long way to zero it
// would change no rate.
func decay(alpha, g float64, n units.Time) float64 {
	for least := g * negligible; n > 0 && alpha >= least; n-- {
		alpha = float64((1 - g) * alpha)
	}
	return alpha
}
