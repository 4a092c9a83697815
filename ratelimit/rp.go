package ratelimit

import "photon/units"

// RP is the reaction point of one flow. One goroutine at a time calls it.
type RP interface {
	// Start begins a flow at now, at line rate: the RP forgets what it knew.
	Start(now units.Time)
	// Rate is how fast the flow may send at now.
	Rate(now units.Time) units.Rate
	// CNP tells that a congestion notification packet arrived: the ECN codepoint
	// of its IP header and the first word of its reserved field.
	CNP(now units.Time, ecn uint8, word uint32)
	// Sent tells that a frame of bytes on the wire left at now.
	Sent(now units.Time, bytes int)
}

// Unlimited sends at line rate whatever happens: the RP of schemes without one.
type Unlimited struct{ Line units.Rate }

var _ RP = Unlimited{}

// Start does nothing.
func (Unlimited) Start(units.Time) {}

// Rate is the line rate.
func (u Unlimited) Rate(units.Time) units.Rate { return u.Line }

// CNP does nothing.
func (Unlimited) CNP(units.Time, uint8, uint32) {}

// Sent does nothing.
func (Unlimited) Sent(units.Time, int) {}
