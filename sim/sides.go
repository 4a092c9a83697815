package sim

import "photon/units"

// Most networks have two sides: every link joins a node of one side with a node of the other. In trees and fat trees of
// any height hosts and spines are on one side, and leaves on the other. What a node does reaches others of its own side
// after two delays of a link at the earliest. So the sides of a part take turns: the first gets ahead of the other by
// one delay, and from then on each turn lasts two. A visit of a node, which begins by loading its data into the cache, is
// needed half as often, and parts wait for each other half as often.
//
// A network with a cycle of an odd number of links has no sides: its nodes are visited in windows of one delay.

// sides are the nodes of a part by their side.
type sides struct {
	_      [64]byte      // no other part's cache line
	nodes  [2][]int32    // first those that have links to other parts,
	border [2]int        // so many
	next   [2]units.Time // no node of the side has an event before
	clock  [2]units.Time // all events of the side before it have been handled
	_      [64]byte
}

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

// fillSides notes which nodes of each part are on which side.
func (w *World) fillSides() {
	for _, p := range w.parts {
		s := p.sides
		if s == nil {
			return
		}
		s.nodes, s.next = [2][]int32{}, [2]units.Time{units.Never, units.Never}
		for _, i := range p.border {
			s.nodes[p.members[i].side] = append(s.nodes[p.members[i].side], i)
		}
		s.border = [2]int{len(s.nodes[0]), len(s.nodes[1])}
		for _, i := range p.interior {
			s.nodes[p.members[i].side] = append(s.nodes[p.members[i].side], i)
		}
		for side, nodes := range s.nodes {
			for _, i := range nodes {
				s.next[side] = min(s.next[side], p.nextOf[i])
			}
		}
	}
}

// turn handles events of the side whose next is earlier; if that side is to wait for the other, of that. It reports
// whether a clock went on. Nothing comes to a side from other parts before its safe time.
func (p *part) turn(safe [2]units.Time) bool {
	this := 0
	if p.sides.next[1] < p.sides.next[0] {
		this = 1
	}
	return p.turnOf(this, safe) || p.turnOf(1-this, safe)
}

// turnOf handles events of a side up to where the other could answer: a delay after that does anything, which is a
// delay after this side does at the earliest, unless it has an event of its own or hears from another part before.
func (p *part) turnOf(this int, safe [2]units.Time) bool {
	s, other := p.sides, 1-this
	first := max(s.clock[this], min(s.next[this], safe[this]))
	quiet := max(s.clock[other], min(s.next[other], safe[other], first.Add(p.maxWindow)))
	end := min(safe[this], quiet.Add(p.maxWindow))
	if end <= s.clock[this] {
		return false
	}
	s.clock[this], s.clock[other] = end, quiet
	if s.next[this] >= end {
		return true
	}
	began := p.beginTurn()
	nodes, border := s.nodes[this], s.border[this]
	p.next = units.Never // from here on carry notes what is on its way, all to the other side
	next := p.visitAll(nodes[:border], end)
	p.publishEarly(s.clock)
	s.next[this] = min(next, p.visitAll(nodes[border:], end))
	s.next[other] = min(s.next[other], p.next)
	p.next = min(s.next[0], s.next[1])
	p.endTurn(this, began)
	return true
}
