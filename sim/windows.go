package sim

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"photon/units"
)

// verdict says whether windows go on.
type verdict uint8

const (
	goOn    verdict = iota
	ended           // there is nothing more before the end of the run
	stopped         // the context has ended
	crowded         // parts wait for processors that others use
)

// runParts is Run of a world in parts. They have their events happen at the same time
// if there are processors for them, or else in turns, window by window.
func (w *World) runParts(ctx context.Context, until units.Time) error {
	s := w.split
	for _, p := range s.parts {
		p.beside.end = p.now
	}
	v := crowded
	for v == crowded {
		if runtime.GOMAXPROCS(0) < len(s.parts) {
			v = w.inTurns(ctx, until, math.MaxInt64)
			break
		}
		if v = w.together(ctx, until); v == crowded {
			v = w.inTurns(ctx, until, patience)
		}
	}
	s.add(0)
	s.add(1) // one of them is empty
	w.hash = s.hash
	if v == stopped {
		return ctx.Err()
	}
	s.set(until)
	return nil
}

const (
	// looks is how many windows there are from one look at the clock and the context
	// to the next.
	looks = 1 << 8
	// Parts are crowded if in a span they wait for each other in vain, because one of
	// them has no processor, for more than two fifths of the time: two parts that run
	// together are faster than in turns if they can for the rest.
	span = 20 * time.Millisecond
	// patience is how long parts then take turns before they are tried together again.
	patience = 300 * time.Millisecond
)

// together has each part run on a processor of its own.
func (w *World) together(ctx context.Context, until units.Time) verdict {
	w.split.looked = time.Now()
	w.split.meet.lost.Store(0)
	var rest sync.WaitGroup
	for _, p := range w.split.parts[1:] {
		rest.Go(func() { w.work(ctx, p, until) })
	}
	v := w.work(ctx, &w.part, until)
	rest.Wait()
	return v
}

// work has everything of a part happen, window by window. All parts come to the same
// verdict.
func (w *World) work(ctx context.Context, p *part, until units.Time) verdict {
	s, b := w.split, p.beside
	for {
		half := b.half()
		b.tell(p)
		if b.number == 0 {
			b.stop[half] = s.look(ctx, b.round)
		}
		if s.added.CompareAndSwap(b.round, b.round+1) {
			s.add(half ^ 1) // who is here first has time
		}
		s.meet.wait()
		first := b.turn(p)
		if v := b.all[0].stop[half]; v != goOn {
			return v
		}
		if w.due <= until && w.due <= first {
			s.meet.wait() // all know that
			if b.number == 0 {
				w.sample(min(first, until))
			}
			s.meet.wait()
			continue
		}
		if first > until {
			return ended
		}
		b.end = w.window(first, until)
		p.until(b.end)
	}
}

// inTurns is the same of all parts in one goroutine, for a time.
func (w *World) inTurns(ctx context.Context, until units.Time, wall time.Duration) verdict {
	s, begin := w.split, time.Now()
	for {
		for _, p := range s.parts {
			p.beside.tell(p)
		}
		half, round := w.beside.half(), w.beside.round
		s.added.Store(round + 1)
		s.add(half ^ 1)
		first := units.Time(units.Never)
		for _, p := range s.parts {
			first = p.beside.turn(p)
		}
		switch {
		case round%looks == 0 && ctx.Err() != nil:
			return stopped
		case round%looks == 0 && time.Since(begin) > wall:
			return crowded
		case w.due <= until && w.due <= first:
			w.sample(min(first, until))
			continue
		case first > until:
			return ended
		}
		end := w.window(first, until)
		for _, p := range s.parts {
			p.beside.end = end
			p.until(end)
		}
	}
}

// tell says when something happens next by what a part knows.
func (b *beside) tell(p *part) {
	half := b.half()
	next := max(p.events.earliest(), b.end)
	for i := range b.out[half] {
		next = min(next, b.out[half][i].first)
	}
	b.next[half] = next
}

// turn takes what the others sent and turns to the other half. It returns when
// something happens next anywhere.
func (b *beside) turn(p *part) (first units.Time) {
	half := b.half()
	b.take(p, half)
	b.round++
	b.empty(half ^ 1)
	first = units.Never
	for _, other := range b.all {
		first = min(first, other.next[half])
	}
	return first
}

// window is the end of the window that begins with the first event of all.
func (w *World) window(first, until units.Time) units.Time {
	return min(first+w.split.ahead, until+1, w.due)
}

// look is what the first part sees now and then.
func (s *split) look(ctx context.Context, round uint32) verdict {
	switch {
	case round%looks != 0:
		return goOn
	case ctx.Err() != nil:
		return stopped
	}
	now := time.Now()
	past := now.Sub(s.looked)
	if past < span {
		return goOn
	}
	s.looked = now
	if time.Duration(s.meet.lost.Swap(0)) > past*2/5 {
		return crowded
	}
	return goOn
}

// until has everything of a part happen that happens before an instant.
func (w *part) until(end units.Time) {
	c := w.events
	for {
		if len(c.now) == 0 {
			if c.earliest() >= end {
				return
			}
			if c.advance() && len(w.ports) >= large {
				w.lookAhead()
			}
		}
		if c.next() >= end {
			return
		}
		e := c.pop()
		w.now = e.at
		w.count++
		if e.event < c.timers {
			w.arrive(int(e.event), e.ref)
		} else {
			w.depart(int(e.event - c.timers))
		}
	}
}

// turn is a number that all parts change, alone in its lines of the cache.
type turn struct {
	_ [64]byte
	atomic.Uint32
	_ [60]byte
}

// barrier is where all parts meet.
type barrier struct {
	parts uint32
	here  turn
	round turn
	_     [64]byte
	lost  atomic.Int64 // nanoseconds that one waited for another that had no processor
}

const nap = 50 * time.Microsecond // of one that waits for such a part

// mostSpins is after how many looks, most of a millisecond, a part that others wait
// for has no processor: others come within microseconds. Tests have fewer.
var mostSpins = 2_000_000

// wait waits until all are there.
func (b *barrier) wait() {
	round := b.round.Load()
	if b.here.Add(1) == b.parts {
		b.here.Store(0)
		b.round.Store(round + 1)
		return
	}
	for range mostSpins {
		if b.round.Load() != round {
			return
		}
	}
	begin := time.Now()
	for b.round.Load() == round {
		time.Sleep(nap)
	}
	b.lost.Add(int64(time.Since(begin)))
}
