package agent

import (
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// A flow's packets are made here, when its turn at the port comes. Most are plain: full, in the middle, of a flow that
// waits for nothing, behind another such packet. For those all that is needed lies beside the timer (sending). The others
// are the first, the last, those that ask to be acknowledged, the one after a timeout, and all of flows that are messages,
// have a window, repeat selectively, or change their source port.

// maxPlain is how many plain packets there may be in a row: the timeout is looked at in between.
const maxPlain = 1024

// data makes the next packet of the first flow of a class.
func (h *Host) data(now units.Time, frame *fabric.Frame, prio uint8) (made, stop bool) {
	id, due := h.pacer.Pop(int(prio))
	return h.makePacket(now, frame, id, due, prio)
}

// makePacket makes the next packet of a flow that the pacer gave out, and schedules the one after it. stop says that there
// is no memory.
func (h *Host) makePacket(now units.Time, frame *fabric.Frame, id int, due units.Time, prio uint8) (made, stop bool) {
	s := h.pacer.Beside(id)
	if s.plain == 0 {
		return h.makeSpecial(now, frame, id, due)
	}
	length := frameLen(int(s.headers) + int(h.payload))
	if !h.env.AllocAt(frame, length) {
		h.pacer.Wait(id, prio, due)
		return false, true
	}
	if b := h.env.Start(frame); b != nil && s.headers <= headInlineLen && !h.stamps && !h.env.Whole(length) {
		*b = s.head
		wire.BTH(b[s.bth&63:]).SetPSN(uint32(s.next), h.ackEach)
	} else {
		b := h.env.Bytes(frame)
		h.putHead(b, s, id)
		wire.BTH(b[s.bth:]).SetPSN(uint32(s.next), h.ackEach)
		h.stampAndSeal(now, s, b, length, int(h.payload))
	}
	s.plain--
	s.next++
	s.base = due
	onWire := h.onLink(length)
	h.dataSent += uint64(onWire)
	h.pacer.Sent(now, id, onWire)
	gap := s.gap
	if gap == 0 {
		f := &h.flows[id]
		f.rp.Sent(now, onWire)
		gap = f.rate(now).Serialize(units.Size(onWire))
	}
	h.pacer.Wait(id, prio, h.pacer.Departure(now, due, gap))
	return true, false
}

// makeSpecial is makePacket of those that are not plain.
func (h *Host) makeSpecial(now units.Time, frame *fabric.Frame, id int, due units.Time) (made, stop bool) {
	f := &h.flows[id]
	switch {
	case f.isPair():
		return h.makePairPacket(now, frame, id, due)
	case f.isMessage() && !h.startMessage(now, id), !h.maySend(now, id):
		return false, false
	}
	first, last, asks := f.index() == 0, f.isLast(), h.ackEach || f.asks(h.recovery.every)
	payload := h.payloadOf(f, last)
	length := frameLen(int(f.headers) + payload)
	if !h.env.AllocAt(frame, length) {
		h.pacer.Wait(id, f.prio, due)
		return false, true
	}
	if h.config.Entropy.By != PerFlow {
		h.renewPort(now, f)
	}
	b := h.env.Bytes(frame)
	h.putHead(b, f.sending, id)
	bth := wire.BTH(b[f.bth:])
	bth.SetOpcode(wire.SendOpcode(first, last))
	bth.SetPSN(uint32(f.next), asks)
	if f.scoreboard != nil {
		f.putPlace(b)
	}
	if payload != int(h.payload) {
		f.setLength(b, payload)
	}
	h.stampAndSeal(now, f.sending, b, length, payload)
	if f.frames() == 0 {
		f.firstBit = now
	}
	f.sentNext(now, asks, &h.recovery)
	h.sent(now, id, due, length, last)
	return true, false
}

// sent accounts for a packet that is not plain and schedules what comes next: the flow's next packet, or the timeout of
// the acknowledgement that it must wait for.
func (h *Host) sent(now units.Time, id int, due units.Time, length int, last bool) {
	f := &h.flows[id]
	onWire := h.onLink(length)
	h.dataSent += uint64(onWire)
	f.rp.Sent(now, onWire)
	h.pacer.Sent(now, id, onWire)
	f.base, f.gapBytes, f.gap = due, uint16(onWire), 0
	if last {
		f.last.sent++
	}
	takesTurns := f.isMessage() && h.sentOfMessage(now, id, last)
	switch {
	case h.blocked(f):
		h.awaitAck(now, id)
	case takesTurns: // the next packet of all messages was scheduled
	default:
		if !f.neverPlain {
			f.plain = f.plainRun(h.recovery.every)
			f.cacheGap(now)
		}
		h.pacer.Wait(id, f.prio, h.pacer.Departure(now, due, f.nextGap(now)))
	}
}

// plainRun is how many packets from the next on are plain.
func (f *flow) plainRun(every uint64) uint32 {
	plain := min(maxPlain, every-1-f.index()%every)
	if f.end > 0 {
		plain = min(plain, f.end-1-f.next)
	}
	return uint32(plain)
}
