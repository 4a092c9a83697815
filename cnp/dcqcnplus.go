package cnp

import (
	"fmt"

	"photon/units"
	"photon/wire"
)

// DCQCNPlusParams are the notification point of DCQCN+ (ICNP'18 section IV.B.2).
type DCQCNPlusParams struct {
	Gap      units.Time // delta, between two CNPs of the card, whatever their flows; 1 us for a ConnectX-4
	Interval units.Time // between two CNPs of a flow, at least; 45 us
	Silence  units.Time // a flow without a marked frame for so long leaves the list of congested flows
}

// Validate says what is wrong with the parameters, in one line.
func (p DCQCNPlusParams) Validate() error {
	switch {
	case p.Gap <= 0:
		return fmt.Errorf("gap %v must be positive", p.Gap)
	case p.Interval < 0:
		return fmt.Errorf("interval %v must not be negative", p.Interval)
	case p.Silence < p.Interval:
		return fmt.Errorf("silence %v must be at least the interval %v", p.Silence, p.Interval)
	}
	return nil
}

// DCQCNPlus goes round the list of congested flows, one record in every gap, and
// sends a CNP for a flow that saw a mark since its last and had none for an
// interval. The CNP carries the time of a round, list length times gap, in
// nanoseconds: so the sender knows how often it can expect one.
//
// How long a flow stays in the list is not in the paper: here until it has seen
// no mark for Silence.
type DCQCNPlus struct {
	params DCQCNPlusParams
	flows  []plusFlow
	list   fifo // in the order of visits: who was visited goes to the end
	length int
	visit  units.Time // when the next record is looked at
}

type plusFlow struct {
	marked bool       // the ECN bit
	last   units.Time // when the last CNP went
	seen   units.Time // when the last mark came
}

var _ NP = (*DCQCNPlus)(nil)

// NewDCQCNPlus returns a notification point for capacity flows.
func NewDCQCNPlus(p DCQCNPlusParams, capacity int) *DCQCNPlus {
	d := &DCQCNPlus{params: p, list: newFIFO()}
	d.Room(capacity)
	return d
}

// Room implements Elastic.
func (d *DCQCNPlus) Room(flows int) {
	for len(d.flows) < flows {
		d.flows = append(d.flows, plusFlow{last: -units.Never / 2})
	}
	d.list.room(flows)
}

// Quiet implements Elastic: a flow on the list counts in the times of rounds that
// others are told, until it leaves it after Silence.
func (d *DCQCNPlus) Quiet(flow int) bool { return !d.list.in[flow] }

// Data sets the ECN bit of a marked frame's flow and puts it on the list.
func (d *DCQCNPlus) Data(now units.Time, flow int, ecn uint8, _ int) {
	if ecn != wire.CE {
		return
	}
	f := &d.flows[flow]
	f.marked, f.seen = true, now
	if !d.list.in[flow] {
		if d.list.head == none {
			d.visit = max(d.visit, now)
		}
		d.list.push(flow)
		d.length++
	}
}

// Next is when the next record is looked at.
func (d *DCQCNPlus) Next() units.Time {
	if d.list.head == none {
		return units.Never
	}
	return d.visit
}

// Poll looks at the records that are due, until one asks for a CNP.
func (d *DCQCNPlus) Poll(now units.Time) (int, Notice, bool) {
	for d.list.head != none && d.visit <= now {
		at := d.visit
		d.visit += d.params.Gap
		round := units.Time(d.length) * d.params.Gap
		flow := d.list.pop()
		f := &d.flows[flow]
		if at-f.seen > d.params.Silence {
			d.length--
			f.marked = false
			continue
		}
		d.list.push(flow)
		if f.marked && at-f.last >= d.params.Interval {
			f.marked, f.last = false, at
			return flow, Notice{ECN: wire.NotECT, Word: uint32(min(round/units.Nanosecond, 1<<32-1))}, true
		}
	}
	return 0, Notice{}, false
}

// Forget clears a flow's record; it leaves the list at its next visit.
func (d *DCQCNPlus) Forget(flow int) {
	d.flows[flow] = plusFlow{last: -units.Never / 2, seen: -units.Never / 2}
}
