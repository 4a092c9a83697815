package marking

import (
	"fmt"

	"photon/units"
	"photon/wire"
)

// TCDParams are the congestion point of TCD (SIGCOMM'21) as its authors'
// simulator has it.
type TCDParams struct {
	REDParams
	Interval units.Time // max(Ton): a port that was resumed longer ago is not in an ON-OFF pattern
}

// Validate says what is wrong with the parameters, in one line.
func (p TCDParams) Validate() error {
	if err := CheckInterval(p.Interval); err != nil {
		return err
	}
	return p.REDParams.Validate()
}

// CheckInterval says what is wrong with max(Ton), in one line.
func CheckInterval(t units.Time) error {
	if t <= 0 {
		return fmt.Errorf("interval %v must be positive", t)
	}
	return nil
}

// TCDState is the ternary state of a port.
type TCDState uint8

// States; trend is on the way from undetermined to one of the others.
const (
	TCDNone TCDState = iota
	TCDCongestion
	TCDUndetermined
	tcdTrend
)

// TCD tells three states of a port apart. While it was resumed recently, it is
// in an ON-OFF pattern and undetermined: what it sends is marked UE, since its
// queue says nothing about its real input. When the pattern ends, a queue that
// does not fall is congestion; one that falls is watched until it has gone, or
// stops falling. Congestion is marked as another congestion point does, DCQCN's or InfiniBand's.
//
// What stops the port is not for it to know: Resume comes when a pause of PFC is over, and when a lane that waited
// for credits has some.
type TCD struct {
	interval units.Time
	within   CP // judges frames of a port that is in no ON-OFF pattern
	state    TCDState
	resumed  units.Time // last resume
	qResumed units.Size // queue then
	recorded units.Time // last look at a falling queue
	qRecord  units.Size // queue then
}

var _ CP = (*TCD)(nil)

// NewTCD returns a congestion point that draws from its own sequence, given by seed.
func NewTCD(p TCDParams, seed uint64) *TCD {
	return NewTCDOver(p.Interval, NewRED(p.REDParams, seed))
}

// NewTCDOver returns one that marks congestion as another congestion point does, with max(Ton).
func NewTCDOver(interval units.Time, within CP) *TCD {
	return &TCD{interval: interval, within: within, resumed: -units.Never / 2}
}

// State is the port's state after the last frame, for those who watch.
func (t *TCD) State() TCDState { return t.state }

// StateAt is the port's state at a time, for those who watch: undetermined during an ON-OFF pattern, whether a frame
// leaves or not; none on the way from there to one of the others, and when the pattern is over and nothing has left
// since.
func (t *TCD) StateAt(now units.Time) TCDState {
	switch {
	case now-t.resumed <= t.interval:
		return TCDUndetermined
	case t.state == TCDCongestion:
		return TCDCongestion
	}
	return TCDNone
}

// Dequeue goes through the state machine and marks.
func (t *TCD) Dequeue(now units.Time, q Queue, p *Packet) Mark {
	past := now-t.resumed > t.interval
	frame := units.Size(p.Size)
	switch {
	case !past:
		t.state = TCDUndetermined
		if p.ECN() == wire.CE {
			return Unchanged
		}
		return Undetermined
	case t.state == TCDUndetermined && q.Bytes >= t.qResumed:
		t.state = TCDCongestion
		return t.within.Dequeue(now, q, p)
	case t.state == TCDUndetermined:
		t.state = tcdTrend
		t.recorded, t.qRecord = now, q.Bytes
		return Unchanged
	case t.state == tcdTrend && now-t.recorded < t.interval:
		t.emptied(q, frame)
		return Unchanged
	case t.state == tcdTrend && 10*(q.Bytes-t.qRecord) < 9*frame: // still falling
		t.recorded, t.qRecord = now, q.Bytes
		t.emptied(q, frame)
		return Unchanged
	case t.state == tcdTrend:
		t.state = TCDCongestion
		return t.within.Dequeue(now, q, p)
	}
	t.state = TCDNone
	mark := t.within.Dequeue(now, q, p)
	if mark == Congestion {
		t.state = TCDCongestion
	}
	return mark
}

// emptied ends the watch over a queue that has fallen to two frames.
func (t *TCD) emptied(q Queue, frame units.Size) {
	if q.Bytes <= 2*frame {
		t.state = TCDNone
	}
}

// Resume begins, or prolongs, an ON period.
func (t *TCD) Resume(now units.Time, q Queue) {
	t.resumed, t.qResumed = now, q.Bytes
	t.within.Resume(now, q)
}

// Flush passes on that the queue was discarded.
func (t *TCD) Flush() {
	if f, ok := t.within.(Flusher); ok {
		f.Flush()
	}
}

// Rebase implements units.Rebaser.
func (t *TCD) Rebase(by units.Time) {
	t.resumed.Rebase(by)
	t.recorded.Rebase(by)
	units.Rebase(t.within, by)
}
