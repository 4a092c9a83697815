package ratelimit

import "photon/units"

// Unlimited sends at line rate whatever happens: the RP of schemes without one.
type Unlimited struct{ Line units.Rate }

var _ Steady = Unlimited{}

// Start does nothing.
func (Unlimited) Start(units.Time) {}

// Rate is the line rate.
func (u Unlimited) Rate(units.Time) units.Rate { return u.Line }

// Notify does nothing.
func (Unlimited) Notify(units.Time, uint8, uint32) {}

// Sent does nothing.
func (Unlimited) Sent(units.Time, int) {}

// Steady is true: nothing happens.
func (Unlimited) Steady() bool { return true }
