package sim

import (
	"slices"
	"time"

	"photon/units"
)

// All parts have as much to do at first. That does not last: flows begin and end, and of two processors of a virtual
// machine sometimes one is a fourth slower than the other, for tenths of a second. The faster one then waits for the
// slower. So at some barriers nodes move from the part that has most to do to the one that has least.
//
// Where nodes have sides that take turns, parts wait for the one that has most to do in a turn. So each side is balanced
// by itself: less to do for hosts does not make up for more to do for their switches.

var (
	// balanceEvery is how long the load of parts is measured at a time.
	balanceEvery = 10 * time.Millisecond
	// imbalance is which share of that time a part may wait, and by how much what two parts have to do for a side may
	// differ.
	imbalance = 0.1
	// moveShare limits what moving nodes costs, which is more in large worlds: for so many times as long as it took
	// the last time no nodes are moved.
	moveShare time.Duration = 50
)

// smoothing is over how many measurements loads are averaged. What is to do at the nodes comes and goes faster than
// nodes could follow: they move for what lasts.
const smoothing = 8

// balance is what is known of the load of parts.
type balance struct {
	measuredAt time.Time
	moveTook   time.Duration // the last time
	loads      []load        // by part
	carried    []uint32      // by port: frames that it had sent and got when nodes were to be moved last
}

// load is what a part does with its time.
type load struct {
	waited time.Duration    // until it was measured
	busy   [2]time.Duration // the same, in turns of each side
	// Shares of the time, averages over the last measurements.
	idleShare float64
	busyShare [2]float64
}

// measure notes what a part has done in some time.
func (l *load) measure(r *report, past time.Duration) {
	share := func(now, before time.Duration) float64 { return float64(now-before) / float64(past) }
	l.idleShare += (share(r.waited, l.waited) - l.idleShare) / smoothing
	for side := range l.busy {
		l.busyShare[side] += (share(r.busy[side], l.busy[side]) - l.busyShare[side]) / smoothing
	}
	l.waited, l.busy = r.waited, r.busy
}

// timeEvery is of how many turns one has its time taken: a prime number, so that all that take turns come up.
const timeEvery = 5

// beginTurn begins a turn, and returns when that was if its time is taken.
func (p *part) beginTurn() (began time.Time) {
	if x := p.exchange; x != nil {
		if x.turns++; x.turns%timeEvery == 0 {
			began = time.Now()
		}
	}
	return began
}

// endTurn ends a turn of a side.
func (p *part) endTurn(side int, began time.Time) {
	if !began.IsZero() {
		p.exchange.busy[side] += timeEvery * time.Since(began)
	}
}

// isImbalanced reports whether a part waits because another has more to do. A part's report for the barrier at hand may
// not be written yet, so that it goes by those for the one before.
func (w *World) isImbalanced(now time.Time, round uint32) bool {
	s := w.parallel
	past := now.Sub(s.measuredAt)
	if past < max(balanceEvery, moveShare*s.moveTook) {
		return false
	}
	s.measuredAt = now
	idle := 0.0
	for i, p := range w.parts {
		s.loads[i].measure(p.exchange.reportOf(round-1), past)
		idle = max(idle, s.loads[i].idleShare)
	}
	_, _, _, difference := s.unevenSide()
	return idle > imbalance && difference > imbalance
}

// unevenSide is the side for which two parts' shares of busy time differ most, and which these are.
func (b *balance) unevenSide() (side, from, to int, difference float64) {
	for i := range 2 {
		least, most := 0, 0
		for p := range b.loads {
			if b.loads[p].busyShare[i] < b.loads[least].busyShare[i] {
				least = p
			}
			if b.loads[p].busyShare[i] > b.loads[most].busyShare[i] {
				most = p
			}
		}
		if d := b.loads[most].busyShare[i] - b.loads[least].busyShare[i]; i == 0 || d > difference {
			side, from, to, difference = i, most, least, d
		}
	}
	return side, from, to, difference
}

// rebalance moves nodes from the part that has most to do to the one that has least, while all parts rest.
func (w *World) rebalance() {
	begin := time.Now()
	if from, to, groups := chooseGroups(w); slices.Contains(groups, true) {
		w.move(from, to, groups)
		for i := range w.parallel.loads {
			l := &w.parallel.loads[i]
			l.idleShare, l.busyShare = 0, [2]float64{}
		}
	}
	w.parallel.moveTook = time.Since(begin)
}

// chooseGroups says which groups of nodes move. Tests choose others.
var chooseGroups = (*World).surplus

// surplus chooses groups of a side by their first nodes: as many as make two parts have as much to do for the side.
func (w *World) surplus() (from, to int, groups []bool) {
	side, from, to, difference := w.parallel.unevenSide()
	work, sum := w.work(from, side)
	rest := 0 // half of what is more, because what one does not do the other does
	if busy := w.parallel.loads[from].busyShare[side]; busy > 0 {
		rest = int(float64(sum) * difference / busy / 2)
	}
	groups = make([]bool, len(w.members))
	ranks := w.moveRanks()
	for rank := strayHost; rank <= leaf; rank++ {
		for i, n := range work {
			if n > 0 && n <= rest && ranks[i] == rank {
				groups[i] = true
				rest -= n
			}
		}
	}
	return from, to, groups
}

// work is how many frames each group of a part, if it is on a side, has sent and received since this was asked last, by
// first nodes, and the sum of that.
func (w *World) work(of, side int) (work []int, sum int) {
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
		if m.part == of && (w.sides == nil || int(w.members[m.group].side) == side) {
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
	leaf                          // a switch with hosts: theirs will cross
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
				*r = leaf
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
