package sim

import "photon/units"

// Most networks have two sides: every link joins a node of one side with a node of the other. In trees and fat trees of
// any height hosts and spines are on one side, and leaves on the other. What a node does reaches others of its own side
// after two delays of a link at the earliest. So if a world is one part, its sides take turns: the first gets ahead of
// the other by one delay, and from then on each turn lasts two. A visit of a node, which begins by loading its data into
// the cache, is needed half as often.
//
// A network with a cycle of an odd number of links has no sides: its nodes are visited in windows of one delay.

// sides are the nodes of a part by their side.
type sides struct {
	nodes [2][]int32
	next  [2]units.Time // no node of the side has an event before
}

// findSides divides the nodes of a world in one part into two sides, if it has them.
func (w *World) findSides() {
	w.sides = nil
	if w.parallel != nil {
		return
	}
	const unknown = 2
	s := &sides{next: [2]units.Time{units.Never, units.Never}}
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
			s.nodes[m.side] = append(s.nodes[m.side], reached[0])
			for _, port := range w.portsOf(m) {
				if port.peer == unlinked {
					continue
				}
				to := w.ports[port.peer].flight.node
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
	w.sides = s
}

// windowOfSide handles the events of the side whose next event is earlier, up to an instant before end. It stops where
// the other side could answer: a delay after the other side's own next event, or two after the first of this turn.
func (p *part) windowOfSide(end units.Time) {
	s := p.sides
	this, other := 0, 1
	if s.next[1] < s.next[0] {
		this, other = 1, 0
	}
	end = min(end, s.next[this]+2*p.maxWindow)
	if s.next[other] < end-p.maxWindow {
		end = s.next[other] + p.maxWindow
	}
	p.next = units.Never // from here on carry notes what is on its way, all to the other side
	s.next[this] = p.visitAll(s.nodes[this], end)
	s.next[other] = min(s.next[other], p.next)
	p.next = min(s.next[0], s.next[1])
}
