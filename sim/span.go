package sim

import (
	"photon/fabric"
	"photon/units"
)

// spanWorth says from how many arrivals in a window on it pays to look at all ports of a node: one for so many ports.
const spanWorth = 2

// span hands the events of the window to the node that is visited, which has all of these ports, and puts what leaves
// on the links. It reports false, and does nothing, if that does not pay or cannot be.
func (p *part) span(m *member, all []port) bool {
	v := &p.visit
	if m.spanner == nil || spanWorth*len(v.frames) < len(all) || p.watched(v.first, len(all)) {
		return false
	}
	x := &v.span
	x.Base, x.End, x.Keys, x.Frames = v.base, v.end, v.keys, v.frames
	x.Wires, x.Departures, x.Idle = x.Wires[:0], x.Departures[:0], 0
	for i := range all {
		t := &all[i]
		if t.perByte == 0 && t.peer != unlinked {
			return false
		}
		x.Wires = append(x.Wires, fabric.Wire{At: t.timer, PerByte: t.perByte, Overhead: t.overhead})
	}
	m.spanner.Span(x)
	frames := v.frames
	for i, key := range v.keys[:len(frames)] {
		number := int(uint16(key))
		all[number].delivered++
		p.trace(v.base+units.Time(key>>portBits), v.first+number, frames[i].Len, frames[i].Digest)
	}
	for i := range x.Departures {
		d := &x.Departures[i]
		p.launch(&all[d.Port], d.Gone, &d.Frame)
	}
	p.events += uint64(len(x.Frames) + len(x.Departures) + x.Idle)
	for i := range all {
		all[i].timer = x.Wires[i].At
		m.env.SetDue(i, x.Wires[i].At)
	}
	return true
}
