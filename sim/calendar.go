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
// fixed width): to set an event is to put it on its day, and to find the first is to
// look for the next day that is not empty, by a bitmap, and to sort what happens on
// it. The timers of a day are a list within the timers themselves. Its frames are a
// line of the cache, since what is on its way is much, and whoever follows a list
// through it waits for each: frames are read in the order in which days come. Timers
// beyond the year wait in a heap, and are looked for on their day; frames are on their
// way for much less than a year, and those beyond it, which only links have whose
// rate has become much lower, wait on the last day that is kept for frames.
type calendar struct {
	now    []entry // of today and before, sorted, and what comes first is last
	sizes  []size  // of the frames on their way, by the number of their buffers
	slots  []slot
	timers int32        // number of the first timer's event; ports have those before
	shift  uint8        // a day is 2^shift ps
	today  int64        // number of the day that was reached; nothing before it is in the lists
	days   *[year]int32 // the first timer of each, by number modulo the year; nobody
	used   [year / 64]uint64
	later  *heap
	far    int64 // day of the first of later

	frames []arrivals // of each day, by number modulo their length, a power of two
	more   []arrivals // of days that have more than fit; the first is nobody's
	free   int32      // the first of more that is not in use, by its more; 0: there is none
}

// arrivals are the frames that arrive on a day: those sent last, and where those
// sent before are, if there are more.
type arrivals struct {
	n    int32
	more int32 // place in the calendar's more, which is full; 0: there are no more
	_    [8]byte
	last [3]entry
}

// size is what of a frame travels besides its buffer.
type size struct{ len, off uint16 }

// slot is a timer's place. What changes together lies together.
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
	ref   uint32 // of an arriving frame
}

func (a entry) before(b entry) bool {
	return a.at < b.at || a.at == b.at && a.event < b.event
}

// newCalendar makes one for so many ports, each of which has a timer; most events
// are set at most span ahead. A day is at least 2^shift ps.
func newCalendar(ports int, span units.Time, shift uint8) *calendar {
	c := &calendar{slots: make([]slot, ports), timers: int32(ports), days: new([year]int32), later: newHeap(ports), far: math.MaxInt64, shift: shift}
	for span>>c.shift >= year-1 && c.shift < 62 {
		c.shift++
	}
	c.frames, c.more = make([]arrivals, 1<<bits.Len64(uint64(span>>c.shift)+1)), make([]arrivals, 1)
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
	if day, found := c.nextDay(c.today); found {
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
		c.use(number)
		d := &c.days[number&(year-1)]
		s.next, s.prev = *d, nobody
		*d = int32(timer)
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
	if int(f.Ref) >= len(c.sizes) {
		c.moreSizes(int(f.Ref))
	}
	c.sizes[f.Ref] = size{f.Len, f.Off}
	number := int64(at) >> (c.shift & 63)
	if uint64(number-c.today-1) < uint64(len(c.frames)-1) { // as put does, with the least that is to be done
		if a := c.arrivals(number); uint(a.n) < uint(len(a.last)) {
			a.last[a.n] = entry{at, port, f.Ref}
			a.n++
			c.use(number)
			return
		}
	}
	c.sendOther(entry{at, port, f.Ref}, number)
}

// sendOther is send on a day that has come, or is far ahead, or full.
func (c *calendar) sendOther(e entry, number int64) {
	if number > c.today {
		c.put(e, number)
		return
	}
	c.insert(e)
}

// moreSizes makes places for frames as far as one.
func (c *calendar) moreSizes(ref int) {
	c.sizes = append(c.sizes, make([]size, max(64, len(c.sizes), ref+1-len(c.sizes)))...)
}

// put lets a frame arrive on a day after today, or on the last there is for frames.
func (c *calendar) put(e entry, number int64) {
	number = min(number, c.today+int64(len(c.frames))-1)
	c.use(number)
	a := c.arrivals(number)
	if int(a.n) == len(a.last) {
		c.spill(a)
	}
	a.last[a.n] = e
	a.n++
}

// arrivals are those of a day that is ahead by less than there are days for frames.
func (c *calendar) arrivals(number int64) *arrivals {
	return &c.frames[int(number)&(len(c.frames)-1)]
}

// spill moves the frames of a day elsewhere, so that there is room for more.
func (c *calendar) spill(a *arrivals) {
	at := c.free
	if at == 0 {
		at = int32(len(c.more))
		c.more = append(c.more, arrivals{})
	} else {
		c.free = c.more[at].more
	}
	c.more[at] = *a
	a.n, a.more = 0, at
}

// use notes that something is on a day's lists.
func (c *calendar) use(number int64) { c.used[number>>6&(year/64-1)] |= 1 << (number & 63) }

// travel calls do for the port of every frame on its way.
func (c *calendar) travel(do func(port int32)) {
	for _, e := range c.now {
		if e.event < c.timers {
			do(e.event)
		}
	}
	for i := range c.frames {
		a := &c.frames[i]
		for {
			for _, e := range a.last[:a.n] {
				do(e.event)
			}
			if a.more == 0 {
				break
			}
			a = &c.more[a.more]
		}
	}
}

// due is a timer's time; units.Never: it is not set.
func (c *calendar) due(timer int) units.Time {
	if c.resting(timer) {
		return units.Never
	}
	return c.slots[timer].at
}

// leave takes out the frames that are on their way to some ports, appends them to a
// list, and returns it.
func (c *calendar) leave(gone []entry, to func(port int32) bool) []entry {
	leaves := func(e entry) bool { return e.event < c.timers && to(e.event) }
	for _, e := range c.now {
		if leaves(e) {
			gone = append(gone, e)
		}
	}
	c.now = slices.DeleteFunc(c.now, leaves)
	n := len(gone)
	for i := range c.frames {
		a := &c.frames[i]
		gone = append(gone, a.last[:a.n]...)
		for a.more != 0 {
			at := a.more
			gone = append(gone, c.more[at].last[:]...)
			a.more = c.more[at].more
			c.more[at].more, c.free = c.free, at
		}
		a.n = 0
	}
	all := gone[n:]
	gone = gone[:n]
	for _, e := range all {
		if to(e.event) {
			gone = append(gone, e)
		} else {
			c.put(e, c.day(e.at))
		}
	}
	return gone
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
			c.days[number&(year-1)] = s.next
			if s.next < 0 && (number-c.today >= int64(len(c.frames)) || c.arrivals(number).n == 0) {
				c.empty(number)
			}
		}
	}
	s.prev = rests
}

// empty notes that nothing is on a day's lists.
func (c *calendar) empty(number int64) { c.used[number>>6&(year/64-1)] &^= 1 << (number & 63) }

// advance goes to the next day on which something happens, and sorts it. It
// reports false if there is none, or none up to the last that is asked for.
func (c *calendar) advance(last int64) bool {
	for len(c.now) == 0 {
		next, found := c.nextDay(c.today)
		if min(next, c.far) > last {
			return false
		}
		if !found || c.far <= next {
			if next, found = c.takeLater(next, found); !found {
				return false
			}
		}
		c.today = next
		c.empty(next)
		now := c.now
		timer := c.days[next&(year-1)]
		c.days[next&(year-1)] = nobody
		for timer >= 0 {
			s := &c.slots[timer]
			now = append(now, entry{at: s.at, event: c.timers + timer})
			s.prev = isNow
			timer = s.next
		}
		a := c.arrivals(next)
		n, more := int(a.n), a.more
		a.n, a.more = 0, 0
		for n--; uint(n) < uint(len(a.last)); n-- { // as takeAll does
			e := a.last[n]
			if day := int64(e.at) >> (c.shift & 63); day > next {
				c.put(e, day)
				continue
			}
			now = append(now, e)
		}
		if c.now = now; more != 0 {
			c.takeMore(more, next)
		}
	}
	if len(c.now) > 1 {
		c.sort()
	}
	return true
}

// takeMore takes those frames of the day that was reached which did not fit into its
// line, the first of whose places is given.
func (c *calendar) takeMore(more int32, today int64) {
	for more != 0 {
		at := more
		more = c.more[at].more
		c.more[at].more, c.free = c.free, at
		block := c.more[at].last // putting one off may move it
		c.now = c.takeAll(c.now, block[:], today)
	}
}

// takeAll appends frames of the day that was reached, those sent last first.
func (c *calendar) takeAll(now, frames []entry, today int64) []entry {
	for i := len(frames) - 1; i >= 0; i-- {
		e := frames[i]
		if day := int64(e.at) >> (c.shift & 63); day > today { // it was beyond what is kept
			c.put(e, day)
			continue
		}
		now = append(now, e)
	}
	return now
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

// nextDay finds the first day after another, not before today, that has a list. Lists reach less than
// a year ahead, so that a place in the ring means one day.
func (c *calendar) nextDay(after int64) (number int64, found bool) {
	number = after + 1
	if u := c.used[number>>6&(year/64-1)] >> (number & 63); u != 0 {
		return number + int64(bits.TrailingZeros64(u)), true
	}
	for range year / 64 {
		number = number&^63 + 64
		if u := c.used[number>>6&(year/64-1)]; u != 0 {
			return number + int64(bits.TrailingZeros64(u)), true
		}
	}
	return math.MaxInt64, false
}

// reach says that everything before an instant has happened: frames that arrive soon
// after it are kept on their days.
func (c *calendar) reach(now units.Time) { c.today = max(c.today, c.day(now)-1) }

// day is the number of an instant's day.
func (c *calendar) day(at units.Time) int64 { return int64(at) >> c.shift }
