package agent

import "photon/flowtable"

// finished are received flows that were whole, and gave their places to others when there was none left. A late packet
// of one, whose acknowledgement was lost, must not begin the flow again: it finds the flow as it was. The flow that has
// been here longest is forgotten for the next.
type finished struct {
	flows []finishedFlow // a ring
	next  int            // place of the next
	table *flowtable.Table[peerKey]
	at    []int32 // place of a flow, by slot of the table
}

// finishedFlow is what tells late packets of a flow from those of the next on its pair.
type finishedFlow struct {
	key             peerKey
	start, expected uint32 // see responder
	retired         retired
}

func newFinished(n int) finished {
	return finished{flows: make([]finishedFlow, n), table: flowtable.New(n, hashKey), at: make([]int32, n)}
}

// room reports whether any flow can be here.
func (f *finished) room() bool { return len(f.flows) > 0 }

// add notes a flow that gives up its place.
func (f *finished) add(k peerKey, r *responder, old retired) {
	last := &f.flows[f.next]
	if slot := f.table.Lookup(last.key); slot != flowtable.None && f.at[slot] == int32(f.next) {
		f.table.Delete(slot)
	}
	*last = finishedFlow{k, r.start, r.expected, old}
	slot, _ := f.table.Insert(k, 0) // if it has been here before, it is at the new place from now on
	f.at[slot] = int32(f.next)
	if f.next++; f.next == len(f.flows) {
		f.next = 0
	}
}

// find returns a flow, or nil.
func (f *finished) find(k peerKey) *finishedFlow {
	slot := f.table.Lookup(k)
	if slot == flowtable.None {
		return nil
	}
	return &f.flows[f.at[slot]]
}

// recall gives a flow that gets a place what is known of it if it was finished before.
func (h *Host) recall(slot int, k peerKey) {
	if !h.finished.room() {
		return
	}
	if f := h.finished.find(k); f != nil {
		h.peers[slot].responder = responder{start: f.start, expected: f.expected, epoch: wholeEpoch}
		h.origins[slot].retired = f.retired
		if h.selective {
			h.ahead[slot].open = false
		}
	}
}
