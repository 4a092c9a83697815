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
	proceed    verdict = iota
	ended              // there is nothing more before the end of the run
	stopped            // the context has ended
	crowded            // parts wait for processors that other programs use
	imbalanced         // some parts have too much to do
)

// runParts is Run of a world in parts. They run in parallel if there are processors
// for them, else interleaved in one goroutine.
func (w *World) runParts(ctx context.Context, until units.Time) error {
	for _, p := range w.parts {
		p.exchange.end = p.now
	}
	v := crowded
	for v == crowded {
		if runtime.GOMAXPROCS(0) < len(w.parts) {
			v = w.runInterleaved(ctx, until, math.MaxInt64)
			break
		}
		if v = w.runParallel(ctx, until); v == crowded {
			v = w.runInterleaved(ctx, until, retryAfter)
		}
	}
	if v == stopped {
		return ctx.Err()
	}
	return nil
}

const (
	// checkEvery is how many meetings pass between two checks of the context, or, for interleaved
	// parts, of the clock.
	checkEvery = 1 << 3
	// Parts are crowded if for more than two fifths of a contentionSpan they wait for one that
	// has no processor. With less, two parts are still faster in parallel than interleaved.
	contentionSpan = 20 * time.Millisecond
	// retryAfter is how long parts are then interleaved before they run in parallel again.
	retryAfter = 300 * time.Millisecond
)

// runParallel runs each part on a processor of its own.
func (w *World) runParallel(ctx context.Context, until units.Time) verdict {
	w.parallel.checkedAt = time.Now()
	w.parallel.weighed = w.parallel.checkedAt
	w.parallel.meet.lost.Store(0)
	var rest sync.WaitGroup
	for _, p := range w.parts[1:] {
		rest.Go(func() { w.work(ctx, p, until) })
	}
	v := w.work(ctx, &w.part, until)
	rest.Wait()
	return v
}

// work runs a part from meeting to meeting. All parts come to the same verdict.
func (w *World) work(ctx context.Context, p *part, until units.Time) verdict {
	s, b := w.parallel, p.exchange
	for {
		half := b.half()
		b.meet(p)
		if b.part == 0 {
			b.stop[half] = w.check(ctx, b.round, half)
		}
		s.wait(b)
		first := b.nextRound(p, s)
		switch v := b.all[0].stop[half]; v {
		case proceed:
		case imbalanced:
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
		b.roundStart, b.meetAt = first, w.meeting(b, first, until)
		var since time.Time
		for idle := 0; b.end < b.meetAt; {
			limit := b.horizon(p)
			if limit < min(b.end+s.ahead/2, b.meetAt) { // less is not worth a publish
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
			b.publish(p, limit)
		}
	}
}

// runInterleaved runs all parts in one goroutine, for a time.
func (w *World) runInterleaved(ctx context.Context, until units.Time, wall time.Duration) verdict {
	s, begin := w.parallel, time.Now()
	for {
		for _, p := range w.parts {
			p.exchange.meet(p)
		}
		round := w.exchange.round
		first := units.Time(units.Never)
		for _, p := range w.parts {
			first = p.exchange.nextRound(p, s)
		}
		switch {
		case round%checkEvery == 0 && ctx.Err() != nil:
			return stopped
		case round%checkEvery == 0 && time.Since(begin) > wall:
			return crowded
		case w.due <= until && w.due <= first:
			w.sample(min(first, until), first)
			continue
		case first > until:
			return ended
		}
		meets := w.meeting(w.exchange, first, until)
		for _, p := range w.parts {
			p.exchange.roundStart, p.exchange.meetAt = first, meets
		}
		for missing := len(w.parts); missing > 0; {
			missing = 0
			for _, p := range w.parts {
				b := p.exchange
				if limit := b.horizon(p); limit > b.end {
					p.until(limit)
					b.end = limit
					b.publish(p, limit)
				}
				if b.end < meets {
					missing++
				}
			}
		}
	}
}

// meet writes what the others read when the parts meet.
func (b *exchange) meet(p *part) {
	b.publish(p, b.end)
	half := b.half()
	b.next[half] = min(max(p.next, b.end), b.first)
	b.executed[half] = p.events - b.events
	p.pool.Share()
	b.frames[half] = p.pool.InUse()
	b.idleTotal[half] = b.idle
	b.first, b.events = units.Never, p.events
}

const (
	// Parts meet after more and more windows, this many at most, while there are at
	// least so many events in each on the average.
	mostWindows = 64
	leastEvents = 8
)

// publishEvery is the least number of events after which a part publishes, within a window, how far
// it is. Tests have fewer.
var publishEvery uint64 = 32

// nextRound takes what the others sent and swaps the halves. It returns the time of the
// next event anywhere.
func (b *exchange) nextRound(p *part, s *parallel) (first units.Time) {
	half := b.half()
	b.round++
	for i := range b.in {
		b.take(p, b.in[i].from)
	}
	first = units.Never
	held, did := 0, uint64(0)
	for _, other := range b.all {
		first = min(first, other.next[half])
		held += other.frames[half]
		did += other.executed[half]
	}
	if b.part == 0 {
		s.peakFrames = max(s.peakFrames, held)
	}
	if did >= leastEvents*uint64(b.span/s.ahead) {
		b.span = min(2*b.span, mostWindows*s.ahead)
	} else {
		b.span = max(b.span/2, s.ahead)
	}
	return first
}

// meeting is when the parts meet again.
func (w *World) meeting(b *exchange, first, until units.Time) units.Time {
	return min(first+b.span, until+1, w.due)
}

// check decides, for all parts, whether windows go on. The first part calls it at each meeting.
func (w *World) check(ctx context.Context, round uint32, half int) verdict {
	s := w.parallel
	if round%checkEvery == 0 && ctx.Err() != nil {
		return stopped
	}
	now := time.Now()
	if past := now.Sub(s.checkedAt); past >= contentionSpan {
		s.checkedAt = now
		if time.Duration(s.meet.lost.Swap(0)) > past*2/5 {
			return crowded
		}
	}
	if w.weigh(now, half) {
		return imbalanced
	}
	return proceed
}

// until runs the events of a part before an instant.
func (w *part) until(end units.Time) {
	for w.next < end {
		w.window(end)
	}
}

// paddedCounter is a counter that all parts change, alone in its cache lines.
type paddedCounter struct {
	_ [64]byte
	atomic.Uint32
	_ [60]byte
}

// barrier is where all parts meet.
type barrier struct {
	parts   uint32
	arrived paddedCounter
	round   paddedCounter
	_       [64]byte
	lost    atomic.Int64 // nanoseconds that one waited for another that had no processor
}

const nap = 50 * time.Microsecond // of one that waits for such a part

// mostSpins is the number of polls, a millisecond, after which a part that others wait for
// counts as without a processor: one that has one comes within microseconds. Tests have fewer.
var mostSpins = 3000

// spinPauses is the wait between two polls, in steps of less than a nanosecond: each poll
// takes the cache line away from the processor that writes it.
const spinPauses = 300

// wait waits until all are there.
func (s *parallel) wait(by *exchange) {
	b := &s.meet
	round := b.round.Load()
	if b.arrived.Add(1) == b.parts {
		b.arrived.Store(0)
		b.round.Store(round + 1)
		return
	}
	since := time.Now()
	for idle := 0; b.round.Load() == round; {
		s.idle(&idle)
	}
	by.idle += time.Since(since)
}

// alone lets the first part do something while all others wait. This wait does not count
// as idle time, which balances the load.
func (s *parallel) alone(b *exchange, do func()) {
	waited := b.idle
	s.wait(b) // all know that there is something
	if b.part == 0 {
		do()
	}
	s.wait(b)
	b.idle = waited
}

// idle is called by a part that waits and has nothing to do, with how often it was.
func (s *parallel) idle(n *int) {
	if *n++; *n < mostSpins {
		for range spinPauses {
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
