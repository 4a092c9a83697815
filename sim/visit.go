package sim

import (
	"math"
	"slices"

	"photon/units"
)

// visit is the visit of a node of several ports: its events within a window.
type visit struct {
	first     int // its port 0 in the world's list
	base      units.Time
	end       units.Time // of the window; 0: no such node is visited
	arrivals  []arrival  // sorted, and behind them one that is beyond the window
	scratch   []arrival  // to sort with
	at        int        // the next arrival
	timers    []uint64   // keys of those that are within the window, sorted from nextTimer on
	nextTimer int
	counts    [maxBuckets + 1]uint32
}

// arrival is a frame that arrives within the window.
type arrival struct {
	key    uint64
	place  uint64
	digest uint32
}

// usualArrivals is how many there are in a visit at most, in most networks: room for them is made at the beginning.
const usualArrivals = 512

func (v *visit) reserve() {
	v.arrivals, v.scratch = make([]arrival, 0, usualArrivals), make([]arrival, 0, usualArrivals)
}

// A key is when something happens, counted from the base of the visit, and at which port of the node. Events with
// lesser keys come first.
const (
	portBits = 16
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
	for i := range min(prefetchAhead, len(v.arrivals)-1) {
		p.pool.Ask(v.arrivals[i].place)
	}
	for {
		timer := uint64(beyond)
		if v.nextTimer < len(v.timers) {
			timer = v.timers[v.nextTimer]
		}
		a := &v.arrivals[v.at]
		if a.key>>portBits <= timer>>portBits {
			if a.key == beyond {
				break
			}
			v.at++
			if soon := v.at + prefetchAhead - 1; soon < len(v.arrivals)-1 {
				p.pool.Ask(v.arrivals[soon].place)
			}
			p.now = base + units.Time(a.key>>portBits)
			p.events++
			p.burst[0].Begin(a.place, a.digest)
			p.arrive(first + int(uint16(a.key)))
			continue
		}
		v.nextTimer++
		at, id := base+units.Time(timer>>portBits), first+int(uint16(timer))
		if t := &p.ports[id]; t.timer == at { // it has not been set anew
			t.timer = units.Never
			p.now = at
			p.events++
			p.transmit(id)
		}
	}
	v.end = 0
	next := units.Time(units.Never)
	for i := range all {
		next = min(next, all[i].flight.first, all[i].timer)
	}
	return next
}

// collect takes the frames that arrive at some ports within the window, and notes the timers that come within it.
func (v *visit) collect(ports []port) {
	v.arrivals, v.timers, v.at, v.nextTimer = v.arrivals[:0], v.timers[:0], 0, 0
	for number := range ports {
		t := &ports[number]
		if t.timer < v.end {
			v.timers = append(v.timers, v.key(t.timer, number))
		}
		for l := &t.flight; l.first < v.end; {
			key := v.key(l.first, number)
			f := l.take()
			v.arrivals = append(v.arrivals, arrival{key, f.place, f.digest})
		}
	}
	v.sortArrivals()
	slices.Sort(v.timers)
}

// setTimer sets when a port's node is to be asked for a frame. The node may be the one that is visited.
func (p *part) setTimer(id int, at units.Time) {
	t := &p.ports[id]
	if t.timer == at {
		return
	}
	t.timer = at
	if v := &p.visit; at < v.end {
		v.insertTimer(v.key(at, id-v.first))
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
}

// lastOfInstant reports that the node that is visited, whose first port is given, has no more events at this instant.
// The timer of a node of one port is not looked at.
func (p *part) lastOfInstant(first int) bool {
	v := &p.visit
	if v.end == 0 {
		return p.ports[first].flight.first > p.now
	}
	now := uint64(p.now - v.base)
	return v.arrivals[v.at].key>>portBits > now && (v.nextTimer == len(v.timers) || v.timers[v.nextTimer]>>portBits > now)
}
