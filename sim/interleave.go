package sim

import (
	"context"
	"time"

	"photon/units"
)

// runInterleaved runs all parts in this goroutine, for at most so long by the wall. Then processors are supposed to be
// contended still.
func (w *World) runInterleaved(ctx context.Context, until units.Time, wall time.Duration) verdict {
	begin := time.Now()
	for x := w.exchange; ; {
		if x.round%checkEvery == 0 {
			if ctx.Err() != nil {
				return stopped
			}
			if time.Since(begin) > wall {
				return contended
			}
		}
		for _, p := range w.parts {
			p.report()
		}
		for _, p := range w.parts {
			w.beginRound(p)
		}
		switch next := x.roundStart; {
		case w.due <= min(until, next):
			w.sample(min(until, next), next)
		case next > until:
			return ended
		default:
			w.interleaveRound(w.roundEnd(x, until))
		}
	}
}

// interleaveRound runs the parts in turns until all have come to the end of the round.
func (w *World) interleaveRound(end units.Time) {
	for _, p := range w.parts {
		p.exchange.roundEnd = end
	}
	for running := len(w.parts); running > 0; {
		running = 0
		for _, p := range w.parts {
			p.advance(p.safeTimes())
			if p.exchange.clock < end {
				running++
			}
		}
	}
}
