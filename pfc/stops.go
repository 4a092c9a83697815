package pfc

import "photon/units"

// Stops is what the sending end of a link answers, whatever flow control the link has: which priorities
// must not be sent now, since when, and when that ends. Who asks whether a port was stopped asks this;
// Egress answers with pauses, credits.Port with blocks of buffer.
type Stops interface {
	// Paused is the set of priorities that must not send.
	Paused() uint8
	// Last is the last stop of a priority: when it began and when it ended, Never if it lasts still. Both
	// are zero if there was none.
	Last(p int) (from, until units.Time)
	// Ends is when the stop of a priority that lasts ends if the peer says nothing more; Never: it does not.
	Ends(p int) units.Time
	// Next is the earliest of Ends over the priorities that are stopped, or Never.
	Next() units.Time
}
