package sim

import (
	"context"
	"runtime"
	"sync"
	"time"

	"photon/units"
)

// parallel is what a world in several parts has in common.
//
// A frame that one part sends another arrives no earlier than the delay of the link later. So a part may handle all
// events up to the clock of each other part plus the delay of the shortest link from there: nothing that is still to
// come can be before that. Every part publishes its clock now and then. This is conservative synchronization with
// lookahead (Chandy and Misra, CACM 24(4), 1981; Bryant, MIT-LCS-TR-188, 1977), where clocks that others read take the
// place of null messages.
//
// With clocks alone, time in which nothing happens would pass in steps of a link's delay. So all parts meet at a barrier
// at the end of each round. There they learn when the next event is anywhere, and samplers are called.
//
// The parts do not change what happens. The events of each node are handled in one order (see window), nodes affect
// each other only by frames, and the trace hash is a sum to which each part adds its own arrivals.
type parallel struct {
	lookahead  units.Time // the shortest delay of a link between two parts
	peakFrames int        // the most that there were at a barrier
	barrier    barrier
	checkedAt  time.Time // when the first part last asked how much time was lost
	pools      sync.Mutex
	balance
}

// retryAfter is how long parts are interleaved when processors are contended, until they run in parallel again.
const retryAfter = 300 * time.Millisecond

// runParts is Run of a world in several parts. They run in parallel if there are processors for them, else interleaved
// in one goroutine.
func (w *World) runParts(ctx context.Context, until units.Time) error {
	for _, p := range w.parts {
		if p.exchange.clock = p.now; p.sides != nil {
			p.exchange.clock = p.sides.leastClock()
		}
	}
	v := contended
	for v == contended {
		if runtime.GOMAXPROCS(0) >= len(w.parts) {
			v = w.runParallel(ctx, until)
		}
		if v == contended {
			v = w.runInterleaved(ctx, until, retryAfter)
		}
	}
	if v == stopped {
		return ctx.Err()
	}
	return nil
}

// runParallel runs each part in a goroutine of its own.
func (w *World) runParallel(ctx context.Context, until units.Time) verdict {
	s := w.parallel
	s.checkedAt = time.Now()
	s.measuredAt = s.checkedAt
	s.barrier.lost.Store(0)
	var others sync.WaitGroup
	for _, p := range w.parts[1:] {
		others.Go(func() { w.tryPart(ctx, p, until) })
	}
	v := w.tryPart(ctx, &w.part, until)
	others.Wait()
	if broken := s.barrier.broken.Load(); broken != nil {
		panic(broken)
	}
	return v
}

// runPart runs a part, round after round. All parts end with the same verdict.
func (w *World) runPart(ctx context.Context, p *part, until units.Time) verdict {
	for x := p.exchange; ; {
		p.report()
		if x.self == 0 {
			x.reportOf(x.round).verdict = w.check(ctx, x.round)
		}
		x.waited += w.parallel.barrier.wait(x.all)
		switch v := w.beginRound(p); v {
		case proceed:
		case imbalanced:
			w.alone(p, w.rebalance)
		default:
			return v
		}
		switch next := x.roundStart; {
		case w.due <= min(until, next):
			w.alone(p, func() { w.sample(min(until, next), next) })
		case next > until:
			return ended
		default:
			x.roundEnd = w.roundEnd(x, until)
			w.runRound(p)
		}
	}
}

// runRound handles the events of a part until the end of the round, as far as the clocks of the others allow.
func (w *World) runRound(p *part) {
	x, s := p.exchange, w.parallel
	var idle stall
	for x.clock < x.roundEnd {
		if !p.advance(p.safeTimes()) {
			idle.poll(&s.barrier, x.all)
			continue
		}
		x.waited += idle.end()
	}
}

// advance handles events of a part before its safe times, and publishes its clocks. It reports whether there was something
// to do, or time has passed.
func (p *part) advance(safe [quarters]units.Time) (went bool) {
	x := p.exchange
	if s := p.sides; s != nil {
		kind, went := p.turn(safe)
		if kind == border { // or there is nothing more to do now
			p.publish(p.clocks())
		}
		x.clock = s.leastClock()
		return went
	}
	if safe[0] < min(x.clock+p.leastTurn, x.roundEnd) {
		return false
	}
	for p.next < safe[0] {
		p.window(safe[0])
	}
	x.clock = safe[0]
	p.publish(p.clocks())
	return true
}
