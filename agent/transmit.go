package agent

import (
	"math/bits"

	"photon/fabric"
	"photon/units"
)

// The port takes frames here. It is asked for the highest priority that may be sent; in it, CNPs go before
// acknowledgements, these before an announcement, and all before data.

// Transmit fills burst with what the host sends next.
func (h *Host) Transmit(now units.Time, _ int, burst []fabric.Frame) int {
	h.pacer.SetLateness(h.punctual.served(now))
	h.runTimers(now)
	n := 0
	for n < len(burst) {
		if !h.sendNext(now, &burst[n]) {
			break
		}
		h.punctual.sent(&h.config.Link, int(burst[n].Len))
		n++
	}
	h.pacer.SetLateness(0)
	return n
}

// runTimers ends pauses that have run out, and decides what CNPs are sent.
func (h *Host) runTimers(now units.Time) {
	h.expire(now)
	if h.noShortcuts {
		h.delayed.decide(now, (*remembered)(h))
	}
}

// send makes the next frame, if there is one to send.
func (h *Host) send(now units.Time, f *fabric.Frame) bool {
	for {
		cnp := h.cnpDue()
		ready := (h.pacer.Advance(now) | h.control(now, cnp)) &^ h.stopped()
		if ready == 0 {
			return false
		}
		prio := uint8(7 - bits.LeadingZeros8(ready))
		var made, stop bool
		switch {
		case prio == h.cnpPrio && cnp <= now:
			*f, made, stop = h.notify(now)
		case prio == h.ackPrio && !h.acks.empty():
			made, stop = h.acknowledge(f)
		case prio == announcePrio && h.nextAnnounce <= now:
			*f, made, stop = h.announce(now)
		default:
			made, stop = h.data(now, f, prio)
		}
		if made {
			h.countSent(prio, f.Len)
			return true
		}
		if stop {
			return false
		}
	}
}

// control is the set of priorities in which something other than data is to be sent. The next CNP may leave at cnp.
func (h *Host) control(now, cnp units.Time) (classes uint8) {
	if cnp <= now {
		classes |= 1 << h.cnpPrio
	}
	if !h.acks.empty() {
		classes |= 1 << h.ackPrio
	}
	if h.nextAnnounce <= now {
		classes |= 1 << announcePrio
	}
	return classes
}

// Next is now while something can be sent, else the next timer.
func (h *Host) Next(now units.Time, _ int) units.Time { return h.punctual.ask(now, h.next(now)) }

func (h *Host) next(now units.Time) units.Time {
	if !h.acks.empty() && h.stopped()>>h.ackPrio&1 == 0 { // so it is most often
		return now
	}
	next, cnp := h.pacer.Next(), h.cnpDue()
	if pending := h.pacer.Ready() | h.control(now, cnp); pending != 0 {
		if pending&^h.stopped() != 0 {
			return now
		}
		next = min(next, h.stops().Next())
	}
	if cnp > now {
		next = min(next, cnp)
	}
	if h.nextAnnounce > now {
		next = min(next, h.nextAnnounce)
	}
	if h.noShortcuts {
		next = min(next, h.delayed.decision(h.npNext), h.delayed.nextPause())
		if h.credit != nil {
			next = min(next, h.credit.Due(now))
		}
	}
	return max(now, next)
}

// Serve implements fabric.Server. A world that asks in this way does so when it was asked to.
func (h *Host) Serve(now units.Time, _ int, f *fabric.Frame) (sent bool, next units.Time) {
	if h.noShortcuts || now >= h.attend || now >= h.npNext || now >= h.nextAnnounce || !h.sendUsual(now, f) {
		h.runTimers(now)
		sent = h.sendNext(now, f)
		return sent, h.Next(now, 0)
	}
	// What next would say: it is nothing else that can be due. Asking it takes some percent of a simulation's time.
	next = min(h.pacer.Next(), h.npNext, h.nextAnnounce)
	pending := h.pacer.Ready()
	if !h.acks.empty() {
		pending |= 1 << h.ackPrio
	}
	if pending != 0 {
		if pending&^h.egress.Paused() != 0 {
			return true, now
		}
		next = min(next, h.egress.Next())
	}
	return true, max(now, next)
}

// sendUsual makes the next frame, as send does, if that is an acknowledgement or data of the one flow
// whose time has come, and there is neither a CNP nor an announcement to be sent. It
// does nothing that matters to send, and reports false, otherwise.
func (h *Host) sendUsual(now units.Time, f *fabric.Frame) (made bool) {
	open := ^h.egress.Paused()
	prio := h.ackPrio
	if h.acks.empty() {
		id, due, ok := h.pacer.PopSole(now, open)
		if !ok {
			return false
		}
		prio = h.pacer.Class(id)
		made, _ = h.makePacket(now, f, id, due, prio)
	} else {
		if ready := h.pacer.Advance(now) & open; ready>>prio>>1 != 0 || open>>prio&1 == 0 {
			return false
		}
		made, _ = h.acknowledge(f)
	}
	if made {
		h.countSent(prio, f.Len)
	}
	return made
}

// countSent counts a frame that leaves.
func (h *Host) countSent(prio uint8, length uint16) {
	l := h.lane(prio)
	l.txFrames++
	l.txBytes += uint64(length)
}
