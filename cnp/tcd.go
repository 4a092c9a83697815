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
// (SIGCOMM'21; the authors' simulator). The two are kept apart on the way.
type TCD struct {
	params DCQCNParams
	flows  []tcdFlow
	due    fifo // flows with marks to tell, by when they may
}

type tcdFlow struct {
	last units.Time // when the last CNP went
	at   units.Time // when the next may go
	seen uint8      // CE and UE since
}

const (
	seenCE uint8 = 1 << iota
	seenUE
)

var _ NP = (*TCD)(nil)

// NewTCD returns a notification point for capacity flows.
func NewTCD(p DCQCNParams, capacity int) *TCD {
	t := &TCD{params: p, due: newFIFO()}
	t.Room(capacity)
	return t
}

// Room implements Elastic.
func (t *TCD) Room(flows int) {
	for len(t.flows) < flows {
		t.flows = append(t.flows, tcdFlow{last: -units.Never})
	}
	t.due.room(flows)
}

// Quiet implements Elastic.
func (t *TCD) Quiet(flow int) bool { return !t.due.in[flow] }

// Data notes the frame's mark. The first since the last CNP is told when the
// interval since that one has passed, together with what comes until then.
func (t *TCD) Data(now units.Time, flow int, ecn uint8, _ int) {
	f := &t.flows[flow]
	switch ecn {
	case wire.CE:
		f.seen |= seenCE
	case TCDUndetermined:
		f.seen |= seenUE
	default:
		return
	}
	if !t.due.in[flow] {
		f.at = max(now, f.last+t.params.Interval)
		t.due.push(flow)
	}
}

// Next is when the first CNP may go. Flows stand in the order of their first
// marks; one whose interval ends earlier than that of the flow before it waits
// for that, at most an interval.
func (t *TCD) Next() units.Time {
	if t.due.head == none {
		return units.Never
	}
	return t.flows[t.due.head].at
}

// Poll returns the CNPs that may go by now.
func (t *TCD) Poll(now units.Time) (int, Notice, bool) {
	for t.due.head != none && t.flows[t.due.head].at <= now {
		flow := t.due.pop()
		f := &t.flows[flow]
		if f.seen == 0 { // forgotten
			continue
		}
		n := Notice{ECN: TCDUndetermined}
		if f.seen&seenCE != 0 {
			n.ECN = wire.CE
		}
		f.seen, f.last = 0, now
		return flow, n, true
	}
	return 0, Notice{}, false
}

// Forget drops a flow's marks.
func (t *TCD) Forget(flow int) { t.flows[flow] = tcdFlow{last: -units.Never, at: t.flows[flow].at} }
