package sim

import (
	"cmp"
	"slices"
	"time"

	"photon/units"
)

// split is a world in several parts. No frame gets from one to another faster than
// the shortest delay of a link between two of them: what happens in any part within
// that time of the first event of all is decided, and the parts can have it happen
// at the same time, each on its own processor. Then they meet, hand over the frames
// that crossed, and have the next such window happen.
//
// It is the same as if one had everything happen in its order. Events of an instant
// are ordered by their numbers, and those of different nodes have nothing to do with
// each other: what passes between nodes are frames, and they take time. Arrivals are
// noted by each part and go into the trace hash in the order of all.
type split struct {
	parts  []*part
	ahead  units.Time // the length of a window
	hash   uint64     // of the arrivals in all windows but the last
	read   []int      // of each part's arrivals: scratch
	meet   barrier
	looked time.Time // by the first part, at the clock
	added  turn      // windows whose arrivals somebody has undertaken to add to the hash
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
	if n < 2 || w.pool.Held() > 0 {
		return
	}
	s := &split{ahead: units.Never, hash: w.hash, read: make([]int, n)}
	for i := range n {
		p := &w.part
		if i > 0 {
			p = &new(struct {
				_ [64]byte // nobody else's lines of the cache
				part
				_ [64]byte
			}).part
			p.pool, p.nodes, p.ports, p.now = w.pool.Another(), w.nodes, w.ports, w.now
		}
		p.beside = newBeside(i, n)
		s.parts = append(s.parts, p)
	}
	for _, p := range s.parts {
		for _, q := range s.parts {
			p.beside.all = append(p.beside.all, q.beside)
		}
	}
	for i := range w.nodes {
		m := &w.nodes[i]
		m.env.Pool = s.parts[m.part].pool
	}
	for i := range w.ports {
		p := &w.ports[i]
		if p.peer != unlinked && w.nodes[p.member].part != w.nodes[w.ports[p.other()].member].part {
			p.peer = away(p.other())
			s.ahead = min(s.ahead, p.delay)
		}
	}
	s.meet.parts = uint32(n)
	w.split = s
}

// leastAhead is the shortest delay of a link that may be between two parts: in less
// time too little happens to be worth meeting for.
const leastAhead = 200 * units.Nanosecond

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
	for i := range w.ports {
		p := &w.ports[i]
		if p.peer != unlinked && (p.delay < leastAhead || w.nodes[p.member].ports == 1) {
			a, b := group(p.member), group(w.ports[p.other()].member)
			lead[max(a, b)] = min(a, b)
		}
	}
	weight := make([]units.Rate, len(w.nodes)) // by group: what may go through it
	for i := range w.ports {
		weight[group(w.ports[i].member)] += w.ports[i].link.Rate
	}
	var groups []int
	for i := range lead {
		if lead[i] == i {
			groups = append(groups, i)
		}
	}
	parts := min(w.most, len(groups))
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
