package sim

import "photon/units"

// heap is a 4-ary heap of a fixed set of events, each with a time that can be
// changed. An event whose time is units.Never rests outside. Equal times are
// ordered by the event's number.
type heap struct {
	order []entry
	place []int32 // where an event is in order; -1: outside
}

func newHeap(events int) *heap {
	h := &heap{place: make([]int32, events), order: make([]entry, 0, events)}
	for i := range h.place {
		h.place[i] = -1
	}
	return h
}

// first returns the earliest event; its time is units.Never if there is none.
func (h *heap) first() (event int, at units.Time) {
	if len(h.order) == 0 {
		return 0, units.Never
	}
	return int(h.order[0].event), h.order[0].at
}

// set changes an event's time.
func (h *heap) set(event int, at units.Time) {
	i := int(h.place[event])
	if i < 0 {
		if at != units.Never {
			h.order = append(h.order, entry{})
			h.up(len(h.order)-1, entry{at: at, event: int32(event)})
		}
		return
	}
	switch old := h.order[i].at; {
	case at == old:
	case at == units.Never:
		h.remove(i)
	case at < old:
		h.up(i, entry{at: at, event: int32(event)})
	default:
		h.down(i, entry{at: at, event: int32(event)})
	}
}

func (h *heap) remove(i int) {
	e, last := h.order[i], h.order[len(h.order)-1]
	h.order = h.order[:len(h.order)-1]
	h.place[e.event] = -1
	if e.event == last.event {
		return
	}
	if last.before(e) {
		h.up(i, last)
	} else {
		h.down(i, last)
	}
}

// up puts e where i is, or nearer to the root.
func (h *heap) up(i int, e entry) {
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(h.order[parent]) {
			break
		}
		h.order[i] = h.order[parent]
		h.place[h.order[i].event] = int32(i)
		i = parent
	}
	h.order[i], h.place[e.event] = e, int32(i)
}

// down puts e where i is, or farther from the root.
func (h *heap) down(i int, e entry) {
	for {
		best, first := e, 4*i+1
		at := i
		for c := first; c < min(first+4, len(h.order)); c++ {
			if h.order[c].before(best) {
				best, at = h.order[c], c
			}
		}
		if at == i {
			break
		}
		h.order[i], h.place[best.event] = best, int32(i)
		i = at
	}
	h.order[i], h.place[e.event] = e, int32(i)
}
