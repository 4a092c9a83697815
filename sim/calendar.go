package sim

import (
	"math/bits"
	"slices"

	"photon/units"
)

// calendar holds a fixed set of events, each with a time that can be changed, and
// gives them back in the order of their times, equal times in the order of the
// events' numbers. An event whose time is units.Never rests outside.
//
// It is made for what a network's events are like: most happen within the delay
// of a link, and then the next few nanoseconds hold a handful of them. Time is
// cut into days of equal length (a calendar queue, Brown, CACM 31(10), 1988, of
// fixed width, whose days are lists within the events themselves): to set an event
// is to link it into its day, and to find the first is to look for the next day
// that is not empty, by a bitmap, and to sort what happens on it. Events beyond the
// year wait in a heap, and are looked for on their day; only timers are.
type calendar struct {
	slots []slot
	shift uint8   // a day is 2^shift ps
	today int64   // number of the day that was reached; nothing before it is in the lists
	now   []entry // of today and before, sorted, and what comes first is last
	days  []int32 // by number modulo the year: the first event of the list; nobody
	used  [year / 64]uint64
	any   [year / 64 / 64]uint64 // words of used that are not zero
	later *heap
}

// slot is an event's place. What changes together lies together.
type slot struct {
	at   units.Time
	next int32 // in the list of its day; nobody
	prev int32 // the same, or one of the following
}

const (
	nobody  = -1 // first, or last, of its day's list
	isNow   = -2 // in now
	isLater = -3 // in later
	rests   = -4 // nowhere

	year = 1 << 14 // days
)

// entry has its time beside it: comparing must not look elsewhere.
type entry struct {
	at    units.Time
	event int32
}

func (a entry) before(b entry) bool {
	return a.at < b.at || a.at == b.at && a.event < b.event
}

// newCalendar makes one for events of which most are set at most span ahead.
func newCalendar(events int, span units.Time) *calendar {
	c := &calendar{slots: make([]slot, events), days: make([]int32, year), later: newHeap(events), shift: shortestDay}
	for span>>c.shift >= year-1 && c.shift < 62 {
		c.shift++
	}
	for i := range c.slots {
		c.slots[i] = slot{at: units.Never, prev: rests}
	}
	for i := range c.days {
		c.days[i] = nobody
	}
	return c
}

// shortestDay is 4 ns: some thousand ports have an event or two in that time.
const shortestDay = 12

// first returns the earliest event; its time is units.Never if there is none.
func (c *calendar) first() (event int, at units.Time) {
	if len(c.now) == 0 && !c.advance() {
		return 0, units.Never
	}
	e := c.now[len(c.now)-1]
	return int(e.event), e.at
}

// pop takes the earliest event out, which first has returned.
func (c *calendar) pop() {
	last := len(c.now) - 1
	c.slots[c.now[last].event].prev = rests
	c.now = c.now[:last]
}

// set changes an event's time.
func (c *calendar) set(event int, at units.Time) {
	s := &c.slots[event]
	if s.prev != rests {
		if s.at == at {
			return
		}
		c.remove(event)
	}
	if at == units.Never {
		return
	}
	s.at = at
	switch ahead := int64(at)>>c.shift - c.today; {
	case ahead <= 0:
		c.insert(entry{at, int32(event)})
		s.prev = isNow
	case ahead < year:
		day := (int64(at) >> c.shift) & (year - 1)
		first := c.days[day]
		s.next, s.prev = first, nobody
		c.days[day] = int32(event)
		if first >= 0 {
			c.slots[first].prev = int32(event)
			return
		}
		c.used[day>>6] |= 1 << (day & 63)
		c.any[day>>12] |= 1 << (day >> 6 & 63)
	default:
		c.later.set(event, at)
		s.prev = isLater
	}
}

// insert puts an entry among those of today.
func (c *calendar) insert(e entry) {
	c.now = append(c.now, e)
	i := len(c.now) - 1
	for ; i > 0 && c.now[i-1].before(e); i-- {
		c.now[i] = c.now[i-1]
	}
	c.now[i] = e
}

func (c *calendar) remove(event int) {
	s := &c.slots[event]
	switch s.prev {
	case isNow:
		i := len(c.now) - 1
		for c.now[i].event != int32(event) {
			i--
		}
		c.now = slices.Delete(c.now, i, i+1)
	case isLater:
		c.later.set(event, units.Never)
	default:
		if s.next >= 0 {
			c.slots[s.next].prev = s.prev
		}
		if s.prev >= 0 {
			c.slots[s.prev].next = s.next
		} else {
			day := (int64(s.at) >> c.shift) & (year - 1)
			if c.days[day] = s.next; s.next < 0 {
				c.empty(day)
			}
		}
	}
	s.prev = rests
}

// empty notes that a day's list is.
func (c *calendar) empty(day int64) {
	if c.used[day>>6] &^= 1 << (day & 63); c.used[day>>6] == 0 {
		c.any[day>>12] &^= 1 << (day >> 6 & 63)
	}
}

// advance goes to the next day on which something happens, and sorts it. It
// reports false if there is none.
func (c *calendar) advance() bool {
	next, found := c.nextDay()
	_, at := c.later.first()
	if far := int64(at) >> c.shift; at != units.Never && (!found || far <= next) {
		next = far
		for ; at != units.Never && int64(at)>>c.shift == next; _, at = c.later.first() {
			e := c.later.order[0]
			c.later.remove(0)
			c.slots[e.event].prev = isNow
			c.now = append(c.now, e)
		}
	} else if !found {
		return false
	}
	c.today = next
	day := next & (year - 1)
	for e := c.days[day]; e >= 0; e = c.slots[e].next {
		c.slots[e].prev = isNow
		c.now = append(c.now, entry{c.slots[e].at, e})
	}
	c.days[day] = nobody
	c.empty(day)
	c.sort()
	return true
}

// sort puts what comes first last. Most days have a handful of events.
func (c *calendar) sort() {
	if len(c.now) > 24 {
		slices.SortFunc(c.now, func(a, b entry) int {
			if a.before(b) {
				return 1
			}
			return -1
		})
		return
	}
	for i := 1; i < len(c.now); i++ {
		e := c.now[i]
		k := i
		for ; k > 0 && c.now[k-1].before(e); k-- {
			c.now[k] = c.now[k-1]
		}
		c.now[k] = e
	}
}

// nextDay finds the first day after today that has a list. Lists reach less than
// a year ahead, so that a place in the ring means one day.
func (c *calendar) nextDay() (day int64, found bool) {
	from := (c.today + 1) & (year - 1)
	at, ok := c.search(from, year)
	if !ok {
		if at, ok = c.search(0, from); !ok {
			return 0, false
		}
	}
	return c.today + 1 + (at-from)&(year-1), true
}

// search finds the first place in use from from on and before to.
func (c *calendar) search(from, to int64) (at int64, ok bool) {
	word := from >> 6
	if u := c.used[word] >> (from & 63) << (from & 63); u != 0 {
		at = word<<6 + int64(bits.TrailingZeros64(u))
		return at, at < to
	}
	word++
	for block := word >> 6; block < int64(len(c.any)); block++ {
		u := c.any[block]
		if block == word>>6 {
			u = u >> (word & 63) << (word & 63)
		}
		if u != 0 {
			word = block<<6 + int64(bits.TrailingZeros64(u))
			at = word<<6 + int64(bits.TrailingZeros64(c.used[word]))
			return at, at < to
		}
	}
	return 0, false
}
