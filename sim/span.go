package sim

import (
	"photon/dataplane"
	"photon/units"
)

// spanWorth is how many arrivals in a window, for each of the node's ports, are worth a look at all ports. After a
// frame that a node has to receive by itself there is another look; if it takes few frames again, after twice as many.
const spanWorth = 2

// span hands the arrivals of the window, from one on, to the node that is visited, which has all of these ports, and puts
// what leaves on the links. It returns how many the node has taken: the next is to be received by itself.
func (p *part) span(m *member, all []port, from int) (taken int) {
	v := &p.visit
	begin := v.base + units.Time(v.keys[from]>>portBits)
	until := m.spanner.Spans(begin, v.end)
	if until <= begin {
		return 0
	}
	x := &v.span
	x.Base, x.End, x.Keys, x.Frames = v.base, until, v.keys[from:], v.frames[from:]
	x.Wires, x.Left, x.Idle = x.Wires[:0], x.Left[:0], 0
	for i := range all {
		t := &all[i]
		if t.perByte == 0 && t.peer != unlinked {
			return 0
		}
		x.Wires = append(x.Wires, dataplane.Wire{At: t.timer, PerByte: t.perByte, Overhead: t.overhead})
	}
	taken = m.spanner.Span(x)
	frames := x.Frames[:taken]
	for i, key := range x.Keys[:taken] {
		number := int(uint16(key))
		all[number].delivered++
		p.trace(v.base+units.Time(key>>portBits), v.first+number, frames[i].Len, frames[i].Digest)
	}
	for i := range x.Left {
		d := &x.Left[i]
		p.launch(&all[d.Port], d.Gone, &d.Frame)
	}
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
