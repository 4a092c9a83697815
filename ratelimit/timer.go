package ratelimit

import "photon/units"

// timer is the timer of one flow, and its place in the queue of those that are ready. A flow either waits in
// the wheel or stands in a queue, never both, so one pair of links serves for both.
//
// With a hundred thousand flows each touch of a timer is a cache miss. Therefore a timer is half a cache line, and
// all that the wheel and the pacer need of a flow is in it.
type timer struct {
	at         units.Time
	next, prev int32 // neighbours in a ring: the last of a slot or of a queue points to the first
	hint       int32 // see hints
	slot       int32 // number of its slot in the wheel; noSlot, inList
	tenant     int16 // noTenant: none
	class      uint8
	weight     uint8 // frames per turn at the port
	turnLeft   uint8 // frames that are left of this turn
	queued     bool  // it stands in a queue
	_          [2]byte
}

const (
	noSlot   = -1 // the timer is not set
	inList   = -2 // the timer is in the short list
	noTenant = -1
)

// entry is a timer and what the wheel's user keeps beside it. The timer is last because Go pads a struct that
// ends in a field of no size.
type entry[T any] struct {
	beside T
	timer
}

// appendToRing puts a flow behind the last of the ring that begins with first.
func (w *Wheel[T]) appendToRing(first, flow int32) {
	e, f := &w.entries[flow], &w.entries[first]
	w.entries[f.prev].next, e.prev = flow, f.prev
	e.next, f.prev = first, flow
}

// removeFromRing takes a flow out of a ring that has others.
func (w *Wheel[T]) removeFromRing(e *timer) {
	w.entries[e.prev].next, w.entries[e.next].prev = e.next, e.prev
}
