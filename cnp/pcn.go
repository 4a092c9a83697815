package cnp

import (
	"fmt"

	"photon/units"
	"photon/wire"
)

// Phase says where a flow's CNP periods begin. The paper does not.
type Phase uint8

// Phases.
const (
	// Tick: all flows of a host share periods that begin at multiples of T of its clock.
	// A flow's first period is then a part of T, but its bytes are divided by
	// the whole, so that the first RecRate is too low, once.
	Tick Phase = iota
	// FirstPacket: a flow's periods begin with its first frame, or its first
	// after a period of silence.
	FirstPacket
)

// PCNParams are the notification point of PCN (NSDI'20 section 5.2).
type PCNParams struct {
	Period  units.Time // T, between two CNPs of a flow; the largest RTT of the network is recommended
	Percent int        // of a period's frames that must be marked for the flow to count as congested; 95
	Phase   Phase
	Clock   units.Time // of the host, by which Tick goes, is so much ahead
}

// Validate says what is wrong with the parameters, in one line.
func (p PCNParams) Validate() error {
	switch {
	case p.Period <= 0:
		return fmt.Errorf("period %v must be positive", p.Period)
	case p.Percent < 1 || p.Percent > 100:
		return fmt.Errorf("percent %d must be from 1 to 100", p.Percent)
	case p.Clock < 0:
		return fmt.Errorf("a clock that is %v ahead", p.Clock)
	}
	return nil
}

// PCN notifies every sender once per period of how fast its flow is received and
// whether it is congested (NSDI'20 figure 8). A period in which nothing of a
// flow arrived has no CNP.
//
// Periods end in the order in which they began, T being the same for all flows,
// so one queue of flows holds all timers. A flow leaves it after a period in
// which nothing arrived. Whoever polls late delays flows whose periods ended meanwhile by as much again, behind those
// that began meanwhile.
type PCN struct {
	params PCNParams
	flows  []pcnFlow
	busy   fifo // flows with a period to report, by its end
}

type pcnFlow struct {
	end     units.Time // of the current period
	last    units.Time // arrival of the last frame of an earlier period; 0: none
	latest  units.Time // arrival of the last frame
	report  units.Time // end of the period for which the flow stands in busy
	bytes   int
	frames  int
	marked  int
	pending bool // notice is of a period that ended, and was not polled yet
	notice  Notice
}

var _ Elastic = (*PCN)(nil)

// NewPCN returns a notification point for capacity flows.
func NewPCN(p PCNParams, capacity int) *PCN {
	n := &PCN{params: p, busy: newFIFO()}
	n.Room(capacity)
	return n
}

// Room implements Elastic.
func (p *PCN) Room(flows int) {
	p.flows = append(p.flows, make([]pcnFlow, flows-len(p.flows))...)
	p.busy.room(flows)
}

// Quiet implements Elastic: the flow's last period was reported.
func (p *PCN) Quiet(flow int) bool { return !p.busy.in[flow] }

// Data counts a frame into its flow's period.
func (p *PCN) Data(now units.Time, flow int, ecn uint8, bytes int) {
	f := &p.flows[flow]
	if now >= f.end {
		busy := f.frames > 0
		if busy { // the period ended, but Poll has not come yet
			f.notice, f.pending = p.close(f), true
		}
		f.end = p.endOf(f.end, busy, now)
	}
	f.latest = now
	f.bytes += bytes
	f.frames++
	if ecn == wire.CE {
		f.marked++
	}
	p.enqueue(flow)
}

// endOf returns when the period ends that holds now; the one before ended at
// last and something arrived in it if busy.
func (p *PCN) endOf(last units.Time, busy bool, now units.Time) units.Time {
	switch {
	case p.params.Phase == Tick:
		return now - (now+p.params.Clock)%p.params.Period + p.params.Period
	case busy && now < last+p.params.Period: // the periods of a busy flow follow each other
		return last + p.params.Period
	default:
		return now + p.params.Period
	}
}

// enqueue makes Poll look at a flow when its period ends.
func (p *PCN) enqueue(flow int) {
	if !p.busy.in[flow] {
		p.flows[flow].report = p.flows[flow].end
		p.busy.push(flow)
	}
}

// close evaluates the counters of a period that ended and clears them.
func (p *PCN) close(f *pcnFlow) Notice {
	n := Notice{ECN: wire.NotECT}
	if f.marked*100 >= f.frames*p.params.Percent {
		n.ECN = wire.CE
	}
	// A flow so slow that a period sees a single frame is measured by the gap
	// before that frame, if the gap is longer than T.
	span := p.params.Period
	if f.frames == 1 && f.last > 0 && f.latest-f.last > span {
		span = f.latest - f.last
	}
	// To the nearest, since truncation would cost a flow of 10 Mbit/s up to a
	// tenth; and never zero, which would stop it for good.
	n.Word = uint32(max(1, min((units.RateOf(units.Size(f.bytes), span)+units.Mbps/2)/units.Mbps, 1<<32-1)))
	f.last = f.latest
	f.bytes, f.frames, f.marked = 0, 0, 0
	return n
}

// Next is the end of the oldest period that has not been reported.
func (p *PCN) Next() units.Time {
	if p.busy.head == none {
		return units.Never
	}
	return p.flows[p.busy.head].report
}

// Poll returns the notices of periods that ended by now, oldest first. Of a
// flow whose notices were not polled for several periods, the last counts.
func (p *PCN) Poll(now units.Time) (int, Notice, bool) {
	for p.busy.head != none && p.flows[p.busy.head].report <= now {
		flow := p.busy.pop()
		f := &p.flows[flow]
		ok := f.pending
		n := f.notice
		if f.frames > 0 && f.end <= now {
			n, ok = p.close(f), true
			if p.params.Phase == FirstPacket {
				f.end = p.endOf(f.end, true, now)
			}
		}
		f.pending = false
		if f.end > now { // a period has begun: with a frame, or right after the one that ended
			p.enqueue(flow)
		}
		if ok {
			return flow, n, true
		}
	}
	return 0, Notice{}, false
}

// Forget drops a flow's counters, and its place in the queue: the slot's next flow has periods of its own.
func (p *PCN) Forget(flow int) {
	p.busy.remove(flow)
	p.flows[flow] = pcnFlow{}
}

// Rebase implements units.Rebaser. Periods that all flows share go by the host's clock, which goes on.
func (p *PCN) Rebase(by units.Time) {
	p.params.Clock = (p.params.Clock%p.params.Period + by%p.params.Period) % p.params.Period
	for i := range p.flows {
		f := &p.flows[i]
		f.end.Rebase(by)
		f.latest.Rebase(by)
		f.report.Rebase(by)
		if f.last > 0 { // it stays an arrival
			f.last = max(f.last.Back(by), 1)
		}
	}
}
