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

// shortestGap leaves time for the visits of records, of which there is one in every gap.
const shortestGap = 100 * units.Nanosecond

// Validate says what is wrong with the parameters, in one line.
func (p DCQCNPlusParams) Validate() error {
	switch {
	case p.Gap < shortestGap:
		return fmt.Errorf("gap %v must be at least %v", p.Gap, shortestGap)
	case p.Interval < 0:
		return fmt.Errorf("interval %v must not be negative", p.Interval)
	case p.Silence < p.Interval:
		return fmt.Errorf("silence %v must be at least the interval %v", p.Silence, p.Interval)
	}
	return nil
}

// DCQCNPlus visits the list of congested flows in turn, one record per gap, and
// sends a CNP for a flow that had a mark since its last CNP, which is at least an
// interval ago. The CNP carries the time of a round, list length times gap, in
// nanoseconds: so the sender knows how often it can expect one.
//
// The paper does not say how long a flow stays in the list: here until it had no
// mark for Silence. While no flow of the list is marked, records are not visited one by
// one: the position in the round is computed when it is needed.
type DCQCNPlus struct {
	params DCQCNPlusParams
	flows  []plusFlow
	list   fifo // in the order of visits: a visited record goes to the end
	length int
	marked int        // how many flows of the list are
	visit  units.Time // when the next record is looked at
	leave  units.Time // before this visit none is silent for long enough to leave
	since  int        // records that were looked at since then and stayed
}

type plusFlow struct {
	marked   bool       // the ECN bit
	last     units.Time // when the last CNP went
	lastMark units.Time // when the last mark came
}

var _ Elastic = (*DCQCNPlus)(nil)

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

// Quiet implements Elastic: a flow on the list lengthens the rounds that CNPs of others carry,
// until it leaves it after Silence.
func (d *DCQCNPlus) Quiet(flow int) bool { return !d.list.in[flow] }

// Data sets the ECN bit of a marked frame's flow and puts it on the list.
func (d *DCQCNPlus) Data(now units.Time, flow int, ecn uint8, _ int) {
	if ecn != wire.CE {
		return
	}
	d.skip(now)
	f := &d.flows[flow]
	if f.lastMark = now; !f.marked {
		f.marked = true
		d.marked++
	}
	if !d.list.in[flow] {
		if d.list.head == none {
			d.visit, d.leave, d.since = max(d.visit, now), now+d.params.Silence, 0
		}
		d.list.push(flow)
		d.length++
	}
}

// skip does the visits before a time while no flow is marked: none of them causes a CNP.
func (d *DCQCNPlus) skip(before units.Time) {
	for d.marked == 0 && d.list.head != none && d.visit < before {
		if until := min(before, d.leave); d.visit < until {
			visits := (until - d.visit + d.params.Gap - 1) / d.params.Gap
			d.visit += visits * d.params.Gap
			for range visits % units.Time(d.length) {
				d.list.push(d.list.pop())
			}
			continue
		}
		d.visitNext()
	}
}

// visitNext is one visit: the record leaves the list, and is not marked then, or goes to its end.
func (d *DCQCNPlus) visitNext() (flow int) {
	at := d.visit
	d.visit += d.params.Gap
	flow = d.list.pop()
	f := &d.flows[flow]
	if at-f.lastMark > d.params.Silence {
		d.length--
		d.unmark(f)
		return flow
	}
	d.list.push(flow)
	if at >= d.leave {
		if d.since++; d.since >= d.length { // all that were silent have left
			d.leave, d.since = units.Never, 0
			for k := d.list.head; k != none; k = d.list.next[k] {
				d.leave = min(d.leave, d.flows[k].lastMark+d.params.Silence)
			}
		}
	}
	return flow
}

func (d *DCQCNPlus) unmark(f *plusFlow) {
	if f.marked {
		f.marked = false
		d.marked--
	}
}

// Next is when a record is visited whose flow may get a CNP or leave the list.
func (d *DCQCNPlus) Next() units.Time {
	switch {
	case d.list.head == none:
		return units.Never
	case d.marked > 0 || d.visit >= d.leave:
		return d.visit
	}
	return d.visit + (d.leave-d.visit+d.params.Gap-1)/d.params.Gap*d.params.Gap
}

// Poll looks at the records that are due, until one asks for a CNP.
func (d *DCQCNPlus) Poll(now units.Time) (int, Notice, bool) {
	for {
		d.skip(now + 1)
		if d.list.head == none || d.visit > now {
			return 0, Notice{}, false
		}
		at, round := d.visit, units.Time(d.length)*d.params.Gap
		flow := d.visitNext()
		if f := &d.flows[flow]; f.marked && at-f.last >= d.params.Interval {
			d.unmark(f)
			f.last = at
			return flow, Notice{ECN: wire.NotECT, Word: uint32(min(round/units.Nanosecond, 1<<32-1))}, true
		}
	}
}

// Forget clears a flow's record; it leaves the list at its next visit.
func (d *DCQCNPlus) Forget(flow int) {
	if d.list.in[flow] {
		d.leave, d.since = 0, 0
	}
	d.unmark(&d.flows[flow])
	d.flows[flow] = plusFlow{last: -units.Never / 2, lastMark: -units.Never / 2}
}

// Rebase implements units.Rebaser.
func (d *DCQCNPlus) Rebase(by units.Time) {
	d.visit.Rebase(by)
	d.leave.Rebase(by)
	for i := range d.flows {
		d.flows[i].last.Rebase(by)
		d.flows[i].lastMark.Rebase(by)
	}
}
