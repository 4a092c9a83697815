package sim

import (
	"photon/dataplane"
	"photon/units"
)

// leastSpan is how many arrivals in a window are worth a look at whether the node can take them as one.
const leastSpan = 8

// span hands the arrivals of the window to the node that is visited, which has all of these ports, and puts what leaves
// on the links. It returns how many the node has taken: the next is to be received by itself.
func (p *part) span(m *member, all []port) (taken int) {
	v := &p.visit
	x := &v.span
	x.Base, x.End, x.Keys, x.Frames, x.Left, x.Wires = v.base, v.end, v.keys, v.frames, x.Left[:0], x.Wires[:0]
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
	for i := range x.Left {
		d := &x.Left[i]
		p.depart(&all[d.Port], d.Gone, &d.Frame)
	}
	p.events += uint64(taken + len(x.Left))
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
