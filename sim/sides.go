package sim

import (
	"slices"

	"photon/units"
)

// Most networks have two sides: every link joins a node of one side with a node of the other. In trees and fat trees of
// any height hosts and spines are on one side, and leaves on the other. What a node does reaches others of its own side
// after two delays of a link at the earliest. So the sides of a part take turns: the first gets ahead of the other by
// one delay, and from then on each turn lasts two. A visit of a node, which begins by loading its data into the cache, is
// needed half as often, and parts wait for each other half as often.
//
// A network with a cycle of an odd number of links has no sides: its nodes are visited in windows of one delay.

// In a world of several parts each side of a part is divided once more: into nodes at the border, with links to other
// parts, and those in the interior. What the border has to wait for, the interior need not: while another part is late
// there is something to do.

// sides are the nodes of a part in four quarters.
type sides struct {
	_     [64]byte // no other part's cache line
	nodes [quarters][]int32
	next  [quarters]units.Time // no node of the quarter has an event before
	clock [quarters]units.Time // all events of the quarter before it have been handled
	_     [64]byte
}

// A quarter is the nodes of a side at the border, or those in the interior.
const (
	border   = 0
	interior = 1
	quarters = 4
)

func quarterOf(side, kind int) int { return 2*side + kind }

// findSides divides the nodes of all parts into two sides, if the world has them.
func (w *World) findSides() {
	const unknown = 2
	for i := range w.members {
		w.members[i].side = unknown
	}
	for i := range w.members {
		if w.members[i].side != unknown {
			continue
		}
		w.members[i].side = 0
		for reached := []int32{int32(i)}; len(reached) > 0; reached = reached[1:] {
			m := &w.members[reached[0]]
			for _, port := range w.portsOf(m) {
				if port.peer == unlinked {
					continue
				}
				to := w.ports[port.peerID()].flight.node
				switch other := &w.members[to]; other.side {
				case unknown:
					other.side = 1 - m.side
					reached = append(reached, to)
				case m.side:
					return
				}
			}
		}
	}
	for _, p := range w.parts {
		p.sides = new(sides)
	}
	w.fillSides()
}

// fillSides notes which nodes of each part are in which quarter. All parts rest, and have handled all events before some
// instant.
func (w *World) fillSides() {
	if w.sides == nil {
		return
	}
	clock := units.Time(units.Never)
	for _, p := range w.parts {
		clock = min(clock, p.sides.leastClock())
	}
	if clock == units.Never { // there were no nodes yet
		clock = 0
	}
	for _, p := range w.parts {
		s := p.sides
		if p.exchange != nil {
			p.exchange.clock = clock
		}
		s.nodes, s.clock = [quarters][]int32{}, [quarters]units.Time{clock, clock, clock, clock}
		for kind, nodes := range [2][]int32{border: p.border, interior: p.interior} {
			for _, i := range nodes {
				m := &p.members[i]
				m.quarter = uint8(quarterOf(int(m.side), kind))
				s.nodes[m.quarter] = append(s.nodes[m.quarter], i)
			}
		}
		for q, nodes := range s.nodes {
			s.next[q] = units.Never
			for _, i := range nodes {
				s.next[q] = min(s.next[q], p.nextOf[i])
			}
		}
	}
}

// turn handles events of one quarter, and returns of which kind. Those at the border come first: other parts wait for
// them. It reports false if all are to wait. No quarter hears from other parts before its safe time.
func (p *part) turn(safe [quarters]units.Time) (kind int, went bool) {
	s := p.sides
	for kind := range 2 {
		first := 0
		if s.next[quarterOf(1, kind)] < s.next[quarterOf(0, kind)] {
			first = 1
		}
		if p.turnOf(first, kind, safe) || p.turnOf(1-first, kind, safe) {
			return kind, true
		}
	}
	return 0, false
}

// turnOf handles events of a quarter up to where the other side could answer: a delay after that does anything, which is
// a delay after this side does at the earliest, unless it has an event of its own or hears from another part before.
func (p *part) turnOf(side, kind int, safe [quarters]units.Time) bool {
	s, this := p.sides, quarterOf(side, kind)
	if len(s.nodes[this]) == 0 {
		return false
	}
	quiet := min(s.first(1-side, safe), s.first(side, safe).Add(p.maxWindow))
	end := safe[this]
	for q := quarterOf(1-side, 0); q <= quarterOf(1-side, 1); q++ {
		if len(s.nodes[q]) > 0 {
			s.clock[q] = max(s.clock[q], quiet)
			end = min(end, s.clock[q].Add(p.maxWindow))
		}
	}
	if end < min(s.clock[this].Add(p.leastTurn), safe[quarterOf(side, interior)]) || end <= s.clock[this] {
		return false
	}
	s.clock[this] = end
	if s.next[this] >= end {
		return true
	}
	began := p.beginTurn()
	p.next = units.Never // from here on carry notes what is on its way, all to the other side
	s.next[this] = p.visitAll(s.nodes[this], end)
	for q := quarterOf(1-side, 0); q <= quarterOf(1-side, 1); q++ {
		if len(s.nodes[q]) > 0 {
			s.next[q] = min(s.next[q], p.next)
		}
	}
	p.next = slices.Min(s.next[:])
	p.endTurn(side, began)
	return true
}

// first is before when a side does nothing, unless it hears from the other.
func (s *sides) first(side int, safe [quarters]units.Time) units.Time {
	first := units.Time(units.Never)
	for q := quarterOf(side, 0); q <= quarterOf(side, 1); q++ {
		if len(s.nodes[q]) > 0 {
			first = min(first, max(s.clock[q], min(s.next[q], safe[q])))
		}
	}
	return first
}

// leastClock is before when all events of the part have been handled.
func (s *sides) leastClock() units.Time {
	least := units.Time(units.Never)
	for q := range s.nodes {
		if len(s.nodes[q]) > 0 {
			least = min(least, s.clock[q])
		}
	}
	return least
}
