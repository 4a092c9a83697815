package ratelimit

import (
	"math/bits"

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
	// Horizon is how far ahead the wheel sees: 20 hours. What is later is put
	// at the horizon and sorted again when it comes near.
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
	tick  uint64 // the wheel's time in slots of the lowest level
	count int
	used  [levels][slots / 64]uint64
	head  [levels][slots]int32
	next  []int32 // rings: the last of a slot points to its first
	prev  []int32
	at    []units.Time
	where []int16    // level*slots + slot, or nobody
	soon  units.Time // what Next is; unknown: to be worked out
}

// NewWheel returns a wheel for flows 0 to capacity-1, at time 0.
func NewWheel(capacity int) *Wheel {
	w := &Wheel{soon: units.Never, next: make([]int32, capacity), prev: make([]int32, capacity), at: make([]units.Time, capacity), where: make([]int16, capacity)}
	for i := range w.where {
		w.where[i] = nobody
	}
	return w
}

// Len is the number of timers.
func (w *Wheel) Len() int { return w.count }

// Scheduled reports whether a flow has a timer.
func (w *Wheel) Scheduled(flow int) bool { return w.where[flow] != nobody }

// Schedule sets the flow's timer to t, replacing the one it had. A time that
// has passed is due at once.
func (w *Wheel) Schedule(flow int, t units.Time) {
	w.Cancel(flow)
	w.at[flow] = t
	w.place(int32(flow))
	w.count++
	if w.soon != unknown {
		w.soon = min(w.soon, w.due(int32(flow)))
	}
}

// due is when a flow's timer expires if its slot is of the lowest level, else when
// its slot must be turned.
func (w *Wheel) due(flow int32) units.Time {
	if level := int(w.where[flow]) / slots; level > 0 {
		return units.Time(w.start(level, int(w.where[flow])%slots) << tickShift)
	}
	return w.at[flow]
}

// Cancel removes the flow's timer, if it has one.
func (w *Wheel) Cancel(flow int) {
	if w.where[flow] == nobody {
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
	tick := min(max(uint64(max(w.at[flow], 0))>>tickShift, w.tick), w.tick|(1<<(levels*slotBits)-1))
	level := 0
	if diff := tick ^ w.tick; diff != 0 {
		level = (63 - bits.LeadingZeros64(diff)) / slotBits
	}
	slot := int(tick>>(level*slotBits)) & (slots - 1)
	w.where[flow] = int16(level*slots + slot)
	if w.used[level][slot/64]>>(slot%64)&1 == 0 {
		w.used[level][slot/64] |= 1 << (slot % 64)
		w.head[level][slot] = flow
		w.next[flow], w.prev[flow] = flow, flow
		return
	}
	first := w.head[level][slot]
	last := w.prev[first]
	w.next[last], w.prev[flow] = flow, last
	w.next[flow], w.prev[first] = first, flow
}

func (w *Wheel) unlink(flow int32) {
	level, slot := int(w.where[flow])/slots, int(w.where[flow])%slots
	w.where[flow] = nobody
	if w.next[flow] == flow {
		w.used[level][slot/64] &^= 1 << (slot % 64)
		return
	}
	w.next[w.prev[flow]], w.prev[w.next[flow]] = w.next[flow], w.prev[flow]
	if w.head[level][slot] == flow {
		w.head[level][slot] = w.next[flow]
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
	for f := w.next[best]; f != w.head[level][slot]; f = w.next[f] {
		if w.at[f] < w.at[best] {
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
		w.soon = w.at[w.earliest(0, slot)]
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
	w.soon = unknown
	for w.count > 0 {
		level, slot, _ := w.first()
		if level == 0 {
			f := w.earliest(0, slot)
			if w.at[f] <= now {
				w.unlink(f)
				w.count--
				return int(f), true
			}
			start := w.start(0, slot)
			if start >= target {
				break
			}
			// Its slot has passed, its time has not: it was beyond the horizon.
			w.tick = start + 1
			w.cascade(0, slot)
			continue
		}
		start := w.start(level, slot)
		if start > target {
			break
		}
		w.tick = start
		w.cascade(level, slot)
	}
	w.tick = max(w.tick, target)
	w.look()
	return 0, false
}

// cascade places the flows of a slot anew, now that the wheel's time has reached it.
func (w *Wheel) cascade(level, slot int) {
	first := w.head[level][slot]
	w.used[level][slot/64] &^= 1 << (slot % 64)
	for f, last := first, w.prev[first]; ; {
		next := w.next[f]
		w.place(f)
		if f == last {
			return
		}
		f = next
	}
}
