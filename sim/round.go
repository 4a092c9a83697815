package sim

import (
	"time"

	"photon/units"
)

// report is what a part tells all others at a barrier. Each part has two: while the others read what it wrote before
// the barrier, it writes the other, for the next.
type report struct {
	next    units.Time    // no event here, nor elsewhere by a frame from here, is before
	events  uint64        // in the round
	frames  int           // that were allocated here less those that were freed here
	waited  time.Duration // for other parts, in all
	verdict verdict       // the first part's
}

// reportOf is the report at the end of a round.
func (x *exchange) reportOf(round uint32) *report { return &x.reports[round&1] }

// report writes what the others read after the barrier, and lets them read the frames that were sent to them.
func (p *part) report() {
	x := p.exchange
	p.publish(x.clock)
	p.pool.Share()
	r := x.reportOf(x.round)
	r.next = min(max(p.next, x.clock), x.firstBeyond)
	r.events = p.events - x.eventsBefore
	r.frames = p.pool.InUse()
	r.waited = x.waited
	x.firstBeyond, x.eventsBefore = units.Never, p.events
}

const (
	// While there are at least so many events in a part for each lookahead of time, rounds become longer, up to so many
	// lookaheads: then barriers cost little. They become shorter with fewer events, because a part with nothing to do
	// still publishes its clock in steps of the lookahead.
	minEventsPerLookahead = 8
	maxLookaheads         = 64
)

// beginRound has a part, after a barrier, take the frames that were sent to it and read what the others report.
func (w *World) beginRound(p *part) verdict {
	x, s := p.exchange, w.parallel
	for i := range x.in {
		p.receive(x.in[i].frames)
	}
	x.start = units.Never
	frames, events := 0, uint64(0)
	for _, other := range x.all {
		r := other.reportOf(x.round)
		x.start = min(x.start, r.next)
		frames += r.frames
		events += r.events
	}
	v := x.all[0].reportOf(x.round).verdict
	x.round++
	if x.self == 0 {
		s.peakFrames = max(s.peakFrames, frames)
	}
	if events >= minEventsPerLookahead*uint64(x.length/s.lookahead) {
		x.length = min(2*x.length, maxLookaheads*s.lookahead)
	} else {
		x.length = max(x.length/2, s.lookahead)
	}
	return v
}

// roundEnd is when the round that begins ends: samplers are called at barriers.
func (w *World) roundEnd(x *exchange, until units.Time) units.Time {
	return min(x.start+x.length, until+1, w.due)
}
