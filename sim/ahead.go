package sim

import (
	"unsafe"

	"photon/dataplane"
	"photon/internal/memory"
)

// A large network does not fit into the caches: where a frame's headers are, and what a
// port needs, has been pushed out by other events since the last time. So a large world
// fetches, for the events of the next days, what is known of them without looking
// elsewhere: their ports, their nodes' accounts of these, and headers. More, which takes
// reading what was fetched, costs as much as it brings. Nothing of this changes what happens.

// large is how many ports a world has that is worth to look ahead in.
const large = 1000

// horizon is how many days ahead lookAhead fetches: some ten events in a world of 1000 hosts.
const horizon = 3

// lookAhead does that when a day was reached.
func (w *part) lookAhead() {
	c := w.events
	last := c.today + min(horizon, int64(len(c.frames))-1)
	for day, ok := c.nextDay(max(w.fetched, c.today)); ok && day <= last; day, ok = c.nextDay(day) {
		w.fetch(day)
		w.fetched = day
	}
}

// fetch asks for what the events of a day need first.
func (w *part) fetch(day int64) {
	c := w.events
	for timer := c.days[day&(year-1)]; timer >= 0; timer = c.slots[timer].next {
		p, near := unsafe.Pointer(&w.ports[timer]), w.near[timer]
		memory.Prefetch4(p, near, p, near)
	}
	for from := c.arrivals(day); ; from = &c.more[from.more] {
		for i := range from.last[:from.n] {
			e := &from.last[i]
			p, near := unsafe.Pointer(&w.ports[e.event]), w.near[e.event]
			memory.Prefetch4(p, near, unsafe.Pointer(w.pool.Head(e.ref)), near)
		}
		if from.more == 0 {
			return
		}
	}
}

// nearby is what fetch needs to know of ports.
func (w *World) nearby() (near []unsafe.Pointer) {
	for i := range w.ports {
		p := &w.ports[i]
		at := unsafe.Pointer(p) // again, if the node does not say
		if n, ok := p.node.(dataplane.Near); ok {
			at = n.Near(int(p.number))
		}
		near = append(near, at)
	}
	return near
}
