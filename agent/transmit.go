package agent

import (
	"math/bits"

	"photon/cnp"
	"photon/dataplane"
	"photon/units"
	"photon/wire"
)

// Transmit fills burst with what the host sends next.
func (h *Host) Transmit(now units.Time, _ int, burst []dataplane.Frame) int {
	h.pacer.SetLateness(h.punctual.served(now))
	h.begins(now)
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

// begins has happen what is due before frames are sent.
func (h *Host) begins(now units.Time) {
	h.expire(now)
	if h.late {
		h.delayed.decide(now, (*remembered)(h))
	}
}

// Serve implements dataplane.Server. A world that asks in this way does so when it was asked to.
func (h *Host) Serve(now units.Time, _ int, f *dataplane.Frame) (sent bool, next units.Time) {
	if h.late || now >= h.attend || now >= h.notice || now >= h.nextAnnounce || !h.serve(now, f) {
		h.begins(now)
		sent = h.sendNext(now, f)
		return sent, h.Next(now, 0)
	}
	next = min(h.pacer.Next(), h.notice, h.nextAnnounce)
	pending := h.pacer.Ready()
	if !h.acks.empty() {
		pending |= 1 << h.ackPrio
	}
	if pending != 0 {
		if pending&^h.eg.Paused() != 0 {
			return true, now
		}
		next = min(next, h.eg.Next())
	}
	return true, max(now, next)
}

// serve makes the next frame, as send does, if that is an acknowledgement or data of the one flow
// whose time has come, and there is neither a CNP nor an announcement to be sent. It
// does nothing that matters to send, and reports false, otherwise.
func (h *Host) serve(now units.Time, f *dataplane.Frame) (made bool) {
	open := ^h.eg.Paused()
	prio := h.ackPrio
	if h.acks.empty() {
		id, due, ok := h.pacer.PopSole(now, open)
		if !ok {
			return false
		}
		prio = h.pacer.Class(id)
		if made, _ = h.packet(now, f, id, due, prio); !made {
			return false
		}
	} else {
		if ready := h.pacer.Advance(now) & open; ready>>prio>>1 != 0 || open>>prio&1 == 0 {
			return false
		}
		if made, _ = h.acknowledge(f); !made {
			return false
		}
	}
	l := h.lane(prio)
	l.txFrames++
	l.txBytes += uint64(f.Len)
	l.made++
	return true
}

// send makes the next frame, if there is one to send.
func (h *Host) send(now units.Time, f *dataplane.Frame) bool {
	for {
		ready := h.pacer.Advance(now)
		if h.cnpDue() <= now {
			ready |= 1 << h.cnpPrio
		}
		if !h.acks.empty() {
			ready |= 1 << h.ackPrio
		}
		if h.nextAnnounce <= now {
			ready |= 1 << announcePrio
		}
		if ready &^= h.stopped(); ready == 0 {
			return false
		}
		prio := uint8(7 - bits.LeadingZeros8(ready))
		var made, stop bool
		switch {
		case prio == h.cnpPrio && h.cnpDue() <= now:
			*f, made, stop = h.notify(now)
		case prio == h.ackPrio && !h.acks.empty():
			made, stop = h.acknowledge(f)
		case prio == announcePrio && h.nextAnnounce <= now:
			*f, made, stop = h.announce(now)
		default:
			made, stop = h.data(now, f, prio)
		}
		if made {
			l := h.lane(prio)
			l.txFrames++
			l.txBytes += uint64(f.Len)
			l.made++
			return true
		}
		if stop {
			return false
		}
	}
}

// cnpDue is when the next CNP may leave.
func (h *Host) cnpDue() units.Time {
	if !h.late {
		return h.notice
	}
	return h.delayed.cnpDue(h.notice)
}

// notify makes the next CNP. There may be none although one was expected, if
// its flow was forgotten; stop says that there is no memory for one.
func (h *Host) notify(now units.Time) (f dataplane.Frame, made, stop bool) {
	if f, made = h.env.Alloc(cnp.MaxLen); !made {
		return f, false, true
	}
	slot, notice, ok := h.delayed.nextCNP(now, (*remembered)(h))
	if !ok {
		h.env.Free(f)
		return f, false, false
	}
	f.Len = uint16(cnp.Encode(h.env.Header(f), h.reply(slot, h.config.ControlDSCP), h.table.Key(slot).qp, notice))
	h.origins[slot].cnps++
	h.stats.NPSent++
	return f, true, false
}

// reply is the header of a packet to the sender of a received flow.
func (h *Host) reply(slot int, dscp uint8) wire.RoCE {
	return wire.RoCE{DstMAC: h.origins[slot].mac, SrcMAC: h.config.MAC, Src: h.config.IP, Dst: h.table.Key(slot).ip(), TOS: dscp << 2, SrcPort: h.origins[slot].port}
}

// Next is now while something can be sent, else the next timer.
func (h *Host) Next(now units.Time, _ int) units.Time { return h.punctual.ask(now, h.next(now)) }

func (h *Host) next(now units.Time) units.Time {
	paused := h.stopped()
	pending := h.pacer.Ready()
	next := h.pacer.Next()
	if h.credit != nil {
		next = min(next, h.credit.Due(now))
	}
	if h.nextAnnounce <= now {
		pending |= 1 << announcePrio
	} else {
		next = min(next, h.nextAnnounce)
	}
	if !h.acks.empty() {
		pending |= 1 << h.ackPrio
	}
	if h.late {
		next = min(next, h.delayed.decision(h.notice), h.delayed.nextPause())
	}
	if due := h.cnpDue(); due <= now {
		pending |= 1 << h.cnpPrio
	} else {
		next = min(next, due)
	}
	if pending&^paused != 0 {
		return now
	}
	if pending != 0 {
		next = min(next, h.stops().Next())
	}
	return max(now, next)
}
