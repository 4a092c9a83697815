package sim

import (
	"math/bits"
	"slices"

	"photon/dataplane"
	"photon/units"
)

// calendar holds what is to happen and gives it back in the order of time, equal
// times in the order of the events' numbers. There are two kinds of events: timers,
// a fixed set, each with a time that can be changed, units.Never if it rests; and
// arrivals of frames, each of which is set once, happens, and is no more.
//
// It is made for what a network's events are like: most happen within the delay
// of a link, and then the next few nanoseconds hold a handful of them. Time is
// cut into days of equal length (a calendar queue, Brown, CACM 31(10), 1988, of
// fixed width, whose days are lists within the events themselves): to set an event
// is to link it into its day, and to find the first is to look for the next day
// that is not empty, by a bitmap, and to sort what happens on it. Timers beyond the
// year wait in a heap, and are looked for on their day; frames beyond it, which only
// links have whose rate has become much lower, wait on the year's last day.
type calendar struct {
	now    []entry // of today and before, sorted, and what comes first is last
	frames []travelling
	slots  []slot
	timers int32 // number of the first timer's event; ports have those before
	shift  uint8 // a day is 2^shift ps
	today  int64 // number of the day that was reached; nothing before it is in the lists
	days   []day // by number modulo the year
	used   [year / 64]uint64
	any    [year / 64 / 64]uint64 // words of used that are not zero
	later  *heap
}

// day is the first timer and the first frame of a day's lists; nobody.
type day struct{ timer, frame int32 }

// slot is a timer's place. What changes together lies together.
type slot struct {
	at   units.Time
	next int32 // in the list of its day; nobody
	prev int32 // the same, or one of the following
}

// travelling is a frame on its way, by the number of its buffer: what travels of
// it, and where it is going.
type travelling struct {
	at   units.Time
	next int32 // in the list of its day; nobody
	port int32 // at which it arrives
	len  uint16
	off  uint16
	_    [12]byte // two to a line of the cache
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
	ref   uint32 // of an arriving frame
}

func (a entry) before(b entry) bool {
	return a.at < b.at || a.at == b.at && a.event < b.event
}

// newCalendar makes one for so many ports, each of which has a timer; most events
// are set at most span ahead.
func newCalendar(ports int, span units.Time) *calendar {
	c := &calendar{slots: make([]slot, ports), timers: int32(ports), days: make([]day, year), later: newHeap(ports), shift: shortestDay}
	for span>>c.shift >= year-1 && c.shift < 62 {
		c.shift++
	}
	for i := range c.slots {
		c.slots[i] = slot{at: units.Never, prev: rests}
	}
	for i := range c.days {
		c.days[i] = day{nobody, nobody}
	}
	return c
}

// shortestDay is 4 ns: some thousand ports have an event or two in that time.
const shortestDay = 12

// first returns the earliest event; its time is units.Never if there is none.
func (c *calendar) first() entry {
	if len(c.now) == 0 && !c.advance() {
		return entry{at: units.Never}
	}
	return c.now[len(c.now)-1]
}

// pop takes the earliest event out, which first has returned.
func (c *calendar) pop() {
	last := len(c.now) - 1
	if e := c.now[last].event; e >= c.timers {
		c.slots[e-c.timers].prev = rests
	}
	c.now = c.now[:last]
}

// resting reports whether a timer is not set.
func (c *calendar) resting(timer int) bool { return c.slots[timer].prev == rests }

// set changes a timer's time.
func (c *calendar) set(timer int, at units.Time) {
	s := &c.slots[timer]
	if s.prev != rests {
		if s.at == at {
			return
		}
		c.remove(timer)
	}
	if at == units.Never {
		return
	}
	s.at = at
	switch number := int64(at) >> c.shift; {
	case number <= c.today:
		c.insert(entry{at: at, event: c.timers + int32(timer)})
		s.prev = isNow
	case number-c.today < year:
		d := &c.days[number&(year-1)]
		s.next, s.prev = d.timer, nobody
		d.timer = int32(timer)
		if s.next >= 0 {
			c.slots[s.next].prev = int32(timer)
		}
		c.use(number & (year - 1))
	default:
		c.later.set(timer, at)
		s.prev = isLater
	}
}

// send lets a frame arrive at a port at an instant.
func (c *calendar) send(f *dataplane.Frame, port int32, at units.Time) {
	if int(f.Ref) >= len(c.frames) {
		c.grow(f.Ref)
	}
	t := &c.frames[f.Ref]
	t.at, t.port, t.len, t.off = at, port, f.Len, f.Off
	if number := int64(at) >> c.shift; number > c.today {
		c.link(t, f.Ref, number)
		return
	}
	c.insert(entry{at, port, f.Ref})
}

// link puts a frame on its day, or on the year's last.
func (c *calendar) link(t *travelling, ref uint32, number int64) {
	number = min(number, c.today+year-1) & (year - 1)
	d := &c.days[number]
	t.next = d.frame
	d.frame = int32(ref)
	c.use(number)
}

// use notes that a day's lists are not empty.
func (c *calendar) use(day int64) {
	c.used[day>>6&(year/64-1)] |= 1 << (day & 63)
	c.any[day>>12&(year/64/64-1)] |= 1 << (day >> 6 & 63)
}

func (c *calendar) grow(ref uint32) {
	bigger := make([]travelling, max(64, 2*len(c.frames), int(ref)+1))
	copy(bigger, c.frames)
	c.frames = bigger
}

// travel calls do for the port of every frame on its way.
func (c *calendar) travel(do func(port int32)) {
	for _, e := range c.now {
		if e.event < c.timers {
			do(e.event)
		}
	}
	for _, d := range c.days {
		for f := d.frame; f >= 0; f = c.frames[f].next {
			do(c.frames[f].port)
		}
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

func (c *calendar) remove(timer int) {
	s := &c.slots[timer]
	switch s.prev {
	case isNow:
		i := len(c.now) - 1
		for c.now[i].event != c.timers+int32(timer) {
			i--
		}
		c.now = slices.Delete(c.now, i, i+1)
	case isLater:
		c.later.set(timer, units.Never)
	default:
		if s.next >= 0 {
			c.slots[s.next].prev = s.prev
		}
		if s.prev >= 0 {
			c.slots[s.prev].next = s.next
		} else {
			number := (int64(s.at) >> c.shift) & (year - 1)
			d := &c.days[number]
			if d.timer = s.next; s.next < 0 && d.frame < 0 {
				c.empty(number)
			}
		}
	}
	s.prev = rests
}

// empty notes that a day's lists are.
func (c *calendar) empty(day int64) {
	if c.used[day>>6] &^= 1 << (day & 63); c.used[day>>6] == 0 {
		c.any[day>>12] &^= 1 << (day >> 6 & 63)
	}
}

// advance goes to the next day on which something happens, and sorts it. It
// reports false if there is none.
func (c *calendar) advance() bool {
	for len(c.now) == 0 {
		next, found := c.nextDay()
		if !c.later.isEmpty() {
			_, at := c.later.first()
			if far := int64(at) >> c.shift; !found || far <= next {
				next, found = far, true
				for ; at != units.Never && int64(at)>>c.shift == next; _, at = c.later.first() {
					e := c.later.order[0]
					c.later.remove(0)
					c.slots[e.event].prev = isNow
					c.now = append(c.now, entry{at: e.at, event: c.timers + e.event})
				}
			}
		}
		if !found {
			return false
		}
		c.today = next
		number := next & (year - 1)
		d := c.days[number]
		c.days[number] = day{nobody, nobody}
		c.empty(number)
		for e := d.timer; e >= 0; e = c.slots[e].next {
			c.slots[e].prev = isNow
			c.now = append(c.now, entry{at: c.slots[e].at, event: c.timers + e})
		}
		for f := d.frame; f >= 0; {
			t := &c.frames[f]
			ref := uint32(f)
			f = t.next
			if day := int64(t.at) >> c.shift; day > next { // it was beyond the year
				c.link(t, ref, day)
				continue
			}
			c.now = append(c.now, entry{t.at, t.port, ref})
		}
	}
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
func (c *calendar) nextDay() (number int64, found bool) {
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
