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
//
// Most visits find nothing to do. They are not made one by one: it asks to be polled when a visit finds something, and
// goes round the list to there then.
type DCQCNPlus struct {
	params DCQCNPlusParams
	flows  []plusFlow
	list   fifo // in the order of visits: who was visited goes to the end
	length int
	visit  units.Time // of the first record in the list
	turn   int64      // how often the list's first went to its end
	due    units.Time // the first visit that finds something to do, if it is known
	whose  int        // visit that is
	known  bool
}

type plusFlow struct {
	marked bool       // the ECN bit
	last   units.Time // when the last CNP went
	seen   units.Time // when the last mark came
	turn   int64      // at which it is the list's first
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
	switch {
	case !d.list.in[flow]:
		if d.list.head == none {
			d.visit = max(d.visit, now)
		}
		d.goRound(min(d.Next(), now))
		f.marked, f.seen = true, now
		d.push(flow)
		d.length++
		d.known = false
	case !f.marked:
		d.goRound(min(d.Next(), now))
		f.marked, f.seen = true, now
		if flow == d.whose {
			d.known = false // it was its silence that was to end
		} else if due := d.dueOf(flow); due < d.due {
			d.due, d.whose = due, flow
		}
	default:
		if flow == d.whose && d.due-f.seen > d.params.Silence {
			d.known = false
		}
		f.seen = now
	}
}

// push puts a flow at the list's end.
func (d *DCQCNPlus) push(flow int) {
	if d.list.head == none {
		d.turn++
		d.flows[flow].turn = d.turn
	} else {
		d.flows[flow].turn = d.flows[d.list.tail].turn + 1
	}
	d.list.push(flow)
}

// pop takes the list's first.
func (d *DCQCNPlus) pop() int {
	flow := d.list.pop()
	d.turn = d.flows[flow].turn + 1
	return flow
}

// goRound makes the visits before an instant, none of which finds anything to do. A whole round leaves the list as it is.
func (d *DCQCNPlus) goRound(before units.Time) {
	if d.list.head == none || d.visit >= before {
		return
	}
	visits := (before - d.visit + d.params.Gap - 1) / d.params.Gap
	d.visit += visits * d.params.Gap
	for range visits % units.Time(d.length) {
		d.push(d.pop())
	}
}

// dueOf is the first visit of a flow in the list that finds something to do, if the list stays as long as it is.
func (d *DCQCNPlus) dueOf(flow int) units.Time {
	f := &d.flows[flow]
	first := d.visit + units.Time(f.turn-d.flows[d.list.head].turn)*d.params.Gap
	at := f.seen + d.params.Silence + 1
	if f.marked {
		at = min(at, f.last+d.params.Interval)
	}
	if at <= first {
		return first
	}
	round := units.Time(d.length) * d.params.Gap
	return first + (at-first+round-1)/round*round
}

// Next is the first visit that finds something to do.
func (d *DCQCNPlus) Next() units.Time {
	if d.list.head == none {
		return units.Never
	}
	if !d.known {
		d.due, d.known = units.Never, true
		first := d.visit
		for flow := d.list.head; flow != none && first < d.due; flow = d.list.next[flow] {
			if due := d.dueOf(int(flow)); due < d.due {
				d.due, d.whose = due, int(flow)
			}
			first += d.params.Gap
		}
	}
	return d.due
}

// Poll makes the visits that are due, until one asks for a CNP.
func (d *DCQCNPlus) Poll(now units.Time) (int, Notice, bool) {
	for at := d.Next(); at <= now; at = d.Next() {
		d.goRound(at)
		d.visit += d.params.Gap
		d.known = false
		round := units.Time(d.length) * d.params.Gap
		flow := d.pop()
		f := &d.flows[flow]
		if at-f.seen > d.params.Silence {
			d.length--
			f.marked = false
			continue
		}
		d.push(flow)
		f.marked, f.last = false, at
		return flow, Notice{ECN: wire.NotECT, Word: uint32(min(round/units.Nanosecond, 1<<32-1))}, true
	}
	d.goRound(now + 1)
	return 0, Notice{}, false
}

// Forget clears a flow's record; it leaves the list at its next visit.
func (d *DCQCNPlus) Forget(flow int) {
	f := &d.flows[flow]
	f.marked, f.last, f.seen = false, -units.Never/2, -units.Never/2
	d.known = d.known && !d.list.in[flow]
}
