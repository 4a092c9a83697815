package sim

import (
	"slices"
	"time"

	"photon/units"
)

// Parts begin with as much to do each. That does not last: flows begin and end, and of two
// processors of a virtual machine now the one and now the other is a fourth slower, for
// tenths of a second. The faster one then waits for the slower all that time. So some nodes
// change their part when the parts meet, from the one that waits least to the one that waits
// most; what happens does not depend on where.

var (
	// weighs is how long parts are looked at before nodes are moved.
	weighs = 2 * time.Millisecond
	// uneven is which part of that time one must have waited longer than another.
	uneven = 0.04
	// seldom is how many times as long as moving nodes took they are looked at until they are
	// moved again, at least: that takes longer where there is more.
	seldom time.Duration = 50
)

// balance is what is known of how even the parts are.
type balance struct {
	weighed time.Time       // when that was looked at last
	took    time.Duration   // to move nodes the last time
	waited  []time.Duration // by part: how long it had waited then
	longer  []float64       // which part of the time it waited, of late
	counts  []uint32        // by port: frames that had been sent and had arrived when nodes were to be moved last
}

// weigh reports whether one part waits much longer than another. It goes by what the parts
// said when they met before the meeting at hand.
func (w *World) weigh(now time.Time, half int) bool {
	s := w.parallel
	past := now.Sub(s.weighed)
	if past < max(weighs, seldom*s.took) {
		return false
	}
	s.weighed = now
	for i, p := range w.parts {
		idle := p.exchange.idleTotal[1-half]
		s.longer[i] = (s.longer[i] + float64(idle-s.waited[i])/float64(past)) / 2
		s.waited[i] = idle
	}
	return slices.Max(s.longer)-slices.Min(s.longer) > uneven
}

// even moves nodes from the part that waits least to the one that waits most. All parts rest.
func (w *World) even() {
	begin := time.Now()
	if from, to, marked := choose(w); slices.Contains(marked, true) {
		w.move(from, to, marked)
		clear(w.parallel.longer)
	}
	w.parallel.took = time.Since(begin)
}

// choose says which nodes are to be moved. Tests choose others.
var choose = (*World).lightest

// lightest marks nodes of the part that waits least, of which the one that waits most may take
// as many as make both wait as long. Of nodes that belong together the first is marked.
func (w *World) lightest() (from, to int, marked []bool) {
	s := w.parallel
	least, most := slices.Min(s.longer), slices.Max(s.longer)
	from, to = slices.Index(s.longer, least), slices.Index(s.longer, most)
	all, work := 0, make([]int, len(w.members)) // of nodes that belong together, by the first of them
	for i := range w.ports {
		p := &w.ports[i]
		m := &w.members[p.flight.node]
		n := int(p.sent + p.delivered - s.counts[i])
		s.counts[i] += uint32(n)
		if m.ports == 1 {
			n *= 2 // at its ends a packet takes longer
		}
		if m.part == from {
			work[m.group] += n
			all += n
		}
	}
	// What one has less to do, the other has more.
	much := int(float64(all) * min(1, (most-least)/2))
	marked = make([]bool, len(w.members))
	kinds := w.kinds()
	for kind := stray; kind < stays; kind++ {
		for u, n := range work {
			if n > 0 && n <= much && kinds[u] == kind {
				marked[u] = true
				much -= n
			}
		}
	}
	return from, to, marked
}

// kind is which nodes are moved rather than others.
type kind uint8

const (
	stray  kind = iota // hosts whose switch is in another part
	middle             // switches without hosts: most of their links lead to other parts anyway
	host               // from now on its frames go from one part to another
	stays
)

// kinds are those of nodes that belong together, by the first of them.
func (w *World) kinds() []kind {
	kinds := make([]kind, len(w.members))
	for i := range w.members {
		m := &w.members[i]
		k := &kinds[m.group]
		if m.ports > 1 {
			*k = max(*k, middle)
		}
		for i := range w.ports[m.first : m.first+m.ports] {
			p := &w.ports[m.first+i]
			switch {
			case p.peer == unlinked:
			case w.members[w.ports[p.peerID()].flight.node].ports == 1:
				*k = stays
			case m.ports == 1 && p.peer > otherPart:
				*k = max(*k, host)
			}
		}
	}
	return kinds
}

// move has nodes of a part belong to another, those that belong together with the marked
// ones. All parts rest, and have taken what others sent them.
func (w *World) move(from, to int, marked []bool) {
	p, q := w.parts[from], w.parts[to]
	q.pool.FetchAll()
	for i := range w.members {
		m := &w.members[i]
		if !marked[m.group] {
			continue
		}
		p.nextOf[i] = units.Never
		q.noteNext(i)
		m.part, m.env.Pool = to, q.pool
	}
	w.link()
	w.setWindows()
}

// link has the parts know which links there are between them.
func (w *World) link() {
	s := w.parallel
	n := len(w.parts)
	s.ahead = longestAhead
	delay := make([]units.Time, n*n)
	for i := range delay {
		delay[i] = units.Never
	}
	parts := w.exchange.parts
	for i := range w.ports {
		parts[i] = uint8(w.members[w.ports[i].flight.node].part)
	}
	for i := range w.ports {
		p := &w.ports[i]
		if p.peer == unlinked {
			continue
		}
		p.peer = p.peerID()
		if from, to := int(parts[i]), int(parts[p.peer]); from != to {
			p.peer = inOtherPart(p.peer)
			d := &delay[from*n+to]
			*d = min(*d, p.delay)
			s.ahead = min(s.ahead, p.delay)
		}
	}
	for i, p := range w.parts {
		b := p.exchange
		b.in = b.in[:0]
		for j, q := range w.parts {
			if d := delay[j*n+i]; d != units.Never {
				b.in = append(b.in, neighbour{d, q.exchange.out[i], &q.exchange.shared[clock]})
			}
		}
	}
}
