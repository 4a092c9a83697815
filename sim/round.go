package sim

import (
	"time"

	"photon/units"
)

// report is what a part tells all others at a barrier. Each part has two: while the others read what it wrote before
// the barrier, it writes the other, for the next.
type report struct {
	next    units.Time       // nothing happens before it, neither here nor elsewhere by a frame from here
	events  uint64           // in the round
	frames  int              // that were allocated here less those that were freed here
	waited  time.Duration    // for other parts, in all
	busy    [2]time.Duration // in turns of each side
	verdict verdict          // the first part's
}

// reportOf is the report at the end of a round.
func (x *exchange) reportOf(round uint32) *report { return &x.reports[round&1] }

// report writes what the others read after the barrier, and lets them read the frames that were sent to them.
func (p *part) report() {
	x := p.exchange
	p.publish(p.clocks())
	p.pool.Share()
	r := x.reportOf(x.round)
	r.next = min(max(p.next, x.clock), x.firstBeyond)
	r.events = p.events - x.eventsBefore
	r.frames = p.pool.InUse()
	r.waited, r.busy = x.waited, x.busy
	x.firstBeyond, x.eventsBefore = units.Never, p.events
}

const (
	// While all parts together have at least so many events for each lookahead of time, rounds become longer, up to so
	// many lookaheads, so that barriers cost little. With fewer events rounds become shorter: time in which nothing
	// happens is skipped at barriers, while between them clocks go on in steps of the lookahead.
	minEventsPerLookahead = 8
	maxLookaheads         = 64
)

// beginRound has a part, after a barrier, take the frames that were sent to it and read the reports. It returns the
// first part's verdict.
func (w *World) beginRound(p *part) verdict {
	x, s := p.exchange, w.parallel
	for i := range x.in {
		p.receive(x.in[i].frames)
	}
	x.roundStart = units.Never
	frames, events := 0, uint64(0)
	for _, other := range x.all {
		r := other.reportOf(x.round)
		x.roundStart = min(x.roundStart, r.next)
		frames += r.frames
		events += r.events
	}
	v := x.all[0].reportOf(x.round).verdict
	x.round++
	if x.self == 0 {
		s.peakFrames = max(s.peakFrames, frames)
	}
	if events >= minEventsPerLookahead*uint64(x.roundLength/s.lookahead) {
		x.roundLength = min(2*x.roundLength, maxLookaheads*s.lookahead)
	} else {
		x.roundLength = max(x.roundLength/2, s.lookahead)
	}
	return v
}

// roundEnd is when the round that begins ends: samplers are called at barriers.
func (w *World) roundEnd(x *exchange, until units.Time) units.Time {
	return min(x.roundStart+x.roundLength, until+1, w.due)
}
