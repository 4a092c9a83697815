package agent

import "photon/units"

// What a flow does that has nothing to send until an acknowledgement comes. It stays in the pacer, until the
// acknowledgement is overdue: it has no second timer.

// blocked reports whether a flow can send nothing before an acknowledgement comes.
func (h *Host) blocked(f *flow) bool {
	if f.requester.blocked(&h.recovery) || f.isPair() && f.awaitsRead() {
		return true
	}
	return f.windower != nil && units.Size(f.next-f.acked)*units.Size(f.gapBytes) >= f.windower.Window()
}

// awaitAck has a flow wait for an acknowledgement, until it is overdue.
func (h *Host) awaitAck(now units.Time, id int) {
	f := &h.flows[id]
	f.awaiting = true
	if f.deadline == units.Never {
		f.restartTimer(now, &h.recovery)
	}
	h.pacer.Wait(id, f.prio, f.deadline)
}

// maySend reports whether a flow whose turn has come has a packet to send. If an acknowledgement is overdue it goes back,
// or gives up.
func (h *Host) maySend(now units.Time, id int) bool {
	f := &h.flows[id]
	switch {
	case f.overdue(now, &h.recovery):
		if !f.retry(now, &h.recovery) {
			why := ErrNoAnswer
			if f.isPair() && f.spec.Pair.queue.sender.outOfStep {
				why = ErrOutOfStep
			}
			h.giveUp(now, id, why)
			return false
		}
		h.timeouts++
	case f.awaiting, // there was progress, and there is still nothing to send
		f.scoreboard != nil && h.blocked(f): // what it was to repeat has arrived meanwhile
		h.awaitAck(now, id)
		return false
	}
	return true
}

// resume lets a flow go on that had to wait for an acknowledgement, if it has more to send. It reports whether it does, or
// waits for less time than before.
func (h *Host) resume(now units.Time, id int) bool {
	f := &h.flows[id]
	if !f.awaiting {
		return false
	}
	if h.blocked(f) {
		if f.acked != f.ackedAtStart && f.hasLowTimeout() { // which counts from the last progress on
			f.retries = 0
			f.restartTimer(now, &h.recovery)
			h.pacer.Wait(id, f.prio, f.deadline)
			return true
		}
		return false
	}
	f.awaiting = false
	h.pacer.Wait(id, f.prio, max(now, f.departure(now)))
	return true
}

// startAgain sends a flow from its first packet on again, because the receiver has lost it.
func (h *Host) startAgain(now units.Time, id int) {
	f := &h.flows[id]
	if f.spec.FixedPSN || !f.requester.startAgain(h.drawPSN(now), &h.recovery) {
		h.giveUp(now, id, ErrForgotten)
		return
	}
	h.reschedule(now, id)
}
