package ratelimit

import (
	"fmt"

	"photon/units"
	"photon/wire"
)

// RP is the reaction point of one flow. One goroutine at a time calls it.
type RP interface {
	// Start begins a flow at now, at line rate: the RP forgets what it knew.
	Start(now units.Time)
	// Rate is how fast the flow may send at now.
	Rate(now units.Time) units.Rate
	// Notify reports that a notification arrived: a CNP, with the ECN codepoint of
	// its IP header and the first word of its reserved field, or a CNM of QCN,
	// with its quantised feedback as the word.
	Notify(now units.Time, ecn uint8, word uint32)
	// Sent reports that a frame of bytes on the wire left at now.
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

// Starter is an RP that can begin a flow below line rate, as if congestion had
// brought it there before: experiments begin with flows in their fair shares.
// What else such a past would have left behind is as after Start: DCQCN's alpha
// is 1, PCN's weight the smallest.
type Starter interface {
	RP
	StartAt(now units.Time, rate units.Rate)
}

// Steady is an RP that may tell that its rate stays as it is until it is started
// or notified again, and that it has no use for Sent until then. A host with many
// flows keeps such a rate next to the flow's timer, where no frame has to wait for
// the RP's memory.
type Steady interface {
	RP
	Steady() bool
}

// Ack is what an acknowledgement of one packet says.
type Ack struct {
	Packet uint64     // number of the packet, from 0
	Next   uint64     // number of the packet that is sent next
	RTT    units.Time // from when the packet left to now, without its own time on the link; 0: not measured
	CE, UE bool       // the mark that the packet had
	Hops   wire.INT   // telemetry; nil: none
}

// Port is what an RP may know of the port behind which it stands: the last times
// its priority was paused, and what reaction points behind it share. The host keeps it.
type Port struct {
	PausedFrom  units.Time
	PausedUntil units.Time // units.Never: it is paused still
	before      [pauses]pause
	oldest      int // in before
	ccti        ccti
}

// pauses before the last one are remembered, because timers are looked at late.
const pauses = 15

type pause struct{ from, until units.Time }

// Note records a pause, or its end.
func (p *Port) Note(from, until units.Time) {
	if from != p.PausedFrom {
		p.before[p.oldest] = pause{p.PausedFrom, p.PausedUntil}
		p.oldest = (p.oldest + 1) % pauses
	}
	p.PausedFrom, p.PausedUntil = from, until
}

// pausedAt reports whether the priority was paused at t, as far as its last sixteen pauses go, and until when, at
// least, the answer stays the same. A nil Port never was.
func (p *Port) pausedAt(t units.Time) (paused bool, until units.Time) {
	switch {
	case p == nil:
		return false, units.Never
	case t >= p.PausedFrom && t < p.PausedUntil:
		return true, p.PausedUntil
	case t >= p.PausedFrom:
		return false, units.Never
	}
	until = p.PausedFrom
	for _, b := range p.before {
		paused = paused || t >= b.from && t < b.until
		for _, edge := range [...]units.Time{b.from, b.until} {
			if edge > t {
				until = min(until, edge)
			}
		}
	}
	return paused, until
}

// Rebase implements units.Rebaser.
func (p *Port) Rebase(by units.Time) {
	p.PausedFrom.Rebase(by)
	p.PausedUntil.Rebase(by)
	p.ccti.falls.Rebase(by)
	for i := range p.before {
		p.before[i].from.Rebase(by)
		p.before[i].until.Rebase(by)
	}
}

// within keeps a rate between the smallest and the line's.
func within(rate, low, line units.Rate) float64 { return float64(min(max(rate, low), line)) }

// badMin says what is wrong with a minimum rate. Who set none meets a default above a slow line, so that the error
// says what to write.
func badMin(least, line units.Rate) error {
	if least <= 0 {
		return fmt.Errorf("min_rate %v must be above 0", least)
	}
	return fmt.Errorf("min_rate %v is above the line rate, %v (params: {min_rate: %v})", least, line, max(1, line/10))
}
