package ratelimit

import (
	"photon/units"
	"photon/wire"
)

// RP is the reaction point of one flow. One goroutine at a time calls it.
type RP interface {
	// Start begins a flow at now, at line rate: the RP forgets what it knew.
	Start(now units.Time)
	// Rate is how fast the flow may send at now.
	Rate(now units.Time) units.Rate
	// Notify tells that a notification arrived: a CNP, with the ECN codepoint of
	// its IP header and the first word of its reserved field, or a CNM of QCN,
	// with its quantised feedback as the word.
	Notify(now units.Time, ecn uint8, word uint32)
	// Sent tells that a frame of bytes on the wire left at now.
	Sent(now units.Time, bytes int)
}

// Acker is an RP that wants to know of every acknowledgement (TIMELY, HPCC).
type Acker interface {
	RP
	Ack(now units.Time, a *Ack)
}

// Windower is an RP that also limits what is under way (HPCC).
type Windower interface {
	RP
	// Window is the most bytes on the wire that may be sent and not acknowledged.
	Window() units.Size
}

// Ack is what an acknowledgement of one packet says.
type Ack struct {
	Packet uint64     // number of the packet, from 0
	Next   uint64     // number of the packet that is sent next
	RTT    units.Time // from when the packet left to now, without its own time on the link; 0: not measured
	CE, UE bool       // the mark that the packet had
	Hops   wire.INT   // telemetry; nil: none
}

// Port is what an RP may know of the port behind which it stands: the last time
// its priority was paused. The host keeps it.
type Port struct {
	PausedFrom  units.Time
	PausedUntil units.Time // units.Never: it is paused still
}

// PausedAt reports whether the priority was paused at t, as far as the last
// pause goes. A nil Port never is.
func (p *Port) PausedAt(t units.Time) bool {
	return p != nil && t >= p.PausedFrom && t < p.PausedUntil
}

// Unlimited sends at line rate whatever happens: the RP of schemes without one.
type Unlimited struct{ Line units.Rate }

var _ RP = Unlimited{}

// Start does nothing.
func (Unlimited) Start(units.Time) {}

// Rate is the line rate.
func (u Unlimited) Rate(units.Time) units.Rate { return u.Line }

// Notify does nothing.
func (Unlimited) Notify(units.Time, uint8, uint32) {}

// Sent does nothing.
func (Unlimited) Sent(units.Time, int) {}
