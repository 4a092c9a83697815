package fabric

import (
	"sync/atomic"

	"photon/units"
)

// Tap is where a world copies the frames of one port for a capture:
// a ring of fixed size with one producer, the port's worker, and one consumer.
// The worker never waits for it: what does not fit is counted and not copied.
type Tap struct {
	prio PriorityOf
	size int // bytes kept of a frame
	data []byte
	info []tapped // a power of two
	head atomic.Uint32
	_    [60]byte
	tail atomic.Uint32
	lost uint64        // since the last that was copied; the producer's
	all  atomic.Uint64 // lost ever
	laps units.Time    // by which the clock was set back since; the producer's
}

type tapped struct {
	at       units.Time
	lost     uint64
	len      uint16
	captured uint16
	prio     int8
	out      bool
}

// Tapped is a frame that was seen.
type Tapped struct {
	At       units.Time // when the node got it, or gave it to the world, by the clock that there was at the start
	Out      bool       // the node sent it
	Priority int        // -1: it has none
	Len      int        // of the frame, without FCS
	Bytes    []byte     // its first ones; valid until the function that is given them returns
	Lost     uint64     // frames between the one before and this that did not fit
}

// PriorityOf is the priority of a frame that a port received or, with out, sends, of which the first bytes are b; -1:
// it has none. Of a frame that was received f does not say it yet.
type PriorityOf func(f *Frame, b []byte, out bool) int

// NewTap returns a ring for frames frames, rounded up to a power of two, of which
// size bytes are kept. The worker calls prio.
func NewTap(frames, size int, prio PriorityOf) *Tap {
	n := 1
	for n < frames {
		n *= 2
	}
	return &Tap{prio: prio, size: size, data: make([]byte, n*size), info: make([]tapped, n)}
}

// Copy copies frames that a port received or sends. Producer only.
func (t *Tap) Copy(now units.Time, out bool, pool *Pool, burst []Frame) {
	for i := range burst {
		f := &burst[i]
		tail := t.tail.Load()
		if tail-t.head.Load() == uint32(len(t.info)) {
			t.lost++
			t.all.Add(1)
			continue
		}
		b := pool.Header(*f)
		at := int(tail & uint32(len(t.info)-1))
		kept := copy(t.data[at*t.size:(at+1)*t.size], b)
		prio := int8(t.prio(f, b, out))
		t.info[at] = tapped{at: now + t.laps, lost: t.lost, len: f.Len, captured: uint16(kept), prio: prio, out: out}
		t.lost = 0
		t.tail.Store(tail + 1)
	}
}

// Take hands the oldest frame over, and reports false if there is none. Consumer only.
func (t *Tap) Take(do func(*Tapped)) bool {
	head := t.head.Load()
	if head == t.tail.Load() {
		return false
	}
	at := int(head & uint32(len(t.info)-1))
	i := &t.info[at]
	do(&Tapped{At: i.at, Out: i.out, Priority: int(i.prio), Len: int(i.len), Bytes: t.data[at*t.size:][:i.captured:i.captured], Lost: i.lost})
	t.head.Store(head + 1)
	return true
}

// Lost is how many frames did not fit so far.
func (t *Tap) Lost() uint64 { return t.all.Load() }

// Rebase implements units.Rebaser: what was copied keeps its time, and what comes goes on from there.
func (t *Tap) Rebase(by units.Time) { t.laps += by }
