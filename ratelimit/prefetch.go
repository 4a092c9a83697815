package ratelimit

import (
	"unsafe"

	"photon/internal/memory"
)

const (
	// prefetchFrom is how many flows a wheel has at least for which prefetching is worth it: the timers of fewer
	// stay in the nearest cache.
	prefetchFrom = 1024
	// prefetchDistance is how many flows before its turn a timer is prefetched.
	prefetchDistance = 8
	// warmBurst is how many flows Warm gets at once. It is no more than a core has requests for memory under
	// way, 24 lines on recent ones; it drops others.
	warmBurst = 4
)

// prefetch is what a large wheel needs to ask for memory before it gets there.
type prefetch struct {
	hints []hints // by slot; nil: this wheel is not large

	// Warm is called with flows whose timers will expire within the lowest level's turn (16.8 us), so that the
	// memory that their next packet needs can be prefetched: with at most warmBurst flows at once, and with none
	// behind the last of a slot. It may miss some. nil: it is not called.
	Warm func(flows []int32)
	warm [warmBurst]int32
}

// hints are the flows that came into a slot first, to be prefetched before the walk through it, and those that
// came last. Each of the latter gets, in its timer's hint, the flow that comes prefetchDistance places later. Flows
// may have left the slot since: hints say what to fetch and nothing else.
type hints struct {
	first, last [prefetchDistance]int32
	n           uint32
}

// hint notes that a flow was put last into a slot, and whether it is alone there.
func (w *Wheel[T]) hint(slot, flow int32, alone bool) {
	h := &w.hints[slot]
	if alone {
		h.n = 0
	}
	i := h.n % prefetchDistance
	if h.n < prefetchDistance {
		h.first[i] = flow
	} else {
		w.entries[h.last[i]].hint = flow
	}
	h.last[i] = flow
	h.n++
}

// prefetchFirst asks for the timers with which a walk through a slot begins.
func (w *Wheel[T]) prefetchFirst(slot int32) {
	h := &w.hints[slot]
	for _, f := range h.first[:min(h.n, prefetchDistance)] {
		w.prefetchTimer(f)
	}
}

func (w *Wheel[T]) prefetchTimer(flow int32) {
	memory.Prefetch(unsafe.Pointer(&w.entries[flow].timer), 1)
}
