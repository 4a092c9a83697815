package sim

import (
	"context"

	"photon/internal/memory"
	"photon/units"
)

// Run lets time pass until the given instant. It stops early, with the
// context's error, if the context ends.
func (w *World) Run(ctx context.Context, until units.Time) error {
	if w.nextOf == nil {
		w.begin()
	}
	until = min(until, units.Never-1) // there is an instant after it
	w.scheduleAllWoken()              // those that were woken while the world did not run
	w.unskip(w.now, len(w.samplers))
	w.setDue()
	run := w.runOnePart
	if w.parallel != nil {
		run = w.runParts
	}
	if err := run(ctx, until); err != nil {
		return err
	}
	w.setNow(until)
	w.deliverWatched()
	return nil
}

// runOnePart is Run of a world in one part.
func (w *World) runOnePart(ctx context.Context, until units.Time) error {
	for n := 0; ; n++ {
		if n&0xF == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch end := min(w.due, until+1); {
		case w.next < end:
			w.window(end)
		case w.due <= until:
			w.sample(w.due, w.next)
		default:
			return nil
		}
	}
}

// setNow sets the clocks of all parts.
func (w *World) setNow(now units.Time) {
	for _, p := range w.parts {
		p.now = now
	}
}

// largeWorld is how many ports a world has whose memory is worth being put into huge pages.
const largeWorld = 1000

// begin makes what a world needs to run, when all nodes are in it.
func (w *World) begin() {
	w.divide()
	for _, p := range w.parts {
		p.next, p.nextOf = units.Never, make([]units.Time, len(w.members))
		for i := range p.nextOf {
			p.nextOf[i] = units.Never
		}
		p.visit.reserve()
	}
	w.setWindows()
	w.findSides()
	if len(w.ports) >= largeWorld {
		memory.HugeHeap()
	}
}

// longestWindow is that of a part whose nodes no links join.
const longestWindow = 100 * units.Microsecond

// setWindows notes for each part which nodes it has and how long its windows may be: as long as the shortest delay of
// a link, since no node hears of what another does in less time.
func (w *World) setWindows() {
	for _, p := range w.parts {
		p.maxWindow, p.border, p.interior = longestWindow, p.border[:0], p.interior[:0]
	}
	for i := range w.members {
		m := &w.members[i]
		p := w.parts[m.part]
		list := &p.interior
		for _, port := range w.portsOf(m) {
			if port.peer != unlinked {
				p.maxWindow = max(1, min(p.maxWindow, port.delay))
			}
			if port.peer <= otherPart {
				list = &p.border
			}
		}
		*list = append(*list, int32(i))
	}
	if s := w.parallel; s != nil {
		for _, p := range w.parts {
			p.leastTurn = min(p.maxWindow, s.lookahead) / 2
		}
	}
}

// portsOf are the ports of a node.
func (p *part) portsOf(m *member) []port { return p.ports[m.first : m.first+m.ports] }

// scheduleAllWoken schedules the ports that nodes have woken while no event was handled, and reports whether there
// are any.
func (w *World) scheduleAllWoken() (woken bool) {
	for i := range w.members {
		m := &w.members[i]
		if m.shared != nil {
			m.shared.relay()
		}
		if m.env.Wakes() {
			p := w.parts[m.part]
			woken = p.scheduleWoken(m.env, m.first) || woken
			p.noteNext(i)
		}
	}
	return woken
}

// noteNext notes when a node that is not visited has its next event.
func (p *part) noteNext(node int) {
	ports := p.portsOf(&p.members[node])
	for i := range ports {
		p.nextOf[node] = min(p.nextOf[node], ports[i].flight.first, ports[i].timer)
	}
	p.next = min(p.next, p.nextOf[node])
	if s := p.sides; s != nil {
		q, at := p.members[node].quarter, p.nextOf[node]
		s.next[q], s.clock[q] = min(s.next[q], at), min(s.clock[q], at)
	}
}
