package sim

import (
	"math"
	"slices"

	"photon/fabric"
	"photon/units"
)

// visit is the visit of a node of several ports: its events within a window.
type visit struct {
	first     int // its port 0 in the world's list
	base      units.Time
	end       units.Time     // of the window; 0: no such node is visited
	keys      []uint64       // of the arrivals, sorted, and behind them one that is beyond the window
	frames    []fabric.Frame // that arrive
	arrival   uint64         // the key of the next arrival
	timer     uint64         // of the next timer
	timers    []uint64       // keys of those that are within the window, sorted from nextTimer on
	nextTimer int
	span      fabric.Span

	otherKeys   []uint64 // to sort with
	otherFrames []fabric.Frame
	counts      [maxBuckets + 1]uint32
}

// usualArrivals is how many there are in a visit at most, in most networks: room for them is made at the beginning.
const usualArrivals = 512

func (v *visit) reserve() {
	v.keys, v.otherKeys = make([]uint64, 0, usualArrivals), make([]uint64, 0, usualArrivals)
	v.frames, v.otherFrames = make([]fabric.Frame, 0, usualArrivals), make([]fabric.Frame, 0, usualArrivals)
}

// A key is when something happens, counted from the base of the visit, and at which port of the node. Events with
// lesser keys come first.
const (
	portBits = fabric.KeyPortBits
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
	if !p.span(&p.members[all[0].flight.node], all) {
		p.oneByOne(all)
	}
	v.end = 0
	return v.soonest(all)
}

// oneByOne handles the events of the window one after the other.
func (p *part) oneByOne(all []port) {
	v := &p.visit
	slices.Sort(v.timers[v.nextTimer:])
	v.noteTimer()
	env, keys, frames := all[0].env, v.keys, v.frames
	for i := range min(prefetchAhead, len(frames)) {
		p.pool.Ask(frames[i].Place())
	}
	v.arrival = keys[0]
	for i, key := range keys {
		for v.timer>>portBits < key>>portBits {
			p.timerOfVisit()
		}
		if key == beyond {
			return
		}
		p.burst[0] = frames[i]
		if soon := i + prefetchAhead; soon < len(frames) {
			p.pool.Ask(frames[soon].Place())
		}
		v.arrival = keys[i+1]
		p.now = v.base + units.Time(key>>portBits)
		p.events++
		env.Queue = fabric.QueueNothing
		switch key >> portBits { // there is more of this instant
		case v.arrival >> portBits:
			env.Queue = fabric.QueueAll
		case v.timer >> portBits:
			if p.served() {
				env.Queue = fabric.QueueIfDependent
			}
		}
		number := int(uint16(key))
		p.arrive(&all[number], v.first+number)
	}
}

// served reports whether the port of the next timer is to be served then. Timers that have been set anew are left out.
func (p *part) served() bool {
	v := &p.visit
	for at := v.timer >> portBits; v.timer>>portBits == at; v.noteTimer() {
		if p.ports[v.first+int(uint16(v.timer))].timer == v.base+units.Time(at) {
			return true
		}
		v.nextTimer++
	}
	return false
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
	v.keys, v.frames = v.keys[:0], v.frames[:0]
	v.timers, v.nextTimer = v.timers[:0], 0
	for number := range ports {
		t := &ports[number]
		if t.timer < v.end {
			v.timers = append(v.timers, v.key(t.timer, number))
		}
		if t.flight.first < v.end {
			v.takeArriving(&t.flight, number)
		}
	}
	v.sortArrivals()
}

// takeArriving takes the frames that arrive at a port within the window, of which there is one.
func (v *visit) takeArriving(l *flight, number int) {
	v.keys, v.frames = slices.Grow(v.keys, int(l.len())), slices.Grow(v.frames, int(l.len()))
	n, most := len(v.keys), len(v.keys)+int(l.len())
	keys, frames := v.keys[n:most], v.frames[n:most]
	taken := 0
	for taken < len(keys) && taken < len(frames) {
		f := l.slot(l.head + uint32(taken))
		if f.at >= v.end {
			break
		}
		keys[taken], frames[taken] = v.key(f.at, number), f.frame
		taken++
	}
	v.keys, v.frames = v.keys[:n+taken], v.frames[:n+taken]
	l.head += uint32(taken)
	if l.first = units.Never; l.head != l.end {
		l.first = l.slot(l.head).at
	}
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
