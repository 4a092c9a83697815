package sim

import (
	"math"
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
	timers int32      // number of the first timer's event; ports have those before
	shift  uint8      // a day is 2^shift ps
	today  int64      // number of the day that was reached; nothing before it is in the lists
	days   *[year]day // by number modulo the year
	used   [year / 64]uint64
	later  *heap
	far    int64 // day of the first of later
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
	c := &calendar{slots: make([]slot, ports), timers: int32(ports), days: new([year]day), later: newHeap(ports), far: math.MaxInt64, shift: shortestDay}
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

// next is when the earliest event of today happens; units.Never: there is none, and
// if advance was called, none at all.
func (c *calendar) next() units.Time {
	if last := len(c.now) - 1; last >= 0 {
		return c.now[last].at
	}
	return units.Never
}

// earliest is an instant before which nothing happens, less than a day before
// something does; units.Never: nothing will.
func (c *calendar) earliest() units.Time {
	if len(c.now) > 0 {
		return c.next()
	}
	_, first := c.later.first()
	if day, found := c.nextDay(); found {
		first = min(first, units.Time(day<<c.shift))
	}
	return first
}

// pop takes the earliest event out.
func (c *calendar) pop() entry {
	last := len(c.now) - 1
	e := c.now[last]
	c.now = c.now[:last]
	if e.event >= c.timers {
		c.slots[e.event-c.timers].prev = rests
	}
	return e
}

// quiet reports that nothing happens before, or at, an instant of the day that was reached.
func (c *calendar) quiet(now units.Time) bool {
	last := len(c.now) - 1
	return last < 0 || c.now[last].at > now
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
		d := c.on(number)
		s.next, s.prev = d.timer, nobody
		d.timer = int32(timer)
		if s.next >= 0 {
			c.slots[s.next].prev = int32(timer)
		}
	default:
		c.later.set(timer, at)
		c.far = min(c.far, number)
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
	d := c.on(min(number, c.today+year-1))
	t.next = d.frame
	d.frame = int32(ref)
}

// on returns a day on whose lists something will be.
func (c *calendar) on(number int64) *day {
	c.used[number>>6&(year/64-1)] |= 1 << (number & 63)
	return &c.days[number&(year-1)]
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
			number := int64(s.at) >> c.shift
			d := &c.days[number&(year-1)]
			if d.timer = s.next; s.next < 0 && d.frame < 0 {
				c.empty(number)
			}
		}
	}
	s.prev = rests
}

// empty notes that nothing is on a day's lists.
func (c *calendar) empty(number int64) { c.used[number>>6&(year/64-1)] &^= 1 << (number & 63) }

// advance goes to the next day on which something happens, and sorts it. It
// reports false if there is none.
func (c *calendar) advance() bool {
	for len(c.now) == 0 {
		next, found := c.nextDay()
		if !found || c.far <= next {
			if next, found = c.takeLater(next, found); !found {
				return false
			}
		}
		c.today = next
		d := &c.days[next&(year-1)]
		timer, frame := d.timer, d.frame
		*d = day{nobody, nobody}
		c.empty(next)
		now := c.now
		for timer >= 0 {
			s := &c.slots[timer]
			now = append(now, entry{at: s.at, event: c.timers + timer})
			s.prev = isNow
			timer = s.next
		}
		for frame >= 0 {
			t := &c.frames[frame]
			ref := uint32(frame)
			frame = t.next
			if day := int64(t.at) >> c.shift; day > next { // it was beyond the year
				c.link(t, ref, day)
				continue
			}
			now = append(now, entry{t.at, t.port, ref})
		}
		c.now = now
	}
	if len(c.now) > 1 {
		c.sort()
	}
	return true
}

// takeLater takes the timers that were beyond the year and whose day has come: the
// next, if something is on its lists, or one before.
func (c *calendar) takeLater(next int64, found bool) (int64, bool) {
	_, at := c.later.first()
	c.far = int64(at) >> c.shift
	if at == units.Never {
		c.far = math.MaxInt64
		return next, found
	}
	if found && c.far > next {
		return next, true
	}
	day := c.far
	for ; at != units.Never && int64(at)>>c.shift == day; _, at = c.later.first() {
		e := c.later.order[0]
		c.later.remove(0)
		c.slots[e.event].prev = isNow
		c.now = append(c.now, entry{at: e.at, event: c.timers + e.event})
	}
	return day, true // far is found out when it has come
}

// sort puts what comes first last. Most days have a handful of events.
func (c *calendar) sort() {
	now := c.now
	if len(now) > 24 {
		slices.SortFunc(now, func(a, b entry) int {
			if a.before(b) {
				return 1
			}
			return -1
		})
		return
	}
	for i := 1; i < len(now); i++ {
		e := now[i]
		k := i
		for ; k > 0 && now[k-1].before(e); k-- {
			now[k] = now[k-1]
		}
		now[k] = e
	}
}

// nextDay finds the first day after today that has a list. Lists reach less than
// a year ahead, so that a place in the ring means one day.
func (c *calendar) nextDay() (number int64, found bool) {
	number = c.today + 1
	if u := c.used[number>>6&(year/64-1)] >> (number & 63); u != 0 {
		return number + int64(bits.TrailingZeros64(u)), true
	}
	for range year / 64 {
		number = number&^63 + 64
		if u := c.used[number>>6&(year/64-1)]; u != 0 {
			return number + int64(bits.TrailingZeros64(u)), true
		}
	}
	return 0, false
}
