package build

import (
	"cmp"
	"container/heap"
	"slices"

	"photon/lab/topology"
	"photon/sim"
	"photon/units"
)

// addLead is how long before its start a flow of a workload becomes known to its
// sender, at most. A host's memory is for the flows that it knows of, so that
// tens of thousands that begin one after the other take no more than those that
// are sent at a time.
const addLead = 100 * units.Microsecond

// mostAhead is how many flows may become known before they start: of more the lead is shorter. Tests set it.
var mostAhead = 200_000.0

// leadOf is the lead if so many flows start within a time.
func leadOf(flows int, within units.Time) units.Time {
	lead := addLead
	for lead > units.Microsecond && float64(flows)*float64(lead) > mostAhead*float64(within) {
		lead /= 10
	}
	return lead
}

// dueFlows are flows that hosts do not know of yet.
type dueFlows struct {
	order     []int32 // in the order of their starts
	next, end int     // else those from next to before end, which start in that order

	number int        // the first of them
	start  units.Time // when it starts
}

// first is the one that starts first; false: there are no more.
func (d *dueFlows) first() (i int, ok bool) {
	if len(d.order) > 0 {
		return int(d.order[0]), true
	}
	return d.next, d.next < d.end
}

// pop takes it away.
func (d *dueFlows) pop() {
	if len(d.order) > 0 {
		d.order = d.order[1:]
	} else {
		d.next++
	}
}

// canWait reports whether the world lets flows be added while it runs.
func (n *Network) canWait() bool {
	_, ok := n.World.(*sim.World)
	return ok && !AddAllAtStart
}

// AddAllAtStart may be set by tests: senders know of all flows from the beginning.
var AddAllAtStart bool

// dueHeap has the flows that are to be added next at its top: there may be thousands of workloads.
type dueHeap []dueFlows

func (h dueHeap) Len() int      { return len(h) }
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(x any)   { *h = append(*h, x.(dueFlows)) }

func (h dueHeap) Less(i, j int) bool {
	return h[i].start < h[j].start || h[i].start == h[j].start && h[i].number < h[j].number
}

func (h *dueHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// look looks up the first of some flows; false: there are no more.
func (n *Network) look(d *dueFlows) (ok bool) {
	if d.number, ok = d.first(); ok {
		d.start = n.Flows.At(d.number).Start
	}
	return ok
}

// popDue takes the flow away that is to be added next.
func (n *Network) popDue() {
	if n.due[0].pop(); n.look(&n.due[0]) {
		heap.Fix(&n.due, 0)
	} else {
		heap.Pop(&n.due)
	}
}

// addWhenDue arranges that flows are added to their senders shortly before they start.
func (n *Network) addWhenDue(lead units.Time) error {
	if len(n.due) == 0 && (n.waits == nil || !n.canWait()) {
		return nil
	}
	n.forgetful = true
	start := func(flow int32) units.Time { return n.Flows.At(int(flow)).Start }
	for k := range n.due {
		slices.SortStableFunc(n.due[k].order, func(a, b int32) int { return cmp.Compare(start(a), start(b)) })
		n.look(&n.due[k]) // each has some
	}
	heap.Init(&n.due)
	add := func(now units.Time) (next units.Time, err error) {
		n.adding = n.adding[:0]
		for next = units.Never; len(n.due) > 0; n.popDue() {
			d := &n.due[0]
			if d.start >= now+lead {
				next = d.start - lead
				break
			}
			n.adding = append(n.adding, int32(d.number))
		}
		return next, n.addAll(now)
	}
	n.World.(*sim.World).EveryBusy(lead, func(now units.Time) (idle units.Time) {
		n.forget()
		next, err := add(now)
		if err != nil {
			panic(err) // there is room for all flows, and each is checked when it is made
		}
		if len(n.over) > 0 {
			return now
		}
		return next
	})
	_, err := add(0)
	return err
}

// addAll adds the flows that are to be added now to their senders.
func (n *Network) addAll(now units.Time) error {
	var failed [flowPortions]error
	sender := func(f *Flow) int { return f.From }
	n.forHosts(n.adding, sender, func(portion int, k int32) {
		if err := n.addFlow(now, int(n.adding[k])); err != nil && failed[portion] == nil {
			failed[portion] = err
		}
	})
	return cmp.Or(failed[:]...)
}

// forget has receivers forget the flows that have ended, so that what they keep is
// for flows that are under way, too. One that has something to say about a flow
// still is asked again.
func (n *Network) forget() {
	n.Collect()
	n.stays = append(n.stays[:0], make([]bool, len(n.over))...)
	receiver := func(f *Flow) int { return f.To }
	n.forHosts(n.over, receiver, func(_ int, k int32) {
		i := int(n.over[k])
		if f := n.Flows.At(i); n.Received(i) == f.Bytes { // else it stays known: what it received is not what was sent
			f.Forgot = n.Hosts[f.To].Forget(topology.IP(f.From), QP(i))
			n.stays[k] = !f.Forgot
		}
	})
	left := n.over[:0]
	for k, i := range n.over {
		switch {
		case n.stays[k]:
			left = append(left, i)
		case n.Flows.At(int(i)).Forgot:
			n.Flows.forgotten(int(i))
		}
	}
	n.over = left
}

// flowPortions is how many portions there are of what is done for many flows: several for each processor, some of which
// are faster than others.
const flowPortions = 16

// fewFlows take less time than others need to notice that there is something to do.
const fewFlows = 64

// forHosts has something done for each of a list of flows, for those of one host in their order. Those of different
// hosts may be done side by side: what is done is the same. do gets the number of a flow in the list.
func (n *Network) forHosts(list []int32, host func(*Flow) int, do func(portion int, k int32)) {
	if len(list) < fewFlows {
		for k := range list {
			do(0, int32(k))
		}
		return
	}
	for i := range n.dealt {
		n.dealt[i] = n.dealt[i][:0]
	}
	for k, i := range list {
		of := &n.dealt[host(n.Flows.At(int(i)))%flowPortions]
		*of = append(*of, int32(k))
	}
	n.World.(*sim.World).SideBySide(flowPortions, func(portion int) {
		for _, k := range n.dealt[portion] {
			do(portion, k)
		}
	})
}

// Forgets reports whether receivers forget flows that have ended.
func (n *Network) Forgets() bool { return n.forgetful }
