package sim

import (
	"slices"
	"time"

	"photon/units"
)

// All parts have as much to do at first. That does not last: flows begin and end, and of two processors of a virtual
// machine sometimes one is a fourth slower than the other, for tenths of a second. The faster one then waits for the
// slower. So at some barriers nodes move from the part that waits least to the one that waits most.

var (
	// balanceEvery is how long the waiting of parts is measured before nodes are moved.
	balanceEvery = 2 * time.Millisecond
	// imbalance is by how much two parts' shares of that time in which they waited may differ.
	imbalance = 0.04
	// moveShare limits what moving nodes costs, which is more in large worlds: for so many times as long as it took
	// the last time no nodes are moved.
	moveShare time.Duration = 50
)

// balance is what is known of the load of parts.
type balance struct {
	measuredAt time.Time
	moveTook   time.Duration   // the last time
	waited     []time.Duration // by part, until it was measured
	idleShare  []float64       // by part: the share of the time in which it waited, a moving average
	carried    []uint32        // by port: frames that it had sent and got when nodes were to be moved last
}

// isImbalanced reports whether one part waits much longer than another. A part's report for the barrier at hand may not
// be written yet, so that it goes by those for the one before.
func (w *World) isImbalanced(now time.Time, round uint32) bool {
	s := w.parallel
	past := now.Sub(s.measuredAt)
	if past < max(balanceEvery, moveShare*s.moveTook) {
		return false
	}
	s.measuredAt = now
	for i, p := range w.parts {
		waited := p.exchange.reportOf(round - 1).waited
		s.idleShare[i] = (s.idleShare[i] + float64(waited-s.waited[i])/float64(past)) / 2
		s.waited[i] = waited
	}
	return slices.Max(s.idleShare)-slices.Min(s.idleShare) > imbalance
}

// rebalance moves nodes from the part that waits least to the one that waits most, while all parts rest.
func (w *World) rebalance() {
	begin := time.Now()
	if from, to, groups := chooseGroups(w); slices.Contains(groups, true) {
		w.move(from, to, groups)
		clear(w.parallel.idleShare)
	}
	w.parallel.moveTook = time.Since(begin)
}

// chooseGroups says which groups of nodes move. Tests choose others.
var chooseGroups = (*World).surplus

// surplus chooses groups of the part that waits least, by their first nodes: as many as the part that waits most can
// take until both wait as long.
func (w *World) surplus() (from, to int, groups []bool) {
	s := w.parallel
	least, most := slices.Min(s.idleShare), slices.Max(s.idleShare)
	from, to = slices.Index(s.idleShare, least), slices.Index(s.idleShare, most)
	work, sum := w.work(from)
	rest := int(float64(sum) * min(1, (most-least)/2)) // half, because what one does not do the other does
	groups = make([]bool, len(w.members))
	ranks := w.moveRanks()
	for rank := strayHost; rank < stays; rank++ {
		for i, n := range work {
			if n > 0 && n <= rest && ranks[i] == rank {
				groups[i] = true
				rest -= n
			}
		}
	}
	return from, to, groups
}

// work is how many frames each group of a part has sent and received since this was asked last, by first nodes, and
// the sum of that.
func (w *World) work(of int) (work []int, sum int) {
	work = make([]int, len(w.members))
	for i := range w.ports {
		p := &w.ports[i]
		m := &w.members[p.flight.node]
		carried := &w.parallel.carried[i]
		n := int(p.sent + p.delivered - *carried)
		*carried += uint32(n)
		if m.ports == 1 {
			n *= 2 // a packet costs its hosts more than a switch
		}
		if m.part == of {
			work[m.group] += n
			sum += n
		}
	}
	return work, sum
}

// moveRank is the order in which groups of nodes move: first those that have least to do with others of their part.
type moveRank uint8

const (
	strayHost     moveRank = iota // its switch is in another part
	bareSwitch                    // has no hosts: most of its links lead to other parts anyway
	neighbourHost                 // its switch is in the same part: its frames will cross from one part to another
	stays                         // a switch with hosts
)

// moveRanks are those of groups, by their first nodes.
func (w *World) moveRanks() []moveRank {
	ranks := make([]moveRank, len(w.members))
	for i := range w.members {
		m := &w.members[i]
		r := &ranks[m.group]
		if m.ports > 1 {
			*r = max(*r, bareSwitch)
		}
		ports := w.portsOf(m)
		for k := range ports {
			p := &ports[k]
			switch {
			case p.peer == unlinked:
			case w.members[w.ports[p.peerID()].flight.node].ports == 1:
				*r = stays
			case m.ports == 1 && p.peer > otherPart:
				*r = max(*r, neighbourHost)
			}
		}
	}
	return ranks
}

// move has the nodes of some groups of a part belong to another. All parts rest, and have received all frames.
func (w *World) move(from, to int, groups []bool) {
	p, q := w.parts[from], w.parts[to]
	q.pool.FetchAll()
	for i := range w.members {
		m := &w.members[i]
		if !groups[m.group] {
			continue
		}
		p.nextOf[i] = units.Never
		q.noteNext(i)
		m.part, m.env.Pool = to, q.pool
	}
	w.connectParts()
	w.setWindows()
	w.fillSides()
}
