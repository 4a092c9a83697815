package sim

import (
	"photon/fabric"
	"photon/units"
)

// There is no queue of all events. Time is cut into windows no longer than the shortest delay of a link, and the nodes
// are visited one after the other: one handles all its events of a window before the next is visited. No frame gets to
// another node in less than the delay of the link between them, so all frames that arrive in a window are on their way
// when it begins, and it does not matter which node is visited first. (Such windows are known from parallel simulators,
// where they are called conservative; Lubachevsky, CACM 32(1), 1989.)
//
// So a node's tables, and the code that it needs, get into the processor's caches once for all its events of a window,
// and the headers of frames can be prefetched.

// window handles all events of the part's next window, which ends at an instant at the latest.
//
// Only nodes at the border have frames for other parts. They are visited first, and the other parts are told then:
// these need not wait for the visits of the interior.
func (p *part) window(end units.Time) {
	if p.sides != nil {
		p.turn([quarters]units.Time{end, end, end, end})
		return
	}
	began := p.beginTurn()
	end = min(end, p.next+p.maxWindow)
	p.next = units.Never // from here on carry notes what is on its way
	border := p.visitAll(p.border, end)
	p.publishEarly([2]units.Time{end, end})
	interior := p.visitAll(p.interior, end)
	p.next = min(p.next, border, interior)
	p.endTurn(0, began)
}

// visitAll visits those of some nodes that have events before an instant, and returns when one of the nodes has its
// next.
func (p *part) visitAll(nodes []int32, end units.Time) (next units.Time) {
	next = units.Never
	for _, i := range nodes {
		at := p.nextOf[i]
		if at < end {
			m := &p.members[i]
			if m.ports == 1 {
				at = p.visitPort(m.first, end)
			} else {
				at = p.visitPorts(m.first, m.ports, at, end)
			}
			p.nextOf[i] = at
			if p.events >= p.beatAt {
				p.beat()
			}
		}
		next = min(next, at)
	}
	return next
}

// visitPort visits a node of one port, as hosts are, and returns when it has its next event.
func (p *part) visitPort(id int, end units.Time) units.Time {
	t := &p.ports[id]
	t.env.Queue = fabric.QueueAll
	p.prefetchFirst(&t.flight)
	for {
		if t.flight.first <= t.timer {
			if t.flight.first >= end {
				return t.flight.first
			}
			p.now = t.flight.first
			p.events++
			f := t.flight.take()
			p.burst[0] = f.frame
			p.prefetchNext(&t.flight)
			p.arrive(t, id)
		} else {
			if t.timer >= end {
				return t.timer
			}
			p.now = t.timer
			t.timer = units.Never
			p.events++
			p.transmit(t)
		}
	}
}

// prefetchAhead is how many frames before a frame arrives its headers are prefetched. They were used a window ago or
// longer: in large networks they are not in the caches any more.
const prefetchAhead = 8

// prefetchFirst prefetches the headers of the first frames on their way to a port.
func (p *part) prefetchFirst(l *flight) {
	for i := range min(prefetchAhead, l.len()) {
		p.pool.Ask(l.slot(l.head + i).frame.Place())
	}
}

// prefetchNext prefetches those of one more, after the first has been taken.
func (p *part) prefetchNext(l *flight) {
	if l.len() >= prefetchAhead {
		p.pool.Ask(l.slot(l.head + prefetchAhead - 1).frame.Place())
	}
}
