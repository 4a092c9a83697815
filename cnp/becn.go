package cnp

import (
	"photon/units"
	"photon/wire"
)

// BECN is the notification point of an InfiniBand channel adapter that has no acknowledgement to return the mark
// with: it answers each marked frame with a congestion notification packet (annex A10.3). While a flow's packet
// waits to be sent, it also reports later marks. Behind TCD's switches it reports which mark it was, the worst if there
// were several.
type BECN struct {
	ternary bool
	due     fifo
	ce      []bool // by flow: a frame with CE is among those to be reported
}

var _ Elastic = (*BECN)(nil)

// NewBECN returns a notification point for capacity flows, with ternary for TCD's marks.
func NewBECN(ternary bool, capacity int) *BECN {
	b := &BECN{ternary: ternary, due: newFIFO()}
	b.Room(capacity)
	return b
}

// Room implements Elastic.
func (b *BECN) Room(flows int) {
	b.due.room(flows)
	b.ce = append(b.ce, make([]bool, flows-len(b.ce))...)
}

// Quiet implements Elastic.
func (b *BECN) Quiet(flow int) bool { return !b.due.in[flow] }

// Data makes a packet due if the frame is marked.
func (b *BECN) Data(_ units.Time, flow int, ecn uint8, _ int) {
	if ecn == wire.CE || b.ternary && ecn == TCDUndetermined {
		b.ce[flow] = b.ce[flow] || ecn == wire.CE
		b.due.push(flow)
	}
}

// Next is at once if a packet is due.
func (b *BECN) Next() units.Time {
	if b.due.head == none {
		return units.Never
	}
	return 0
}

// Poll returns the packets in the order in which they became due.
func (b *BECN) Poll(units.Time) (int, Notice, bool) {
	if b.due.head == none {
		return 0, Notice{}, false
	}
	flow, n := b.due.pop(), Notice{ECN: wire.NotECT}
	if b.ternary {
		n.ECN = TCDUndetermined
		if b.ce[flow] {
			n.ECN = wire.CE
		}
	}
	b.ce[flow] = false
	return flow, n, true
}

// Forget drops a packet that is due: it would go to the sender of the slot's next flow.
func (b *BECN) Forget(flow int) {
	b.ce[flow] = false
	b.due.remove(flow)
}
