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
	goOn     verdict = iota
	ended            // there is nothing more before the end of the run
	stopped          // the context has ended
	crowded          // parts wait for processors that others use
	lopsided         // some have too much to do
)

// runParts is Run of a world in parts. They have their events happen at the same time
// if there are processors for them, or else in turns.
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
	if v == stopped {
		return ctx.Err()
	}
	s.set(until)
	return nil
}

const (
	// looks is how many meetings there are from one look at the context, or, of parts that take
	// turns, at the clock, to the next.
	looks = 1 << 3
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
	w.split.weighed = w.split.looked
	w.split.meet.lost.Store(0)
	var rest sync.WaitGroup
	for _, p := range w.split.parts[1:] {
		rest.Go(func() { w.work(ctx, p, until) })
	}
	v := w.work(ctx, &w.part, until)
	rest.Wait()
	return v
}

// work has everything of a part happen, from meeting to meeting. All parts come to the
// same verdict.
func (w *World) work(ctx context.Context, p *part, until units.Time) verdict {
	s, b := w.split, p.beside
	for {
		half := b.half()
		b.meet(p)
		if b.number == 0 {
			b.stop[half] = s.look(ctx, b.round, half)
		}
		s.wait(b)
		first := b.turn(p, s)
		switch v := b.all[0].stop[half]; v {
		case goOn:
		case lopsided:
			s.alone(b, w.even)
		default:
			return v
		}
		if w.due <= until && w.due <= first {
			s.alone(b, func() { w.sample(min(first, until), first) })
			continue
		}
		if first > until {
			return ended
		}
		b.began, b.meets = first, w.meeting(b, first, until)
		var since time.Time
		for idle := 0; b.end < b.meets; {
			limit := b.limit(p)
			if limit < min(b.end+s.ahead/2, b.meets) { // less is not worth what it takes to tell
				if idle == 0 {
					since = time.Now()
				}
				s.idle(&idle)
				continue
			}
			if idle > 0 {
				b.idle += time.Since(since)
				idle = 0
			}
			p.until(limit)
			b.end = limit
			b.tell(p, limit)
		}
	}
}

// inTurns is the same of all parts in one goroutine, for a time.
func (w *World) inTurns(ctx context.Context, until units.Time, wall time.Duration) verdict {
	s, begin := w.split, time.Now()
	for {
		for _, p := range s.parts {
			p.beside.meet(p)
		}
		round := w.beside.round
		first := units.Time(units.Never)
		for _, p := range s.parts {
			first = p.beside.turn(p, s)
		}
		switch {
		case round%looks == 0 && ctx.Err() != nil:
			return stopped
		case round%looks == 0 && time.Since(begin) > wall:
			return crowded
		case w.due <= until && w.due <= first:
			w.sample(min(first, until), first)
			continue
		case first > until:
			return ended
		}
		meets := w.meeting(w.beside, first, until)
		for _, p := range s.parts {
			p.beside.began, p.beside.meets = first, meets
		}
		for missing := len(s.parts); missing > 0; {
			missing = 0
			for _, p := range s.parts {
				b := p.beside
				if limit := b.limit(p); limit > b.end {
					p.until(limit)
					b.end = limit
					b.tell(p, limit)
				}
				if b.end < meets {
					missing++
				}
			}
		}
	}
}

// meet has ready what the others want to know when the parts meet.
func (b *beside) meet(p *part) {
	b.tell(p, b.end)
	half := b.half()
	b.next[half] = min(max(p.first, b.end), b.first)
	b.did[half] = p.count - b.events
	p.pool.Share()
	b.held[half] = p.pool.InUse()
	b.idled[half] = b.idle
	b.first, b.events = units.Never, p.count
}

const (
	// Parts meet after more and more windows, this many at most, while there are at
	// least so many events in each on the average.
	mostWindows = 64
	leastEvents = 8
)

// often is after how many events at least a part tells the others, within a window, how far
// it is. Tests have fewer.
var often uint64 = 32

// turn takes what the others sent and turns to the other half. It returns when
// something happens next anywhere.
func (b *beside) turn(p *part, s *split) (first units.Time) {
	half := b.half()
	b.round++
	for i := range b.in {
		b.take(p, b.in[i].from)
	}
	first = units.Never
	held, did := 0, uint64(0)
	for _, other := range b.all {
		first = min(first, other.next[half])
		held += other.held[half]
		did += other.did[half]
	}
	if b.number == 0 {
		s.frames = max(s.frames, held)
	}
	if did >= leastEvents*uint64(b.span/s.ahead) {
		b.span = min(2*b.span, mostWindows*s.ahead)
	} else {
		b.span = max(b.span/2, s.ahead)
	}
	return first
}

// meeting is when the parts meet again.
func (w *World) meeting(b *beside, first, until units.Time) units.Time {
	return min(first+b.span, until+1, w.due)
}

// look is what the first part sees when all meet.
func (s *split) look(ctx context.Context, round uint32, half int) verdict {
	if round%looks == 0 && ctx.Err() != nil {
		return stopped
	}
	now := time.Now()
	if past := now.Sub(s.looked); past >= span {
		s.looked = now
		if time.Duration(s.meet.lost.Swap(0)) > past*2/5 {
			return crowded
		}
	}
	if s.weigh(now, half) {
		return lopsided
	}
	return goOn
}

// until has everything of a part happen that happens before an instant.
func (w *part) until(end units.Time) {
	for w.first < end {
		w.window(end)
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

// mostSpins is after how many looks, a millisecond, a part that others wait for has no
// processor: others come within microseconds. Tests have fewer.
var mostSpins = 3000

// rest is how long one waits from one look to the next, in steps of less than a
// nanosecond: each takes the line that the other writes from its processor.
const rest = 300

// wait waits until all are there.
func (s *split) wait(by *beside) {
	b := &s.meet
	round := b.round.Load()
	if b.here.Add(1) == b.parts {
		b.here.Store(0)
		b.round.Store(round + 1)
		return
	}
	since := time.Now()
	for idle := 0; b.round.Load() == round; {
		s.idle(&idle)
	}
	by.idle += time.Since(since)
}

// alone has the first part do something while all others rest. That these wait then does not
// mean that they have less to do.
func (s *split) alone(b *beside, do func()) {
	waited := b.idle
	s.wait(b) // all know that there is something
	if b.number == 0 {
		do()
	}
	s.wait(b)
	b.idle = waited
}

// idle is called by a part that waits and has nothing to do, with how often it was.
func (s *split) idle(n *int) {
	if *n++; *n < mostSpins {
		for range rest {
			pause()
		}
		if *n%64 == 0 {
			runtime.Gosched() // the other may be a goroutine that waits behind this one
		}
		return
	}
	begin := time.Now()
	time.Sleep(nap)
	s.meet.lost.Add(int64(time.Since(begin)))
}

// pause does nothing, which takes a while.
//
//go:noinline
func pause() {}
