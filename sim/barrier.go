package sim

import (
	"runtime"
	"sync/atomic"
	"time"
)

// barrier is where all parts meet. Who waits polls, since the others come within microseconds.
type barrier struct {
	parts    uint32
	arrived  paddedCounter
	opened   paddedCounter // how often all parts were there
	_        [64]byte
	lost     atomic.Int64 // nanoseconds that parts waited for others without a processor
	broken   atomic.Pointer[Panic]
	portions atomic.Pointer[portions] // that parts which wait for the first may do; nil: there are none
}

// paddedCounter is a counter that all parts change, alone in its cache lines.
type paddedCounter struct {
	_ [64]byte
	atomic.Uint32
	_ [60]byte
}

// wait returns when all parts wait here, and how long that took. Who is late is one of others; nil: it is the first, in
// alone, whose portions are done meanwhile.
func (b *barrier) wait(others []*exchange) time.Duration {
	opened := b.opened.Load()
	if b.arrived.Add(1) == b.parts {
		b.arrived.Store(0)
		b.opened.Store(opened + 1)
		return 0
	}
	var s stall
	for b.opened.Load() == opened {
		if others == nil {
			b.help()
		}
		s.poll(b, others)
	}
	return s.end()
}

// alone calls a function in the first part while all others wait, unless it has portions for them (SideBySide). That
// wait says nothing about the load of the parts.
func (w *World) alone(p *part, do func()) {
	b := &w.parallel.barrier
	b.wait(p.exchange.all) // all parts have read what the first is about to change
	if p.exchange.self == 0 {
		do()
	}
	b.wait(nil)
}

// maxPolls is the number of polls, a millisecond, after which the part that others wait for is taken to have no
// processor, unless it goes on. Tests have fewer.
var maxPolls = 3000

const (
	// pausesPerPoll is the distance of two polls, in steps of less than a nanosecond: each takes the cache line away
	// from the processor that writes to it.
	pausesPerPoll = 300
	// yieldEvery is how many polls pass between two chances for another goroutine, which may be the part that this one
	// waits for.
	yieldEvery = 64
	// nap is the distance of two polls for a part without a processor.
	nap = 50 * time.Microsecond
)

// stall is a wait of one part for others.
type stall struct {
	polls int
	since time.Time
	beats uint64 // of the others, when they were looked at last
	// stoodAt is since when nobody has gone on, as far as that is not among what is lost already.
	stoodAt time.Time
}

// poll lets some time pass until the caller looks again, who waits for one of others. nil: it waits for a function that
// the first part calls, which says nothing about processors.
func (s *stall) poll(b *barrier, others []*exchange) {
	if s.polls == 0 {
		s.since = time.Now()
		s.stoodAt = s.since
	}
	s.polls++
	if s.polls%yieldEvery == 0 && b.broken.Load() != nil {
		panic("sim: another part panicked")
	}
	if s.polls >= maxPolls && !s.goesOn(others) {
		time.Sleep(nap)
		now := time.Now()
		if others != nil {
			b.lost.Add(int64(now.Sub(s.stoodAt)))
		}
		s.stoodAt = now
		return
	}
	for range pausesPerPoll {
		pause()
	}
	if s.polls%yieldEvery == 0 {
		runtime.Gosched()
	}
}

// goesOn reports whether others have handled events since this was asked last. A window of a large network may take
// longer than maxPolls: then it waits as long again.
func (s *stall) goesOn(others []*exchange) bool {
	beats := uint64(0)
	for _, x := range others {
		beats += x.shared[sharedBeat].Load()
	}
	if beats == s.beats {
		return false
	}
	s.beats, s.polls, s.stoodAt = beats, 1, time.Now()
	return true
}

// end ends the wait, if there was one, and returns how long it was.
func (s *stall) end() time.Duration {
	if s.polls == 0 {
		return 0
	}
	s.polls = 0
	return time.Since(s.since)
}

// pause does nothing, which takes a while.
//
//go:noinline
func pause() {}
