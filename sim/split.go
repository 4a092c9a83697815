package sim

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"photon/units"
)

// split is a world in several parts. No frame gets from one to another faster than the
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
type split struct {
	parts     []*part
	ahead     units.Time // the shortest delay of a link between two
	frames    int        // the most that were on their way and in queues when the parts met
	meet      barrier
	checkedAt time.Time // by the first part, at the clock
	pools     sync.Mutex
	balance
}

// A port's peer is a port of its own part, or one of these.
const (
	unlinked = -1
	others   = -2 // and less: a port of another part, see away
)

// away is how a port names a peer in another part, and how that is read.
func away(port int32) int32 { return others - port }

// other is the port at the other end of a link.
func (p *port) other() int32 {
	if p.peer <= others {
		return away(p.peer)
	}
	return p.peer
}

// Parts lets the world run on up to n processors. It is for worlds that have not run,
// whose nodes share nothing that changes but in functions of Every; what happens is
// the same in any number of parts.
func (w *World) Parts(n int) { w.most = n }

// parts are all of them.
func (w *World) parts() []*part {
	if w.split == nil {
		return []*part{&w.part}
	}
	return w.split.parts
}

// set sets the clocks of all parts.
func (s *split) set(now units.Time) {
	for _, p := range s.parts {
		p.now = now
	}
}

// divide makes parts, if there are to be several.
func (w *World) divide() {
	n := w.share()
	if n < 2 || w.workers > 1 || w.pool.InUse() > 0 {
		return
	}
	s := new(split)
	parts := make([]uint8, len(w.ports))
	for i := range n {
		p := &w.part
		if i > 0 {
			p = &new(struct {
				_ [64]byte // nobody else's lines of the cache
				part
				_ [64]byte
			}).part
			p.pool, p.nodes, p.ports, p.now, p.taps = w.pool.Another(&s.pools), w.nodes, w.ports, w.now, w.taps
		}
		p.exchange = newExchange(i, n)
		p.exchange.parts = parts
		s.parts = append(s.parts, p)
	}
	for i := range w.nodes {
		m := &w.nodes[i]
		m.env.Pool = s.parts[m.part].pool
	}
	for _, p := range s.parts {
		for _, q := range s.parts {
			p.exchange.all = append(p.exchange.all, q.exchange)
		}
	}
	s.waited, s.longer, s.counts = make([]time.Duration, n), make([]float64, n), make([]uint32, len(w.ports))
	s.meet.parts = uint32(n)
	w.split = s
	w.link()
	for _, p := range s.parts {
		p.exchange.span = s.ahead
	}
}

// leastAhead is the shortest delay of a link that may be between two parts: in less
// time too little happens to be worth meeting for.
const leastAhead = 200 * units.Nanosecond

// longestAhead is how far one part may be ahead of the others even if no links join them.
const longestAhead = units.Second

// mostParts is how many parts there may be.
const mostParts = 1 << 8

// share says which part each node belongs to, and returns how many there are. Nodes
// that are near each other stay together, and so do a host and its switch.
func (w *World) share() int {
	if w.most < 2 {
		return 1
	}
	lead := make([]int, len(w.nodes)) // a node of the same group; its own: it is the first of it
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
				a, b := group(p.flight.member), group(w.ports[p.other()].flight.member)
				lead[max(a, b)] = min(a, b)
			}
		}
	}
	join(func(p *port) bool { return p.delay < leastAhead })
	for i := range w.nodes {
		w.nodes[i].unit = group(int32(i))
	}
	join(func(p *port) bool { return w.nodes[p.flight.member].ports == 1 })
	weight := make([]units.Rate, len(w.nodes)) // by group: what may go through it
	for i := range w.ports {
		weight[group(w.ports[i].flight.member)] += w.ports[i].link.Rate
	}
	var groups []int
	for i := range lead {
		if lead[i] == i {
			groups = append(groups, i)
		}
	}
	parts := min(w.most, len(groups), mostParts)
	slices.SortStableFunc(groups, func(a, b int) int { return cmp.Compare(weight[b], weight[a]) })
	load := make([]units.Rate, parts)
	part := make([]int, len(w.nodes)) // by group
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
	for i := range w.nodes {
		w.nodes[i].part = part[group(int32(i))]
	}
	return parts
}
