package ratelimit

import "photon/units"

// Timers of reaction points are looked at late, after a silence maybe of days. What they would have done by then is
// worked out tick by tick as long as ticks change something, and by arithmetic from then on, so that a silence costs
// no more time the longer it is. Every rate is to the last bit what it would be if the timers had ticked one by one.

// shortest is the least that a timer may be. With a timer of picoseconds the first notification would have a host count
// ticks for ever; no card has one of less than a microsecond.
const shortest = units.Microsecond

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
		next := float64((1 - g) * alpha)
		if next == alpha { // g is too small for it
			break
		}
		alpha = next
	}
	return alpha
}
