package cnp

import (
	"photon/units"
	"photon/wire"
)

// DCQCNTicks is DCQCN's notification point as the authors' simulator has it: each
// flow has a clock that ticks once per interval, beginning with its first frame, and
// at a tick there is a CNP if a frame was marked since the tick before. DCQCN answers
// the first marked frame at once; here it waits for half an interval on average.
//
// Flows with a CNP to come stand in a heap by its time. The first in it is the next.
type DCQCNTicks struct {
	params DCQCNParams
	flows  []ticking
	heap   []int32 // flows with a CNP to come
}

type ticking struct {
	first units.Time // the clock's beginning; before that of time: no frame yet
	due   units.Time // tick of the CNP to come, or of the last one
	at    int32      // in the heap; none: no CNP to come
}

var _ Elastic = (*DCQCNTicks)(nil)

// NewDCQCNTicks returns a notification point for capacity flows. The interval must
// be positive.
func NewDCQCNTicks(p DCQCNParams, capacity int) *DCQCNTicks {
	d := &DCQCNTicks{params: p}
	d.Room(capacity)
	return d
}

// Room implements Elastic.
func (d *DCQCNTicks) Room(flows int) {
	for len(d.flows) < flows {
		d.flows = append(d.flows, ticking{first: -1, at: none})
	}
	if cap(d.heap) < flows {
		d.heap = append(make([]int32, 0, flows), d.heap...)
	}
}

// Quiet implements Elastic.
func (d *DCQCNTicks) Quiet(flow int) bool { return d.flows[flow].at == none }

// Data makes a CNP due at the flow's next tick if the frame is marked.
func (d *DCQCNTicks) Data(now units.Time, flow int, ecn uint8, _ int) {
	f := &d.flows[flow]
	if f.first < 0 {
		f.first, f.due = now, now-d.params.Interval
	}
	if ecn != wire.CE || f.at != none {
		return
	}
	// The first tick from now on, and one after that of the last CNP.
	ticks := (now - f.first + d.params.Interval - 1) / d.params.Interval
	f.due = max(f.first+ticks*d.params.Interval, f.due+d.params.Interval)
	d.heap = append(d.heap, int32(flow))
	d.up(len(d.heap) - 1)
}

// Next is the tick of the first CNP to come.
func (d *DCQCNTicks) Next() units.Time {
	if len(d.heap) == 0 {
		return units.Never
	}
	return d.flows[d.heap[0]].due
}

// Poll returns the CNPs whose tick has come, in the order of their ticks.
func (d *DCQCNTicks) Poll(now units.Time) (int, Notice, bool) {
	if d.Next() > now {
		return 0, Notice{}, false
	}
	flow := int(d.heap[0])
	d.remove(0)
	return flow, Notice{ECN: wire.NotECT}, true
}

// Forget lets the slot's next flow begin a clock of its own.
func (d *DCQCNTicks) Forget(flow int) {
	if at := d.flows[flow].at; at != none {
		d.remove(int(at))
	}
	d.flows[flow].first = -1
}

// Rebase implements units.Rebaser. A flow's clock may have begun before the world's does now: its ticks are the
// same if it began some whole intervals later.
func (d *DCQCNTicks) Rebase(by units.Time) {
	for i := range d.flows {
		f := &d.flows[i]
		f.due.Rebase(by)
		if f.first < 0 {
			continue
		}
		if f.first -= by; f.first < 0 {
			f.first = (f.first%d.params.Interval + d.params.Interval) % d.params.Interval
		}
	}
}

// sooner orders the heap; at one tick by slot, so that runs repeat.
func (d *DCQCNTicks) sooner(a, b int32) bool {
	x, y := d.flows[a].due, d.flows[b].due
	return x < y || x == y && a < b
}

func (d *DCQCNTicks) put(flow int32, i int) { d.heap[i], d.flows[flow].at = flow, int32(i) }

func (d *DCQCNTicks) up(i int) {
	flow := d.heap[i]
	for ; i > 0 && d.sooner(flow, d.heap[(i-1)/2]); i = (i - 1) / 2 {
		d.put(d.heap[(i-1)/2], i)
	}
	d.put(flow, i)
}

func (d *DCQCNTicks) down(i int) {
	flow, n := d.heap[i], len(d.heap)
	for child := 2*i + 1; child < n; child = 2*i + 1 {
		if child+1 < n && d.sooner(d.heap[child+1], d.heap[child]) {
			child++
		}
		if !d.sooner(d.heap[child], flow) {
			break
		}
		d.put(d.heap[child], i)
		i = child
	}
	d.put(flow, i)
}

// remove takes the i-th of the heap out of it.
func (d *DCQCNTicks) remove(i int) {
	d.flows[d.heap[i]].at = none
	last := len(d.heap) - 1
	moved := d.heap[last]
	if d.heap = d.heap[:last]; i == last {
		return
	}
	d.put(moved, i)
	d.down(i)
	d.up(int(d.flows[moved].at))
}
