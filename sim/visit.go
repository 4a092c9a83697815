package sim

import (
	"math"
	"slices"

	"photon/dataplane"
	"photon/units"
)

// visit is the visit of a node of several ports: its events within a window.
type visit struct {
	first     int // its port 0 in the world's list
	base      units.Time
	end       units.Time // of the window; 0: no such node is visited
	span      dataplane.Span
	arrivals  []arrival // sorted, and behind them one that is beyond the window
	scratch   []arrival // to sort with
	arrival   uint64    // the key of the next arrival
	timer     uint64    // of the next timer
	timers    []uint64  // keys of those that are within the window, sorted from nextTimer on
	nextTimer int
	counts    [maxBuckets + 1]uint32
}

// arrival is a frame that arrives within the window.
type arrival = dataplane.Arrival

// usualArrivals is how many there are in a visit at most, in most networks: room for them is made at the beginning.
const usualArrivals = 512

func (v *visit) reserve() {
	v.arrivals, v.scratch = make([]arrival, 0, usualArrivals), make([]arrival, 0, usualArrivals)
}

// A key is when something happens, counted from the base of the visit, and at which port of the node. Events with
// lesser keys come first.
const (
	portBits = dataplane.KeyPortBits
	beyond   = math.MaxUint64
)

func (v *visit) key(at units.Time, number int) uint64 {
	return uint64(at-v.base)<<portBits | uint64(number)
}

// visitPorts visits a node of several ports, which has no event before base, and returns when it has its next event.
func (p *part) visitPorts(first, ports int, base, end units.Time) units.Time {
	v := &p.visit
	v.first, v.base, v.end = first, base, end
	all := p.ports[first : first+ports]
	v.collect(all)
	from := 0
	if m := &p.members[all[0].flight.node]; m.spanner != nil && p.taps == nil && len(v.arrivals) > leastSpan && m.spanner.Spans() {
		from = p.span(m, all)
		if from == len(v.arrivals)-1 {
			v.end = 0
			return v.soonest(all)
		}
	}
	v.arrival = v.arrivals[from].Key
	slices.Sort(v.timers)
	v.noteTimer()
	for i := from; i < min(from+prefetchAhead, len(v.arrivals)-1); i++ {
		p.pool.Ask(v.arrivals[i].Place)
	}
	env := all[0].env
	list := v.arrivals
	for i := from; i < len(list); i++ {
		key := list[i].Key
		for v.timer>>portBits < key>>portBits {
			p.timerOfVisit()
		}
		if key == beyond {
			break
		}
		p.burst[0].Begin(list[i].Place, list[i].Digest)
		if soon := i + prefetchAhead; soon < len(list)-1 {
			p.pool.Ask(list[soon].Place)
		}
		v.arrival = list[i+1].Key
		p.now = base + units.Time(key>>portBits)
		p.events++
		env.Queue = min(v.arrival, v.timer)>>portBits == key>>portBits // there is more of this instant
		id := first + int(uint16(key))
		p.arrive(&p.ports[id], id)
	}
	v.end = 0
	return v.soonest(all)
}

// soonest is when some ports have their next event.
func (v *visit) soonest(ports []port) units.Time {
	next := units.Time(units.Never)
	for i := range ports {
		next = min(next, ports[i].flight.first, ports[i].timer)
	}
	return next
}

// timerOfVisit asks the port of the next timer for a frame, if that has not been set anew.
func (p *part) timerOfVisit() {
	v := &p.visit
	at, id := v.base+units.Time(v.timer>>portBits), v.first+int(uint16(v.timer))
	v.nextTimer++
	v.noteTimer()
	if t := &p.ports[id]; t.timer == at {
		t.timer = units.Never
		p.now = at
		p.events++
		p.transmit(t)
	}
}

// collect takes the frames that arrive at some ports within the window, and notes the timers that come within it.
func (v *visit) collect(ports []port) {
	list := v.arrivals[:0]
	v.timers, v.nextTimer = v.timers[:0], 0
	for number := range ports {
		t := &ports[number]
		if t.timer < v.end {
			v.timers = append(v.timers, v.key(t.timer, number))
		}
		if t.flight.first < v.end {
			list = v.takeArriving(&t.flight, number, list)
		}
	}
	v.arrivals = list
	v.sortArrivals()
}

// takeArriving appends to a list the frames that arrive at a port within the window, of which there is one.
func (v *visit) takeArriving(l *flight, number int, list []arrival) []arrival {
	at := l.first
	for at < v.end {
		f := l.slot(l.head)
		list = append(list, arrival{Key: v.key(at, number), Place: f.place, Digest: f.digest})
		l.head++
		if at = units.Never; l.head != l.end {
			at = l.slot(l.head).at
		}
	}
	l.first = at
	return list
}

// noteTimer notes which timer is the next.
func (v *visit) noteTimer() {
	if v.timer = beyond; v.nextTimer < len(v.timers) {
		v.timer = v.timers[v.nextTimer]
	}
}

// setTimer sets when a port's node is to be asked for a frame. The node may be the one that is visited.
func (p *part) setTimer(t *port, at units.Time) {
	if t.timer == at {
		return
	}
	t.timer = at
	if v := &p.visit; at < v.end {
		v.insertTimer(v.key(at, int(t.number)))
	}
}

// insertTimer puts a timer among those of the window. It begins at the end, since most are later than all others.
func (v *visit) insertTimer(key uint64) {
	v.timers = append(v.timers, key)
	i := len(v.timers) - 1
	for ; i > v.nextTimer && v.timers[i-1] > key; i-- {
		v.timers[i] = v.timers[i-1]
	}
	v.timers[i] = key
	v.timer = min(v.timer, key)
}

// lastOfInstant reports that the node that is visited, whose first port is given, has no more events at this instant.
// The timer of a node of one port is not looked at.
func (p *part) lastOfInstant(first int) bool {
	v := &p.visit
	if v.end == 0 {
		return p.ports[first].flight.first > p.now
	}
	return min(v.arrival, v.timer)>>portBits > uint64(p.now-v.base)
}
