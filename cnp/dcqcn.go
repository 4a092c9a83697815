package cnp

import (
	"fmt"

	"photon/units"
	"photon/wire"
)

// DCQCNParams are the notification point of DCQCN (SIGCOMM'15 section 3.2).
type DCQCNParams struct {
	Interval units.Time // between two CNPs of a flow, N; 50 us in the paper
}

// Validate says what is wrong with the parameters, in one line.
func (p DCQCNParams) Validate() error {
	if p.Interval < 0 {
		return fmt.Errorf("interval %v must not be negative", p.Interval)
	}
	return nil
}

// DCQCN answers a frame that was marked CE with a CNP, unless one went to the
// same sender less than an interval ago.
type DCQCN struct {
	params DCQCNParams
	last   []units.Time // when the last CNP of a flow was decided; before the beginning: never
	due    fifo
}

var _ Elastic = (*DCQCN)(nil)

// NewDCQCN returns a notification point for capacity flows.
func NewDCQCN(p DCQCNParams, capacity int) *DCQCN {
	d := &DCQCN{params: p, due: newFIFO()}
	d.Room(capacity)
	return d
}

// Room implements Elastic.
func (d *DCQCN) Room(flows int) {
	for len(d.last) < flows {
		d.last = append(d.last, -units.Never)
	}
	d.due.room(flows)
}

// Quiet implements Elastic.
func (d *DCQCN) Quiet(flow int) bool { return !d.due.in[flow] }

// Data makes a CNP due if the frame is marked and the last CNP is old enough.
func (d *DCQCN) Data(now units.Time, flow int, ecn uint8, _ int) {
	if ecn != wire.CE || now < d.last[flow]+d.params.Interval {
		return
	}
	d.last[flow] = now
	d.due.push(flow)
}

// Next is at once if a CNP is due.
func (d *DCQCN) Next() units.Time {
	if d.due.head == none {
		return units.Never
	}
	return 0
}

// Poll returns the CNPs in the order in which they became due.
func (d *DCQCN) Poll(units.Time) (int, Notice, bool) {
	if d.due.head == none {
		return 0, Notice{}, false
	}
	return d.due.pop(), Notice{ECN: wire.NotECT}, true
}

// Forget lets the slot's next flow notify at once, and drops a CNP that is due: it would go to that flow's sender.
func (d *DCQCN) Forget(flow int) {
	d.last[flow] = -units.Never
	d.due.remove(flow)
}

// Rebase implements units.Rebaser.
func (d *DCQCN) Rebase(by units.Time) { units.RebaseAll(d.last, by) }
