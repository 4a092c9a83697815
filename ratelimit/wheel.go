package ratelimit

import (
	"math/bits"
	"unsafe"

	"photon/internal/memory"
	"photon/units"
)

const (
	slotBits    = 8 // of a level that is not the second of a large wheel
	slots       = 1 << slotBits
	levels      = 5
	horizonBits = levels * slotBits
	mostSecond  = 16 // bits of the second level of the largest wheels
	tickShift   = 16 // a slot of the lowest level is 2^16 ps = 65.5 ns

	// Slot is the width of a slot of the lowest level. Flows come out of the
	// wheel in the order of their slots and, within one, of their times.
	Slot = units.Time(1) << tickShift
	// Horizon is how far ahead the wheel sees: 20 hours, so that the gaps of a
	// million flows at 1 Mbit/s in all (2.3 hours for 1000 bytes) are far within. A
	// timer beyond it is put at the horizon and sorted again when that has come: it
	// is late by nothing, and costs five moves more for each horizon.
	Horizon = units.Time(1) << (tickShift + horizonBits)

	nobody  = -1
	unknown = -1
	isFew   = -2 // where a timer is that is among few

	// mostFew is how many timers are kept in a list instead: two lines of the cache.
	mostFew = 8
)

// WheelWith holds at most one timer per flow and gives them back in order. It is a
// hierarchical timing wheel (Varghese and Lauck, SOSP'87; one wheel for the
// pacing of all flows: Carousel, SIGCOMM'17): scheduling, cancelling and
// expiring cost O(1) per timer, whatever their number. A timer is moved to a
// lower level at most four times before it expires.
//
// The position of a timer follows from the highest digit, in base 256, in which
// its time differs from the wheel's. The second digit of a large wheel has as many
// bits as let the gaps of as many flows as there is room for fit into it, when they
// share some Gbit/s: their timers are moved once, like those of few flows, and
// each move is a cache miss.
//
// As long as there are only a few timers, as a simulated host mostly has, they are in a
// sorted list, and the wheel is empty.
//
// Beside each timer lies a T, of what the flow's next departure needs.
type WheelWith[T any] struct {
	// A host with a few flows needs these lines of the cache and no more.
	tick  uint64     // the wheel's time in slots of the lowest level
	soon  units.Time // what Next is; unknown: to be worked out
	count int
	lone  int // how many timers are in few; 0: those there are are in the wheel
	entry []entry[T]
	*turning
	few [mostFew]one
}

// turning is what a wheel needs that turns.
type turning struct {
	shift [levels + 1]uint8                      // lowest bit of each level's digit in a tick; the last: of what is beyond the horizon
	mask  [levels]int32                          // of a digit
	first [levels]int32                          // number of each level's first slot
	used  []uint64                               // slots with timers, by number
	some  [levels][1 << (mostSecond - 12)]uint64 // words of used with any, by level
	head  []int32                                // by number of slot
	ends  []ends                                 // by number of slot, of large wheels

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

// one is a timer among few; the first to expire is the last of them.
type one struct {
	at   units.Time
	flow int32
}

// ends are the flows that were put first and last into a slot. Some may have left
// it: they say only what to fetch.
type ends struct {
	first, last [ahead]int32
	n           uint32
}

// timer is one flow's, and what the pacer keeps beside it: all that is
// touched when a flow is scheduled, expires and queues is in half a cache line, because
// with a hundred thousand flows each of them is a cache miss. A flow is either in
// a slot of the wheel or in a queue of the pacer, and both are rings by the same
// links: the last points to the first.
type timer struct {
	at         units.Time
	next, prev int32
	skip       int32 // put into the slot some places later; a hint, wrong when flows left the slot
	where      int32 // number of the slot, or nobody
	tenant     int16 // nobody: none
	class      uint8
	weight     uint8 // frames per turn
	left       uint8 // of them, in this turn
	queued     bool
	_          [2]byte
}

// entry is a timer and what lies beside it: in front, so that nothing of no size
// is last, which would be given some.
type entry[T any] struct {
	beside T
	timer
}

// Wheel is one with timers only.
type Wheel = WheelWith[struct{}]

// NewWheel returns a wheel for flows 0 to capacity-1, at time 0.
func NewWheel(capacity int) *Wheel { return NewWheelWith[struct{}](capacity) }

// NewWheelWith returns a wheel for flows 0 to capacity-1, at time 0.
func NewWheelWith[T any](capacity int) *WheelWith[T] {
	w := newWheel[T](capacity)
	if capacity >= large {
		w.ends = make([]ends, len(w.head))
	}
	w.Room(capacity)
	memory.Huge(w.entry)
	return w
}

// Room makes room for flows 0 to flows-1; timers stay.
func (w *WheelWith[T]) Room(flows int) {
	was := len(w.entry)
	if flows <= was {
		return
	}
	w.entry = append(make([]entry[T], 0, flows), w.entry...)[:flows]
	for i := was; i < flows; i++ {
		w.entry[i].timer = timer{where: nobody, tenant: nobody, weight: 1}
	}
}

// newWheel is NewWheelWith with room for no flow yet. It fetches nothing ahead.
func newWheel[T any](capacity int) *WheelWith[T] {
	w := &WheelWith[T]{soon: units.Never, turning: new(turning)}
	second := min(max(slotBits, bits.Len(uint(capacity))-1), mostSecond)
	total := int32(0)
	for level := range levels {
		n := slotBits
		if level == 1 {
			n = second
		}
		n = min(n, horizonBits-int(w.shift[level]))
		w.shift[level+1] = w.shift[level] + uint8(n)
		w.first[level], w.mask[level] = total, 1<<n-1
		total += max(64, int32(1)<<n) // whole words
	}
	w.used, w.head = make([]uint64, total/64), make([]int32, total)
	return w
}

// Beside is what lies beside a flow's timer. The wheel does not look at it.
func (w *WheelWith[T]) Beside(flow int) *T { return &w.entry[flow].beside }

// Len is the number of timers.
func (w *WheelWith[T]) Len() int { return w.count }

// Scheduled reports whether a flow has a timer.
func (w *WheelWith[T]) Scheduled(flow int) bool { return w.entry[flow].where != nobody }

// Schedule sets the flow's timer to t, replacing the one it had. A time that
// has passed is due at once.
func (w *WheelWith[T]) Schedule(flow int, t units.Time) {
	e := &w.entry[flow]
	if e.where != nobody {
		if e.where == isFew && e.at == t && w.lastOfFew(int32(flow)) {
			return // it would come back to where it is
		}
		w.Cancel(flow)
	}
	e.at = t
	if n := w.lone; n == w.count {
		if n < mostFew {
			e.where = isFew
			w.addFew(int32(flow), t)
			return
		}
		w.spill()
	}
	w.place(int32(flow))
	w.count++
	if w.soon != unknown {
		w.soon = min(w.soon, w.due(int32(flow)))
	}
}

// lastOfFew reports whether no other timer among few expires when a flow's does, but
// after it.
func (w *WheelWith[T]) lastOfFew(flow int32) bool {
	i := 0
	for w.few[i&(mostFew-1)].flow != flow {
		i++
	}
	return i == 0 || w.few[(i-1)&(mostFew-1)].at != w.few[i&(mostFew-1)].at
}

// addFew puts a timer in front of those that expire before it, or when it does.
func (w *WheelWith[T]) addFew(flow int32, at units.Time) {
	i := w.lone
	for ; i > 0 && w.few[(i-1)&(mostFew-1)].at <= at; i-- {
		w.few[i&(mostFew-1)] = w.few[(i-1)&(mostFew-1)]
	}
	w.few[i&(mostFew-1)] = one{at, flow}
	w.lone++
	w.count++
}

// spill puts the few timers into the wheel, in the order in which they expire.
func (w *WheelWith[T]) spill() {
	for i := w.lone - 1; i >= 0; i-- {
		w.place(w.few[i].flow)
	}
	w.lone, w.soon = 0, unknown
}

// due is when a flow's timer expires if its slot is of the lowest level, else when
// its slot must be turned.
func (w *WheelWith[T]) due(flow int32) units.Time {
	slot := w.entry[flow].where
	if level := w.level(slot); level > 0 {
		return units.Time(w.start(level, slot) << tickShift)
	}
	return min(w.entry[flow].at, w.passed(slot))
}

// passed is when a slot of the lowest level has passed, and what is still in it,
// because it was beyond the horizon, must be placed anew.
func (w *WheelWith[T]) passed(slot int32) units.Time {
	return units.Time(min((w.start(0, slot)+1)<<tickShift, uint64(units.Never)))
}

// Cancel removes the flow's timer, if it has one.
func (w *WheelWith[T]) Cancel(flow int) {
	switch w.entry[flow].where {
	case nobody:
		return
	case isFew:
		i := 0
		for w.few[i].flow != int32(flow) {
			i++
		}
		copy(w.few[i:], w.few[i+1:w.lone])
		w.lone--
		w.count--
		w.entry[flow].where = nobody
		return
	}
	if w.soon >= w.due(int32(flow)) {
		w.soon = unknown
	}
	w.unlink(int32(flow))
	w.count--
}

// level of a slot.
func (w *WheelWith[T]) level(slot int32) int {
	for level := levels - 1; level > 0; level-- {
		if slot >= w.first[level] {
			return level
		}
	}
	return 0
}

// place links a flow into the slot of its time.
func (w *WheelWith[T]) place(flow int32) {
	e := &w.entry[flow]
	tick := min(max(uint64(max(e.at, 0))>>tickShift, w.tick), w.tick|(1<<horizonBits-1))
	level, slot := 0, int32(tick&(slots-1))
	if differs := tick ^ w.tick; differs >= slots {
		for level = 1; differs>>(w.shift[level+1]&63) != 0; {
			level++
		}
		slot = w.first[level] + int32(tick>>(w.shift[level]&63))&w.mask[level]
	}
	e.where = slot
	word := &w.used[slot/64]
	if *word>>(uint32(slot)%64)&1 == 0 {
		*word |= 1 << (uint32(slot) % 64)
		if level > 0 {
			at := uint32(slot-w.first[level]) / 64
			w.some[level][at/64] |= 1 << (at % 64)
		}
		w.head[slot] = flow
		e.next, e.prev = flow, flow
		if w.ends != nil && level > 0 {
			w.ends[slot].n = 0
		}
	} else {
		w.link(w.head[slot], flow)
	}
	if w.ends == nil || level == 0 { // nobody walks through the lowest level's slots
		return
	}
	x := &w.ends[slot]
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
func (w *WheelWith[T]) link(first, flow int32) {
	e, f := &w.entry[flow], &w.entry[first]
	w.entry[f.prev].next, e.prev = flow, f.prev
	e.next, f.prev = first, flow
}

func (w *WheelWith[T]) unlink(flow int32) {
	e := &w.entry[flow]
	slot := e.where
	e.where = nobody
	if e.next == flow {
		w.empty(w.level(slot), slot)
		return
	}
	w.entry[e.prev].next, w.entry[e.next].prev = e.next, e.prev
	if w.head[slot] == flow {
		w.head[slot] = e.next
	}
}

// empty notes that nothing is in a slot any more.
func (w *WheelWith[T]) empty(level int, slot int32) {
	if w.used[slot/64] &^= 1 << (uint32(slot) % 64); level > 0 && w.used[slot/64] == 0 {
		at := uint32(slot-w.first[level]) / 64
		w.some[level][at/64] &^= 1 << (at % 64)
	}
}

// lowest finds the lowest level's, then each higher level's, first slot in use.
func (w *WheelWith[T]) lowest() (level int, slot int32, ok bool) {
	for word := range w.used[:slots/64] {
		if u := w.used[word]; u != 0 {
			return 0, int32(word*64 + bits.TrailingZeros64(u)), true
		}
	}
	for level := 1; level < levels; level++ {
		some := &w.some[level]
		for i := range some {
			if some[i] != 0 {
				word := w.first[level]/64 + int32(i*64+bits.TrailingZeros64(some[i]))
				return level, word*64 + int32(bits.TrailingZeros64(w.used[word])), true
			}
			if level != 1 {
				break // one word tells of all slots
			}
		}
	}
	return 0, 0, false
}

// start is the tick at which a slot of a level begins.
func (w *WheelWith[T]) start(level int, slot int32) uint64 {
	up := w.shift[level+1]
	return w.tick>>up<<up | uint64(slot-w.first[level])<<w.shift[level]
}

// earliest returns the first of a slot's flows to expire; of equals, the one scheduled first.
func (w *WheelWith[T]) earliest(slot int32) int32 {
	best := w.head[slot]
	for f := w.entry[best].next; f != w.head[slot]; f = w.entry[f].next {
		if w.entry[f].at < w.entry[best].at {
			best = f
		}
	}
	return best
}

// Next returns a time by which no timer expires earlier: exactly the first
// timer's if there are few or that is within the lowest level's turn (16.8 us),
// else when the wheel must be turned with Expire; Never if it is empty.
func (w *WheelWith[T]) Next() units.Time {
	at := w.soon
	if n := w.lone; n > 0 {
		at = w.few[(n-1)&(mostFew-1)].at
	}
	if at != unknown {
		return at
	}
	return w.look()
}

// look is Next if that is unknown; of few timers it was as if they were in the wheel.
func (w *WheelWith[T]) look() units.Time {
	w.soon = units.Never
	if level, slot, ok := w.lowest(); ok && level == 0 {
		w.soon = min(w.entry[w.earliest(slot)].at, w.passed(slot))
	} else if ok {
		w.soon = units.Time(w.start(level, slot) << tickShift)
	}
	return w.soon
}

// note is Expire when nothing is due.
func (w *WheelWith[T]) note(now units.Time) { w.tick = max(w.tick, uint64(max(now, 0))>>tickShift) }

// Expire removes and returns the first flow whose time has come. Call it until
// it reports false.
func (w *WheelWith[T]) Expire(now units.Time) (flow int, ok bool) {
	target := uint64(max(now, 0)) >> tickShift
	if n := w.lone; n > 0 {
		t := &w.few[(n-1)&(mostFew-1)]
		if t.at > now {
			w.tick = max(w.tick, target)
			return 0, false
		}
		w.lone = n - 1
		w.count--
		w.entry[t.flow].where = nobody
		return int(t.flow), true
	}
	if w.soon > now { // nothing to do but to note the time
		w.tick = max(w.tick, target)
		return 0, false
	}
	w.soon = units.Never
	for w.count > 0 {
		level, slot, _ := w.lowest()
		if level == 0 {
			f := w.earliest(slot)
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
func (w *WheelWith[T]) cascade(level int, slot int32) {
	first := w.head[slot]
	w.empty(level, slot)
	if w.ends != nil {
		x := &w.ends[slot]
		for _, f := range x.first[:min(x.n, ahead)] {
			memory.Prefetch(unsafe.Pointer(&w.entry[f].timer), 1)
		}
	}
	telling := level == 1 && w.ends != nil && w.Soon != nil
	told := 0
	for f, last := first, w.entry[first].prev; ; {
		e := &w.entry[f]
		if w.ends != nil {
			memory.Prefetch(unsafe.Pointer(&w.entry[e.skip].timer), 1)
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

// A lap is whole turns of a wheel's highest level: when the clock is set back, every timer stays in its slot.
var _ [0]struct{} = [units.Lap % Horizon]struct{}{}

// Rebase implements units.Rebaser.
func (w *WheelWith[T]) Rebase(by units.Time) {
	if lap := uint64(by) >> tickShift; w.tick >= lap {
		w.tick -= lap
	} else { // nobody has asked for long
		w.tick &= 1<<horizonBits - 1
	}
	if w.soon != unknown {
		w.soon.Rebase(by)
	}
	for i := range w.few {
		w.few[i].at.Rebase(by)
	}
	for i := range w.entry {
		w.entry[i].at.Rebase(by)
	}
}
