package sim

import (
	"unsafe"

	"photon/internal/memory"
	"photon/wire"
)

// A large network does not fit into the caches. Where a frame's headers are has been
// pushed out by other events since its last, and what an event touches depends on what
// it has read before. So a large world fetches what events will need before their time
// has come: for the next days what is known without looking elsewhere, and when a day was
// reached what that leads to, for all its events together. More steps, and further ahead,
// cost more than they bring. Nothing of this changes what happens.

// large is how many ports a world has that is worth to look ahead in.
const large = 1000

// horizon is how many days ahead lookAhead fetches: some 25 events in a world of 1000 hosts.
const horizon = 8

// lookAhead does all that when a day was reached.
func (w *part) lookAhead() {
	c := w.events
	for i := range c.now {
		e := &c.now[i]
		if e.event >= c.timers {
			w.tell(e.event-c.timers, nil)
			continue
		}
		w.tell(e.event, w.pool.Head(e.ref))
	}
	last := c.today + min(horizon, int64(len(c.frames))-1)
	for day, ok := c.nextDay(max(w.fetched, c.today)); ok && day <= last; day, ok = c.nextDay(day) {
		w.fetch(day)
		w.fetched = day
	}
}

// tell tells a node what will happen at a port, and fetches the port through which the
// frame will leave.
func (w *part) tell(at int32, b *wire.Quick) {
	p := &w.ports[at]
	if p.lone != nil {
		if out := p.lone.Soon(int(p.number), b); out >= 0 {
			to := int(at) - int(p.number) + out
			memory.Prefetch(unsafe.Pointer(&w.ports[to]), 1)
		}
	} else if p.soon != nil {
		p.soon.Soon(int(p.number), b)
	}
}

// fetch asks for the ports of a day's events, and for the headers of frames.
func (w *part) fetch(day int64) {
	c := w.events
	for timer := c.days[day&(year-1)]; timer >= 0; timer = c.slots[timer].next {
		memory.Prefetch(unsafe.Pointer(&w.ports[timer]), 1)
	}
	for from := c.arrivals(day); ; from = &c.more[from.more] {
		for i := range from.last[:from.n] {
			e := &from.last[i]
			p := unsafe.Pointer(&w.ports[e.event])
			memory.Prefetch4(p, unsafe.Add(p, 64), unsafe.Pointer(w.pool.Head(e.ref)), unsafe.Pointer(&c.sizes[e.ref]))
		}
		if from.more == 0 {
			return
		}
	}
}
