package sim

import (
	"math"
	"math/bits"
	"slices"

	"photon/units"
)

// Nodes are visited, one after the other: all that happens at a node within a window of
// time happens, and then all that happens at the next. No frame gets from one node to
// another in less than the delay of the link between them, so with windows no longer than
// the shortest delay all that arrives in a window is known when it begins. What happens at
// a node happens in the order of time, equal times in the order of ports, arrivals first;
// what happens at different nodes has nothing to do with each other. So a node's tables,
// and the code that it needs, are got into the processor's caches once for all of them, and
// the frames are known before they are looked at.

// visit is what happens at a node of several ports within a window.
type visit struct {
	first    int // number of its first port in the world
	base     units.Time
	stop     units.Time // when the window ends; 0: no such node is visited
	arrivals []arriving // sorted, and one more that is beyond the window
	others   []arriving // to sort with
	at       int        // the next arrival
	timers   []uint64   // keys, sorted from soonest on
	soonest  int        // the next of them
	counts   [mostPlaces + 1]uint32
}

// arriving is a frame that arrives.
type arriving struct {
	key    uint64
	place  uint64
	digest uint32
}

// A key is when something happens, from the base of the window on, and where: the port's
// number at its node. What happens first has the lesser key.
const (
	portBits = 16
	beyond   = math.MaxUint64
)

func (v *visit) key(at units.Time, number int) uint64 {
	return uint64(at-v.base)<<portBits | uint64(number)
}

// window has all happen that happens in the next window, which ends at an instant at the
// latest. Frames get to other parts only from the nodes that have links there: the others
// hear how far these are before the rest is visited, and need not wait for that.
func (w *part) window(end units.Time) {
	stop := min(end, w.first+w.length)
	w.first = units.Never // land says what is on its way
	border := w.visitAll(w.border, stop)
	if b := w.exchange; b != nil && w.count-b.published >= publishEvery {
		b.publish(w, stop)
	}
	inner := w.visitAll(w.inner, stop)
	w.first = min(w.first, border, inner)
}

// visitAll visits those of some nodes where something happens before an instant, and returns
// when something happens next at one of them.
func (w *part) visitAll(nodes []int32, stop units.Time) (first units.Time) {
	first = units.Never
	for _, i := range nodes {
		at := w.soon[i]
		if at < stop {
			m := &w.nodes[i]
			if m.ports == 1 {
				at = w.visitHost(m.first, stop)
			} else {
				at = w.visitNode(m.first, m.ports, at, stop)
			}
			w.soon[i] = at
		}
		first = min(first, at)
	}
	return first
}

// ahead is how many frames before a frame arrives its headers are asked for: they were looked at a window ago or
// longer, and in large networks the caches have forgotten them.
const ahead = 8

// askHost asks for the headers of the first frames on their way to a host.
func (w *part) askHost(l *flight, from uint32) {
	for i := from; i < min(ahead, l.end-l.head); i++ {
		w.pool.Ask(l.slot(l.head + i).place)
	}
}

// askOne asks for those of one.
func (w *part) askOne(l *flight) {
	if l.end-l.head >= ahead {
		w.pool.Ask(l.slot(l.head + ahead - 1).place)
	}
}

// visitHost visits a node of one port, and returns when something happens there next.
func (w *part) visitHost(p int, stop units.Time) units.Time {
	t := &w.ports[p]
	w.askHost(&t.flight, 0)
	for {
		if t.flight.first <= t.timer {
			if t.flight.first >= stop {
				return t.flight.first
			}
			w.now = t.flight.first
			w.count++
			f := t.flight.take()
			w.burst[0].Begin(f.place, f.digest)
			w.askOne(&t.flight)
			w.arrive(p)
		} else {
			if t.timer >= stop {
				return t.timer
			}
			w.now = t.timer
			t.timer = units.Never
			w.count++
			w.depart(p)
		}
	}
}

// visitNode visits one of several ports, where nothing happens before base, and returns when
// something happens next.
func (w *part) visitNode(first, ports int, base, stop units.Time) units.Time {
	v := &w.visit
	v.first, v.base, v.stop = first, base, stop
	v.arrivals, v.timers, v.at, v.soonest = v.arrivals[:0], v.timers[:0], 0, 0
	all := w.ports[first : first+ports]
	for number := range all {
		t := &all[number]
		if t.timer < stop {
			v.timers = append(v.timers, v.key(t.timer, number))
		}
		for l := &t.flight; l.first < stop; {
			key := v.key(l.first, number)
			f := l.take()
			v.arrivals = append(v.arrivals, arriving{key, f.place, f.digest})
		}
	}
	v.sort()
	slices.Sort(v.timers)
	for i := range min(ahead, len(v.arrivals)-1) {
		w.pool.Ask(v.arrivals[i].place)
	}
	for {
		timer := uint64(beyond)
		if v.soonest < len(v.timers) {
			timer = v.timers[v.soonest]
		}
		a := &v.arrivals[v.at]
		if a.key>>portBits <= timer>>portBits {
			if a.key == beyond {
				break
			}
			v.at++
			if soon := v.at + ahead - 1; soon < len(v.arrivals)-1 {
				w.pool.Ask(v.arrivals[soon].place)
			}
			w.now = base + units.Time(a.key>>portBits)
			w.count++
			w.burst[0].Begin(a.place, a.digest)
			w.arrive(first + int(uint16(a.key)))
			continue
		}
		v.soonest++
		at, p := base+units.Time(timer>>portBits), first+int(uint16(timer))
		if t := &w.ports[p]; t.timer == at { // or it was set anew
			t.timer = units.Never
			w.now = at
			w.count++
			w.depart(p)
		}
	}
	v.stop = 0
	soon := units.Time(units.Never)
	for i := range all {
		soon = min(soon, all[i].flight.first, all[i].timer)
	}
	return soon
}

// set changes when a port's node is to be asked for a frame, while the node is visited.
func (w *part) set(p int, at units.Time) {
	t := &w.ports[p]
	if t.timer == at {
		return
	}
	t.timer = at
	if v := &w.visit; at < v.stop {
		v.insert(v.key(at, p-v.first))
	}
}

// insert puts a timer among those of the window. Most are later than those that are there.
func (v *visit) insert(key uint64) {
	v.timers = append(v.timers, key)
	i := len(v.timers) - 1
	for ; i > v.soonest && v.timers[i-1] > key; i-- {
		v.timers[i] = v.timers[i-1]
	}
	v.timers[i] = key
}

// quiet reports that nothing else happens now at the node that is visited, the first of
// whose ports is given, but for its timers if it has one port.
func (w *part) quiet(first int) bool {
	v := &w.visit
	if v.stop == 0 {
		return w.ports[first].flight.first > w.now
	}
	rel := uint64(w.now - v.base)
	return v.arrivals[v.at].key>>portBits > rel && (v.soonest == len(v.timers) || v.timers[v.soonest]>>portBits > rel)
}

const (
	insertionMax = 12      // are sorted one by one
	mostPlaces   = 1 << 11 // in which more are counted
)

// sort puts what arrives first first, and one that is beyond the window at the end.
func (v *visit) sort() {
	n := len(v.arrivals)
	if n > insertionMax {
		v.deal(n)
	}
	a := v.arrivals
	for i := 1; i < len(a); i++ {
		if a[i-1].key <= a[i].key {
			continue
		}
		e := a[i]
		k := i
		for ; k > 0 && a[k-1].key > e.key; k-- {
			a[k] = a[k-1]
		}
		a[k] = e
	}
	v.arrivals = append(v.arrivals, arriving{key: beyond})
}

// deal puts arrivals into some places by time, of which there are two to four for each, so
// that few are left in wrong order.
func (v *visit) deal(n int) {
	width := min(bits.Len(uint(n))+1, bits.Len(mostPlaces)-1)
	shift := uint(max(0, bits.Len64(uint64(v.stop-v.base-1))-width)+portBits) & 63
	counts := v.counts[:1<<width+1]
	clear(counts)
	for i := range v.arrivals {
		counts[v.arrivals[i].key>>shift+1]++
	}
	sum := uint32(0)
	for i := range counts {
		sum += counts[i]
		counts[i] = sum
	}
	if cap(v.others) < n+1 {
		v.others = make([]arriving, 2*n)
	}
	to := v.others[:n]
	for i := range v.arrivals {
		e := &v.arrivals[i]
		at := &counts[e.key>>shift]
		to[*at] = *e
		*at++
	}
	v.arrivals, v.others = to, v.arrivals[:0]
}
