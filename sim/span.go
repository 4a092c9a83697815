package sim

import (
	"photon/dataplane"
	"photon/units"
)

// spanWorth is how many arrivals in a window, for each of the node's ports, are worth a look at all ports.
const spanWorth = 2

// span hands the arrivals of the window to the node that is visited, which has all of these ports, and puts what leaves
// on the links. It returns how many the node has taken: the next is to be received by itself.
func (p *part) span(m *member, all []port) (taken int) {
	v := &p.visit
	x := &v.span
	x.Base, x.End, x.Keys, x.Frames = v.base, v.end, v.keys, v.frames
	x.Wires, x.Left, x.Idle = x.Wires[:0], x.Left[:0], 0
	for i := range all {
		t := &all[i]
		if t.perByte == 0 && t.peer != unlinked {
			return 0
		}
		x.Wires = append(x.Wires, dataplane.Wire{At: t.timer, PerByte: t.perByte, Overhead: t.overhead})
	}
	taken = m.spanner.Span(x)
	frames := v.frames[:taken]
	for i, key := range v.keys[:taken] {
		number := int(uint16(key))
		all[number].delivered++
		p.trace(v.base+units.Time(key>>portBits), v.first+number, frames[i].Len, frames[i].Digest)
	}
	p.departAll(all, x.Left)
	p.events += uint64(taken + len(x.Left) + x.Idle)
	v.timers, v.nextTimer = v.timers[:0], 0
	for i := range all {
		t, at := &all[i], x.Wires[i].At
		t.timer = at
		m.env.SetDue(i, at)
		if at < v.end {
			v.timers = append(v.timers, v.key(at, i))
		}
	}
	return taken
}

// departAll puts frames that have left some ports on their links.
func (p *part) departAll(all []port, left []dataplane.Departure) {
	for i := range left {
		d := &left[i]
		src := &all[d.Port]
		src.sent++
		if d.Digest == 0 {
			d.Digest = p.pool.Digest(&d.Frame)
		}
		at := d.Gone + src.delay
		if src.peer < 0 {
			p.exchange.send(src, at, &d.Frame)
			continue
		}
		l := &p.ports[src.peer].flight
		if l.len() >= l.mask {
			l.grow()
		}
		s := l.slot(l.end)
		s.at = at
		s.frame.Begin(d.Place(), d.Digest)
		if l.end == l.head {
			p.first(l, at)
		}
		l.end++
	}
}
