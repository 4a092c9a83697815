package sim

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"photon/units"
)

// parallel is a world in several parts. No frame gets from one to another faster than the
// shortest delay of a link between the two: a part that knows how far the others are may
// have everything happen that happens within that time of them, on its own processor, and
// tells them now and then how far it is itself (conservative lookahead with clocks instead
// of null messages; Chandy and Misra, CACM 24(4), 1981). So a part that has more to do at
// one instant and less at the next does not hold up the others, as it does if all meet
// after each such window. They meet more rarely: where a sampler is due, and so that time
// in which nothing happens is skipped.
//
// It is the same as if one had everything happen in its order. Events of a node
// have an order, and those of different nodes have nothing to do with each other: what passes between nodes are frames, and they take time. The trace hash is
// a sum, to which each part adds its own arrivals.
type parallel struct {
	ahead      units.Time // the shortest delay of a link between two
	peakFrames int        // the most that were on their way and in queues when the parts met
	meet       barrier
	checkedAt  time.Time // by the first part, at the clock
	pools      sync.Mutex
	balance
}

// divide makes parts, if there are to be several.
func (w *World) divide() {
	n := w.share()
	if n < 2 || w.workers > 1 || w.pool.InUse() > 0 {
		return
	}
	s := new(parallel)
	parts := make([]uint8, len(w.ports))
	for i := range n {
		p := &w.part
		if i > 0 {
			p = &new(struct {
				_ [64]byte // nobody else's lines of the cache
				part
				_ [64]byte
			}).part
			p.pool, p.members, p.ports, p.now, p.taps = w.pool.Another(&s.pools), w.members, w.ports, w.now, w.taps
		}
		p.exchange = newExchange(i, n)
		p.exchange.parts = parts
		if i > 0 {
			w.parts = append(w.parts, p)
		}
	}
	for i := range w.members {
		m := &w.members[i]
		m.env.Pool = w.parts[m.part].pool
	}
	for _, p := range w.parts {
		for _, q := range w.parts {
			p.exchange.all = append(p.exchange.all, q.exchange)
		}
	}
	s.waited, s.longer, s.counts = make([]time.Duration, n), make([]float64, n), make([]uint32, len(w.ports))
	s.meet.parts = uint32(n)
	w.parallel = s
	w.link()
	for _, p := range w.parts {
		p.exchange.span = s.ahead
	}
}

// leastAhead is the shortest delay of a link that may be between two parts: in less
// time too little happens to be worth meeting for.
const leastAhead = 200 * units.Nanosecond

// longestAhead is how far one part may be ahead of the others even if no links join them.
const longestAhead = units.Second

// maxParts is how many parts there may be.
const maxParts = 1 << 8

// share says which part each node belongs to, and returns how many there are. Nodes
// that are near each other stay together, and so do a host and its switch.
func (w *World) share() int {
	if w.maxParts < 2 {
		return 1
	}
	lead := make([]int, len(w.members)) // a node of the same group; its own: it is the first of it
	for i := range lead {
		lead[i] = i
	}
	group := func(node int32) int {
		i := int(node)
		for lead[i] != i {
			i = lead[i]
		}
		return i
	}
	join := func(which func(p *port) bool) {
		for i := range w.ports {
			p := &w.ports[i]
			if p.peer != unlinked && which(p) {
				a, b := group(p.flight.node), group(w.ports[p.peerID()].flight.node)
				lead[max(a, b)] = min(a, b)
			}
		}
	}
	join(func(p *port) bool { return p.delay < leastAhead })
	for i := range w.members {
		w.members[i].group = group(int32(i))
	}
	join(func(p *port) bool { return w.members[p.flight.node].ports == 1 })
	weight := make([]units.Rate, len(w.members)) // by group: what may go through it
	for i := range w.ports {
		weight[group(w.ports[i].flight.node)] += w.ports[i].link.Rate
	}
	var groups []int
	for i := range lead {
		if lead[i] == i {
			groups = append(groups, i)
		}
	}
	parts := min(w.maxParts, len(groups), maxParts)
	slices.SortStableFunc(groups, func(a, b int) int { return cmp.Compare(weight[b], weight[a]) })
	load := make([]units.Rate, parts)
	part := make([]int, len(w.members)) // by group
	for len(groups) > 0 {
		// Groups of a kind go to the parts in their order, as many to each: those whose
		// numbers are near are often neighbours. What is left over goes where least is.
		alike := 1
		for alike < len(groups) && weight[groups[alike]] == weight[groups[0]] {
			alike++
		}
		each := alike / parts
		for i, g := range groups[:alike] {
			to := slices.Index(load, slices.Min(load))
			if i < each*parts {
				to = i / each
			}
			part[g] = to
			load[to] += weight[g]
		}
		groups = groups[alike:]
	}
	for i := range w.members {
		w.members[i].part = part[group(int32(i))]
	}
	return parts
}
