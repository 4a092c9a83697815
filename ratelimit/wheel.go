package ratelimit

import (
	"photon/internal/memory"
	"photon/units"
)

const (
	// Slot is the width of a slot of the lowest level. Flows leave the wheel in the order of their slots and,
	// within one, of their times.
	Slot = units.Time(1) << slotShift
	// Horizon is how far ahead the wheel sees: 20 hours. The gaps of a million flows that have 1 Mbit/s together
	// (2.3 hours for 1000 bytes) are far within. A timer beyond it is put at the horizon, and placed anew when that
	// has come: it is not late, and costs five moves more for each horizon.
	Horizon = units.Time(1) << (slotShift + horizonBits)

	unknown = -1 // of Wheel.next
)

// Wheel holds at most one timer per flow, numbered from 0, and gives the flows back when their times come. Beside each
// timer lies a T, for what its user needs when it expires.
//
// It is a hierarchical timing wheel (Varghese and Lauck, SOSP'87; one wheel for the pacing of all flows: Carousel,
// SIGCOMM'17). To set, cancel and expire a timer costs O(1), whatever their number: a timer is put into a slot of some
// level, see slotOf, and when the wheel's time reaches that slot it is moved to a lower level, at most four times.
//
// While there are no more timers than the short list has places they are there, and the slots are empty.
type Wheel[T any] struct {
	// A wheel with few timers touches this cache line and the list's.
	tick    uint64     // the wheel's time
	next    units.Time // what Next returns if the list is empty; unknown: to be found
	inSlots int        // number of timers in slots; 0: those that are set are in the list
	entries []entry[T] // by flow
	*slotTable
	list shortList
}

// NewWheel returns a wheel for flows 0 to capacity-1, at time 0.
func NewWheel[T any](capacity int) *Wheel[T] {
	w := newElasticWheel[T](capacity)
	if capacity >= prefetchFrom {
		w.hints = make([]hints, len(w.head))
	}
	w.Grow(capacity)
	memory.Huge(w.entries)
	return w
}

// newElasticWheel returns a wheel for at most capacity flows, with room for none yet. It prefetches nothing.
func newElasticWheel[T any](capacity int) *Wheel[T] {
	return &Wheel[T]{next: units.Never, slotTable: newSlotTable(capacity)}
}

// Grow makes room for flows 0 to flows-1. Timers stay.
func (w *Wheel[T]) Grow(flows int) {
	had := len(w.entries)
	if flows <= had {
		return
	}
	w.entries = append(make([]entry[T], 0, flows), w.entries...)[:flows]
	for i := had; i < flows; i++ {
		w.entries[i].timer = timer{slot: noSlot, tenant: noTenant, weight: 1}
	}
}

// Beside is what lies beside a flow's timer. The wheel does not look at it.
func (w *Wheel[T]) Beside(flow int) *T { return &w.entries[flow].beside }

// Len is the number of timers.
func (w *Wheel[T]) Len() int { return w.inSlots + w.list.n }

// Scheduled reports whether a flow's timer is set.
func (w *Wheel[T]) Scheduled(flow int) bool { return w.entries[flow].slot != noSlot }

// Schedule sets the flow's timer to t, in place of what it was set to. A time that has passed is due at once.
func (w *Wheel[T]) Schedule(flow int, t units.Time) {
	e := &w.entries[flow]
	if e.slot != noSlot {
		w.Cancel(flow)
	}
	e.at = t
	if w.inSlots == 0 {
		if w.list.n < shortListLen {
			e.slot = inList
			w.list.add(int32(flow), t)
			return
		}
		w.emptyList()
	}
	w.place(int32(flow))
	w.inSlots++
	if w.next != unknown {
		w.next = min(w.next, w.attention(&e.timer))
	}
}

// emptyList moves the timers of the list into slots, in the order in which they expire.
func (w *Wheel[T]) emptyList() {
	for i := range w.list.n {
		w.place(w.list.fromEnd(i).flow)
	}
	w.inSlots, w.list.n = w.list.n, 0
	w.next = unknown
}

// Cancel removes the flow's timer, if it is set.
func (w *Wheel[T]) Cancel(flow int) {
	e := &w.entries[flow]
	switch e.slot {
	case noSlot:
	case inList:
		w.list.remove(int32(flow))
		e.slot = noSlot
	default:
		if w.next >= w.attention(&e.timer) {
			w.next = unknown
		}
		w.remove(int32(flow))
	}
}

// place puts a flow last into the slot of its time.
func (w *Wheel[T]) place(flow int32) {
	e := &w.entries[flow]
	tick := min(max(tickOf(e.at), w.tick), w.tick|(1<<horizonBits-1))
	level, slot := w.slotOf(tick, w.tick)
	e.slot = slot
	alone := w.occupied.add(uint32(slot))
	if alone {
		w.head[slot] = flow
		e.next, e.prev = flow, flow
	} else {
		w.appendToRing(w.head[slot], flow)
	}
	if w.hints != nil && level > 0 { // timers of the lowest level are not moved
		w.hint(slot, flow, alone)
	}
}

// remove takes a flow out of its slot.
func (w *Wheel[T]) remove(flow int32) {
	e := &w.entries[flow]
	slot := e.slot
	e.slot = noSlot
	w.inSlots--
	if e.next == flow {
		w.occupied.remove(uint32(slot))
		return
	}
	w.removeFromRing(&e.timer)
	if w.head[slot] == flow {
		w.head[slot] = e.next
	}
}

// attention is when a timer in a slot makes the wheel do something: it expires or, in a higher level, must be moved.
func (w *Wheel[T]) attention(e *timer) units.Time {
	if level := w.level(e.slot); level > 0 {
		return w.begins(level, e.slot)
	}
	return min(e.at, w.ends(e.slot))
}

// begins is when a slot of a higher level begins, and its timers must be moved.
func (w *Wheel[T]) begins(level int, slot int32) units.Time {
	return units.Time(w.startOf(level, slot, w.tick) << slotShift)
}

// ends is when a slot of the lowest level ends. What has not expired by then is beyond the horizon.
func (w *Wheel[T]) ends(slot int32) units.Time {
	return units.Time(min((w.startOf(0, slot, w.tick)+1)<<slotShift, uint64(units.Never)))
}

// upcoming is the first slot that makes the wheel do something, and when. In the lowest level it says which flow
// expires first; of equals, the one that was scheduled first. There must be timers in slots.
func (w *Wheel[T]) upcoming() (level int, slot, flow int32, at units.Time) {
	slot = w.occupied.smallest() // lower levels come first, and in each level slots are in the order of time
	flow = w.head[slot]
	if level = w.level(slot); level > 0 {
		return level, slot, flow, w.begins(level, slot)
	}
	first, e := flow, &w.entries[flow]
	at = e.at
	for f := e.next; f != first; f = e.next {
		if e = &w.entries[f]; e.at < at {
			flow, at = f, e.at
		}
	}
	return 0, slot, flow, min(at, w.ends(slot))
}

// Next returns a time before which no timer expires: exactly that of the first one if it is in the short list or
// within the lowest level's turn (16.8 us), else when Expire must be called to turn the wheel; Never if it is empty.
func (w *Wheel[T]) Next() units.Time {
	if at := w.knownNext(); at != unknown {
		return at
	}
	return w.findNext()
}

// knownNext is Next, if that need not be looked for, or else unknown.
func (w *Wheel[T]) knownNext() units.Time {
	if w.list.n > 0 {
		return w.list.fromEnd(0).at
	}
	return w.next
}

func (w *Wheel[T]) findNext() units.Time {
	w.next = units.Never
	if w.inSlots > 0 {
		_, _, _, w.next = w.upcoming()
	}
	return w.next
}

// Expire removes and returns the first flow whose time has come. Call it until it reports false.
func (w *Wheel[T]) Expire(now units.Time) (flow int, ok bool) {
	if w.knownNext() > now {
		w.advance(now)
		return 0, false
	}
	if w.list.n > 0 {
		return w.popList(), true
	}
	next := units.Never
	for w.inSlots > 0 {
		level, slot, f, at := w.upcoming()
		if at > now {
			next = at
			break
		}
		switch {
		case level > 0:
			w.cascade(slot, w.startOf(level, slot, w.tick), level == 1)
		case w.entries[f].at > now: // it was beyond the horizon
			w.cascade(slot, w.startOf(0, slot, w.tick)+1, false)
		default:
			w.remove(f)
			w.next = unknown
			return int(f), true
		}
	}
	w.next = next
	w.advance(now)
	return 0, false
}

// advance sets the wheel's time when nothing is due.
func (w *Wheel[T]) advance(now units.Time) { w.tick = max(w.tick, tickOf(now)) }

// popList takes the first timer out of the list.
func (w *Wheel[T]) popList() int {
	f := w.list.fromEnd(0).flow
	w.list.n--
	w.entries[f].slot = noSlot
	return int(f)
}

// cascade sets the wheel's time to that at which a slot's timers must be moved, and places each anew. Warm gets
// them if they are near.
func (w *Wheel[T]) cascade(slot int32, tick uint64, near bool) {
	w.tick = tick
	first := w.head[slot]
	w.occupied.remove(uint32(slot))
	large := w.hints != nil
	if large {
		w.prefetchFirst(slot)
	}
	warm := w.warm[:0]
	near = near && large && w.Warm != nil
	for f, last := first, w.entries[first].prev; ; {
		e := &w.entries[f]
		if large {
			w.prefetchTimer(e.hint)
		}
		next := e.next // place changes it
		w.place(f)
		if near {
			if warm = append(warm, f); len(warm) == warmBurst {
				w.Warm(warm)
				warm = warm[:0]
			}
		}
		if f == last {
			break
		}
		f = next
	}
	if near {
		w.Warm(warm)
		w.Warm(nil)
	}
}

// A lap is a whole number of horizons: when the clock is set back, every timer stays in its slot.
var _ [0]struct{} = [units.Lap % Horizon]struct{}{}

// Rebase implements units.Rebaser.
func (w *Wheel[T]) Rebase(by units.Time) {
	if lap := tickOf(by); w.tick >= lap {
		w.tick -= lap
	} else { // the wheel was not asked for long
		w.tick &= 1<<horizonBits - 1
	}
	if w.next != unknown {
		w.next.Rebase(by)
	}
	for i := range w.list.timers {
		w.list.timers[i].at.Rebase(by)
	}
	for i := range w.entries {
		w.entries[i].at.Rebase(by)
	}
}
