package ratelimit

import (
	"math/bits"
	"unsafe"

	"photon/internal/memory"
	"photon/units"
)

const (
	slotBits  = 8
	slots     = 1 << slotBits
	levels    = 5
	tickShift = 16 // a slot of the lowest level is 2^16 ps = 65.5 ns

	// Slot is the width of a slot of the lowest level. Flows come out of the
	// wheel in the order of their slots and, within one, of their times.
	Slot = units.Time(1) << tickShift
	// Horizon is how far ahead the wheel sees: 20 hours, so that the gaps of a
	// million flows at 1 Mbit/s in all (2.3 hours for 1000 bytes) are far within. A
	// timer beyond it is put at the horizon and sorted again when that has come: it
	// is late by nothing, and costs five moves more for each horizon.
	Horizon = units.Time(1) << (tickShift + levels*slotBits)

	nobody  = -1
	unknown = -1
)

// Wheel holds at most one timer per flow and gives them back in order. It is a
// hierarchical timing wheel (Varghese and Lauck, SOSP'87; one wheel for the
// pacing of all flows: Carousel, SIGCOMM'17): scheduling, cancelling and
// expiring cost O(1) per timer, whatever their number. A timer is moved to a
// lower level at most four times before it expires.
//
// The position of a timer follows from the highest digit, in base 256, in which
// its time differs from the wheel's.
type Wheel struct {
	tick  uint64     // the wheel's time in slots of the lowest level
	soon  units.Time // what Next is; unknown: to be worked out
	count int
	entry []entry
	used  [levels][slots / 64]uint64
	ends  []ends // by level and slot, of large wheels
	head  [levels][slots]int32

	// Soon is told of flows of a large wheel whose timers will expire within the
	// lowest level's turn (16.8 us); nil: nobody is. It is for fetching what will be
	// needed: some flows it is not told of. No flows: that was all for now.
	Soon func(flows []int32)
	tell [soonMost]int32
}

// soonMost is how many flows Soon is told of at once: no more than a core has
// requests for memory under way (24 lines on recent ones; it forgets others).
const soonMost = 4

// ahead is how far ahead of a walk through a slot its memory is asked for, and
// large how many flows a wheel has for which that is worth it: the timers of
// fewer stay in the nearest cache.
const (
	ahead = 8
	large = 1024
)

// ends are the flows that were put first and last into a slot. Some may have left
// it: they say only what to fetch.
type ends struct {
	first, last [ahead]int32
	n           uint32
}

// entry is one flow's timer, and what the pacer keeps beside it: all that is
// touched when a flow is scheduled, expires and queues is in half a cache line, because
// with a hundred thousand flows each of them is a cache miss. A flow is either in
// a slot of the wheel or in a queue of the pacer, and both are rings by the same
// links: the last points to the first.
type entry struct {
	at         units.Time
	next, prev int32
	skip       int32 // put into the slot some places later; a hint, wrong when flows left the slot
	where      int16 // level*slots + slot, or nobody
	tenant     int16 // nobody: none
	class      uint8
	weight     uint8 // frames per turn
	left       uint8 // of them, in this turn
	queued     bool
	_          [4]byte
}

// NewWheel returns a wheel for flows 0 to capacity-1, at time 0.
func NewWheel(capacity int) *Wheel {
	w := &Wheel{soon: units.Never, entry: make([]entry, capacity)}
	memory.Huge(w.entry)
	if capacity >= large {
		w.ends = make([]ends, levels*slots)
	}
	for i := range w.entry {
		w.entry[i] = entry{where: nobody, tenant: nobody, weight: 1}
	}
	return w
}

// Fetch asks for what the next call needs in any case.
func (w *Wheel) Fetch() { memory.Prefetch(unsafe.Pointer(w), 3) }

// Len is the number of timers.
func (w *Wheel) Len() int { return w.count }

// Scheduled reports whether a flow has a timer.
func (w *Wheel) Scheduled(flow int) bool { return w.entry[flow].where != nobody }

// Schedule sets the flow's timer to t, replacing the one it had. A time that
// has passed is due at once.
func (w *Wheel) Schedule(flow int, t units.Time) {
	w.Cancel(flow)
	w.entry[flow].at = t
	w.place(int32(flow))
	w.count++
	if w.soon != unknown {
		w.soon = min(w.soon, w.due(int32(flow)))
	}
}

// due is when a flow's timer expires if its slot is of the lowest level, else when
// its slot must be turned.
func (w *Wheel) due(flow int32) units.Time {
	if level := int(w.entry[flow].where) / slots; level > 0 {
		return units.Time(w.start(level, int(w.entry[flow].where)%slots) << tickShift)
	}
	return min(w.entry[flow].at, w.passed(int(w.entry[flow].where)))
}

// passed is when a slot of the lowest level has passed, and what is still in it,
// because it was beyond the horizon, must be placed anew.
func (w *Wheel) passed(slot int) units.Time {
	return units.Time(min((w.start(0, slot)+1)<<tickShift, uint64(units.Never)))
}

// Cancel removes the flow's timer, if it has one.
func (w *Wheel) Cancel(flow int) {
	if w.entry[flow].where == nobody {
		return
	}
	if w.soon >= w.due(int32(flow)) {
		w.soon = unknown
	}
	w.unlink(int32(flow))
	w.count--
}

// place links a flow into the slot of its time.
func (w *Wheel) place(flow int32) {
	e := &w.entry[flow]
	tick := min(max(uint64(max(e.at, 0))>>tickShift, w.tick), w.tick|(1<<(levels*slotBits)-1))
	level := 0
	if diff := tick ^ w.tick; diff != 0 {
		level = (63 - bits.LeadingZeros64(diff)) / slotBits
	}
	slot := int(tick>>(level*slotBits)) & (slots - 1)
	e.where = int16(level*slots + slot)
	if w.used[level][slot/64]>>(slot%64)&1 == 0 {
		w.used[level][slot/64] |= 1 << (slot % 64)
		w.head[level][slot] = flow
		e.next, e.prev = flow, flow
		if w.ends != nil && level > 0 {
			w.ends[e.where].n = 0
		}
	} else {
		w.link(w.head[level][slot], flow)
	}
	if w.ends == nil || level == 0 { // nobody walks through the lowest level's slots
		return
	}
	x := &w.ends[e.where]
	at := x.n % ahead
	if x.n < ahead {
		x.first[at] = flow
	} else {
		w.entry[x.last[at]].skip = flow
	}
	x.last[at] = flow
	x.n++
}

// link appends a flow to the ring that begins with first.
func (w *Wheel) link(first, flow int32) {
	e, f := &w.entry[flow], &w.entry[first]
	w.entry[f.prev].next, e.prev = flow, f.prev
	e.next, f.prev = first, flow
}

func (w *Wheel) unlink(flow int32) {
	e := &w.entry[flow]
	level, slot := int(e.where)/slots, int(e.where)%slots
	e.where = nobody
	if e.next == flow {
		w.used[level][slot/64] &^= 1 << (slot % 64)
		return
	}
	w.entry[e.prev].next, w.entry[e.next].prev = e.next, e.prev
	if w.head[level][slot] == flow {
		w.head[level][slot] = e.next
	}
}

// first finds the lowest level's, then each higher level's, first slot in use.
func (w *Wheel) first() (level, slot int, ok bool) {
	for level := range levels {
		for word := range w.used[level] {
			if u := w.used[level][word]; u != 0 {
				return level, word*64 + bits.TrailingZeros64(u), true
			}
		}
	}
	return 0, 0, false
}

// start is the tick at which a slot of a level begins.
func (w *Wheel) start(level, slot int) uint64 {
	return w.tick>>((level+1)*slotBits)<<((level+1)*slotBits) | uint64(slot)<<(level*slotBits)
}

// earliest returns the first of a slot's flows to expire; of equals, the one scheduled first.
func (w *Wheel) earliest(level, slot int) int32 {
	best := w.head[level][slot]
	for f := w.entry[best].next; f != w.head[level][slot]; f = w.entry[f].next {
		if w.entry[f].at < w.entry[best].at {
			best = f
		}
	}
	return best
}

// Next returns a time by which no timer expires earlier: exactly the first
// timer's if that is within the lowest level's turn (16.8 us), else when the
// wheel must be turned with Expire; Never if it is empty.
func (w *Wheel) Next() units.Time {
	if w.soon == unknown {
		w.look()
	}
	return w.soon
}

// look works out what Next is.
func (w *Wheel) look() {
	w.soon = units.Never
	if level, slot, ok := w.first(); ok && level == 0 {
		w.soon = min(w.entry[w.earliest(0, slot)].at, w.passed(slot))
	} else if ok {
		w.soon = units.Time(w.start(level, slot) << tickShift)
	}
}

// Expire removes and returns the first flow whose time has come. Call it until
// it reports false.
func (w *Wheel) Expire(now units.Time) (flow int, ok bool) {
	target := uint64(max(now, 0)) >> tickShift
	if w.soon > now { // nothing to do but to note the time
		w.tick = max(w.tick, target)
		return 0, false
	}
	w.soon = units.Never
	for w.count > 0 {
		level, slot, _ := w.first()
		if level == 0 {
			f := w.earliest(0, slot)
			if w.entry[f].at <= now {
				w.unlink(f)
				w.count--
				w.soon = unknown
				return int(f), true
			}
			start := w.start(0, slot)
			if start >= target {
				w.soon = min(w.entry[f].at, w.passed(slot))
				break
			}
			// Its slot has passed, its time has not: it was beyond the horizon.
			w.tick = start + 1
			w.cascade(0, slot)
			continue
		}
		start := w.start(level, slot)
		if start > target {
			w.soon = units.Time(start << tickShift)
			break
		}
		w.tick = start
		w.cascade(level, slot)
	}
	w.tick = max(w.tick, target)
	return 0, false
}

// cascade places the flows of a slot anew, now that the wheel's time has reached
// it. Of a large wheel it fetches their timers some places ahead, and tells Soon
// of those whose turn is near.
func (w *Wheel) cascade(level, slot int) {
	first := w.head[level][slot]
	w.used[level][slot/64] &^= 1 << (slot % 64)
	if w.ends != nil {
		x := &w.ends[level*slots+slot]
		for _, f := range x.first[:min(x.n, ahead)] {
			memory.Prefetch(unsafe.Pointer(&w.entry[f]), 1)
		}
	}
	telling := level == 1 && w.ends != nil && w.Soon != nil
	told := 0
	for f, last := first, w.entry[first].prev; ; {
		e := &w.entry[f]
		if w.ends != nil {
			memory.Prefetch(unsafe.Pointer(&w.entry[e.skip]), 1)
		}
		next := e.next
		w.place(f)
		if telling {
			w.tell[told] = f
			if told++; told == soonMost {
				w.Soon(w.tell[:])
				told = 0
			}
		}
		if f == last {
			break
		}
		f = next
	}
	if telling {
		w.Soon(w.tell[:told])
		w.Soon(nil)
	}
}
