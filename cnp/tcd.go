package cnp

import (
	"photon/units"
	"photon/wire"
)

// TCDUndetermined is the ECN codepoint that TCD's switches write into frames
// which passed a port in an ON-OFF pattern (UE). Data leaves the host with ECT(1)
// so that it is free for this.
const TCDUndetermined = wire.ECT0

// TCD gathers the marks of an interval and sends one CNP for it that tells the
// worst: CE if any frame met congestion, UE if some met undetermined ports only
// (SIGCOMM'21; the authors' simulator). The two are kept apart on the way. A flow's
// intervals are those of DCQCNTicks: they begin with its first frame.
type TCD struct {
	ticks DCQCNTicks
	ce    []bool // by flow: a frame with CE came since its last CNP
}

var _ Elastic = (*TCD)(nil)

// NewTCD returns a notification point for capacity flows. The interval must be
// positive.
func NewTCD(p DCQCNParams, capacity int) *TCD {
	t := &TCD{ticks: *NewDCQCNTicks(p, 0)}
	t.Room(capacity)
	return t
}

// Room implements Elastic.
func (t *TCD) Room(flows int) {
	t.ticks.Room(flows)
	t.ce = append(t.ce, make([]bool, flows-len(t.ce))...)
}

// Quiet implements Elastic.
func (t *TCD) Quiet(flow int) bool { return t.ticks.Quiet(flow) }

// Data notes the frame's mark, which the CNP at the flow's next tick carries, together with later ones.
func (t *TCD) Data(now units.Time, flow int, ecn uint8, nbytes int) {
	switch ecn {
	case wire.CE:
		t.ce[flow] = true
	case TCDUndetermined:
		ecn = wire.CE // to a clock any mark is one
	default:
		ecn = wire.NotECT
	}
	t.ticks.Data(now, flow, ecn, nbytes)
}

// Next is the tick of the first CNP to come.
func (t *TCD) Next() units.Time { return t.ticks.Next() }

// Poll returns the CNPs whose tick has come, in the order of their ticks.
func (t *TCD) Poll(now units.Time) (int, Notice, bool) {
	flow, _, ok := t.ticks.Poll(now)
	if !ok {
		return 0, Notice{}, false
	}
	n := Notice{ECN: TCDUndetermined}
	if t.ce[flow] {
		n.ECN = wire.CE
	}
	t.ce[flow] = false
	return flow, n, true
}

// Forget drops a flow's marks, and lets the slot's next flow begin a clock of its own.
func (t *TCD) Forget(flow int) {
	t.ticks.Forget(flow)
	t.ce[flow] = false
}

// Rebase implements units.Rebaser.
func (t *TCD) Rebase(by units.Time) { t.ticks.Rebase(by) }
