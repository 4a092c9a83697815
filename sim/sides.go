package sim

import "photon/units"

// Most networks have two sides: every link joins a node of one with a node of the other. Hosts and spines are on one,
// leaves are on the other; so it is in trees and in fat trees of any height. Nodes of one side do not hear of each other
// in less than two delays, the way there and back. So where a world is one part, its sides take turns, and once they do a
// visit lasts for two delays: one side is ahead of the other by one, then the other by one. What a visit costs before its
// first event, above all a node's data in the caches, is paid half as often.
//
// A network with a way around that has an odd number of links has no sides; its nodes are visited in windows.

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

// windowOfSide handles events of the side that has the next, before an instant at the latest: as far as nothing that the
// other side has yet to do, by itself or because of what is sent to it now, can be heard of.
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
