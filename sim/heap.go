package sim

import "photon/units"

// heap is a 4-ary heap of a fixed set of events, each with a time that can be
// changed. An event whose time is units.Never rests outside. Equal times are
// ordered by the event's number.
type heap struct {
	at    []units.Time
	order []int32 // the heap: numbers of events
	place []int32 // where an event is in order; -1: outside
}

func newHeap(events int) *heap {
	h := &heap{at: make([]units.Time, events), place: make([]int32, events), order: make([]int32, 0, events)}
	for i := range h.at {
		h.at[i], h.place[i] = units.Never, -1
	}
	return h
}

func (h *heap) before(a, b int32) bool {
	return h.at[a] < h.at[b] || h.at[a] == h.at[b] && a < b
}

// first returns the earliest event; its time is units.Never if there is none.
func (h *heap) first() (event int, at units.Time) {
	if len(h.order) == 0 {
		return 0, units.Never
	}
	return int(h.order[0]), h.at[h.order[0]]
}

// set changes an event's time.
func (h *heap) set(event int, at units.Time) {
	e := int32(event)
	old := h.at[e]
	if at == old {
		return
	}
	h.at[e] = at
	switch i := h.place[e]; {
	case i < 0:
		h.place[e] = int32(len(h.order))
		h.order = append(h.order, e)
		h.up(len(h.order) - 1)
	case at == units.Never:
		h.remove(int(i))
	case at < old:
		h.up(int(i))
	default:
		h.down(int(i))
	}
}

func (h *heap) remove(i int) {
	e, last := h.order[i], h.order[len(h.order)-1]
	h.order = h.order[:len(h.order)-1]
	h.place[e] = -1
	if e == last {
		return
	}
	h.order[i], h.place[last] = last, int32(i)
	h.up(i)
	h.down(int(h.place[last]))
}

func (h *heap) up(i int) {
	e := h.order[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !h.before(e, h.order[parent]) {
			break
		}
		h.order[i] = h.order[parent]
		h.place[h.order[i]] = int32(i)
		i = parent
	}
	h.order[i], h.place[e] = e, int32(i)
}

func (h *heap) down(i int) {
	e := h.order[i]
	for {
		best, first := e, 4*i+1
		at := i
		for c := first; c < min(first+4, len(h.order)); c++ {
			if h.before(h.order[c], best) {
				best, at = h.order[c], c
			}
		}
		if at == i {
			break
		}
		h.order[i], h.place[best] = best, int32(i)
		i = at
	}
	h.order[i], h.place[e] = e, int32(i)
}
