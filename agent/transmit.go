package agent

import (
	"encoding/binary"
	"math/bits"

	"photon/cnp"
	"photon/dataplane"
	"photon/units"
	"photon/wire"
)

// Transmit fills burst with what the host sends next.
func (h *Host) Transmit(now units.Time, _ int, burst []dataplane.Frame) int {
	h.begins(now)
	n := 0
	for n < len(burst) {
		if !h.send(now, &burst[n]) {
			break
		}
		n++
	}
	return n
}

// begins has happen what is due before frames are sent.
func (h *Host) begins(now units.Time) {
	h.expire(now)
	if h.late {
		h.delayed.decide(now, (*remembered)(h))
	}
}

// Serve implements dataplane.Server.
func (h *Host) Serve(now units.Time, _ int, f *dataplane.Frame) (sent bool, next units.Time) {
	if h.late || now >= h.attend || now >= h.notice || now >= h.nextAnnounce || !h.serve(now, f) {
		h.begins(now)
		sent = h.send(now, f)
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
		id, due, ok := h.pacer.Alone(now, open)
		if !ok {
			return false
		}
		prio = h.pacer.Class(id)
		if made, _ = h.packet(now, f, id, due, prio); !made {
			return false
		}
	} else {
		if ready := h.pacer.Turn(now) & open; ready>>prio>>1 != 0 || open>>prio&1 == 0 {
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
		ready := h.pacer.Turn(now)
		if h.cnpDue() <= now {
			ready |= 1 << h.cnpPrio
		}
		if !h.acks.empty() {
			ready |= 1 << h.ackPrio
		}
		if h.nextAnnounce <= now {
			ready |= 1 << announcePrio
		}
		if ready &^= h.eg.Paused(); ready == 0 {
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
	p := &h.peers[slot]
	f.Len = uint16(cnp.Encode(h.env.Header(f), h.reply(slot, h.config.ControlDSCP), h.table.Key(slot).qp, notice))
	p.cnps++
	h.stats.NPSent++
	return f, true, false
}

// reply is the header of a packet to the sender of a received flow.
func (h *Host) reply(slot int, dscp uint8) wire.RoCE {
	return wire.RoCE{DstMAC: h.origins[slot].mac, SrcMAC: h.config.MAC, Src: h.config.IP, Dst: h.table.Key(slot).ip(), TOS: dscp << 2, SrcPort: h.origins[slot].port}
}

// data makes the next packet of the first flow of a class, and schedules the
// flow's next.
func (h *Host) data(now units.Time, frame *dataplane.Frame, prio uint8) (made, stop bool) {
	id, due := h.pacer.Pop(int(prio))
	return h.packet(now, frame, id, due, prio)
}

// packet makes the next packet of a flow that the pacer gave out, and schedules the next.
func (h *Host) packet(now units.Time, frame *dataplane.Frame, id int, due units.Time, prio uint8) (made, stop bool) {
	s := h.pacer.Beside(id)
	if s.plain == 0 {
		return h.particular(now, frame, id, due)
	}
	length := max(int(s.headers)+int(h.payload)+wire.ICRCLen, wire.MinFrameLen)
	if !h.env.AllocAt(frame, length) {
		h.pacer.Wait(id, prio, due)
		return false, true
	}
	if b := h.env.Start(frame); b != nil && s.headers <= headNear && !h.stamps && !h.env.Whole(length) {
		s.put(b)
		wire.BTH(b[s.bth&63:]).SetPSN(uint32(s.next), h.ackEach)
	} else {
		b := h.env.Bytes(frame)
		h.putHead(b, s, id)
		wire.BTH(b[s.bth:]).SetPSN(uint32(s.next), h.ackEach)
		h.complete(now, s, b, length, int(h.payload))
	}
	s.plain--
	s.next++
	onWire := h.onLink(length)
	h.dataSent += uint64(onWire)
	h.pacer.Sent(now, id, onWire)
	s.base = due
	gap := s.gap
	if gap == 0 {
		f := &h.flows[id]
		f.rp.Sent(now, onWire)
		gap = f.rate(now).Serialize(units.Size(onWire))
	}
	h.pacer.Wait(id, prio, max(now, due.Add(gap)))
	return true, false
}

// particular is data for packets that are not plain: the first, the last, behind
// a timeout, of messages, of flows with a window.
func (h *Host) particular(now units.Time, frame *dataplane.Frame, id int, due units.Time) (made, stop bool) {
	f := &h.flows[id]
	if f.apart && f.shared != nil && !h.begin(now, id) {
		return false, false
	}
	if f.awaiting { // no acknowledgement came
		f.awaiting = false
		f.rewind(f.acked)
	}
	last := f.packets > 0 && f.next == f.packets-1
	payload := int(h.payload)
	if last {
		payload = int(f.lastSize)
	}
	length := max(int(f.headers)+payload+wire.ICRCLen, wire.MinFrameLen)
	if !h.env.AllocAt(frame, length) {
		h.pacer.Wait(id, f.prio, due)
		return false, true
	}
	b := h.env.Bytes(frame)
	h.putHead(b, f.sending, id)
	f.encodeBTH(b, last, h.ackEach)
	if last && payload != int(h.payload) {
		f.setLength(b, payload)
	}
	h.complete(now, f.sending, b, length, payload)
	h.sent(now, id, due, length, last)
	return true, false
}

// putHead copies the headers of a full packet, but for what the BTH says of this one,
// and zeros up to a line of the cache: in worlds that keep no payload, what somebody
// looks at there must not be an earlier frame's.
func (h *Host) putHead(b []byte, s *sending, id int) {
	if s.headers <= headNear {
		copy(b, s.head[:])
		return
	}
	copy(b[copy(b, s.head[:]):], h.flows[id].more)
}

// put is putHead of headers that are all beside the timer. Word by word: a copy of so few
// bytes is mostly the call of it.
func (s *sending) put(b *[headNear]byte) {
	head := &s.head
	putLE(b[0:8], le(head[0:8]))
	putLE(b[8:16], le(head[8:16]))
	putLE(b[16:24], le(head[16:24]))
	putLE(b[24:32], le(head[24:32]))
	putLE(b[32:40], le(head[32:40]))
	putLE(b[40:48], le(head[40:48]))
	putLE(b[48:56], le(head[48:56]))
	putLE(b[56:64], le(head[56:64]))
}

// complete writes what only some packets have.
func (h *Host) complete(now units.Time, s *sending, b []byte, length, payload int) {
	if h.stamps {
		binary.BigEndian.PutUint64(b[int(s.headers)-wire.StampLen:], uint64(now))
	}
	if len(b) == length { // the world carries payload, too
		clear(b[s.headers:])
		end := int(s.headers) + payload + wire.ICRCLen
		wire.SealICRC(b[s.l3:end], int(s.bth-s.l3))
	}
}

// encodeBTH writes the opcode, the sequence number and, on the last packet, the
// request to acknowledge.
func (f *flow) encodeBTH(b []byte, last, ack bool) {
	bth := wire.BTH(b[f.bth:])
	switch {
	case last && f.next == 0:
		bth.SetOpcode(wire.OpSendOnly)
	case last:
		bth.SetOpcode(wire.OpSendLast)
	case f.next == 0:
		bth.SetOpcode(wire.OpSendFirst)
	}
	bth.SetPSN(uint32(f.next), last || ack)
}

// setLength corrects the headers of a packet that is not full.
func (f *flow) setLength(b []byte, payload int) {
	udp, l3 := int(f.bth)-wire.UDPLen, int(f.l3)
	length := int(f.headers) - udp + payload + wire.ICRCLen
	b[udp+4], b[udp+5] = byte(length>>8), byte(length)
	wire.SetIPLength(b[l3:], udp-l3+length)
}

// sent accounts a packet that is not plain and schedules what comes next: the
// flow's next packet, a gap after this one was due (not after it left: waiting for
// the port costs no rate, up to one gap), or the timeout of the acknowledgement
// that it must wait for.
func (h *Host) sent(now units.Time, id int, due units.Time, length int, last bool) {
	f := &h.flows[id]
	if f.next == 0 && f.repeated == 0 {
		f.firstBit = now
	}
	f.next++
	onWire := h.onLink(length)
	h.dataSent += uint64(onWire)
	f.rp.Sent(now, onWire)
	h.pacer.Sent(now, id, onWire)
	f.base, f.gapBytes, f.gap = due, uint16(onWire), 0
	message := f.apart && f.shared != nil && !f.gone
	if message {
		h.took(now, id, last)
	}
	if last {
		f.lasts++
	}
	if last || f.apart && h.full(f) {
		f.awaiting = true
		h.pacer.Wait(id, f.prio, now+h.config.AckTimeout)
		return
	}
	if message {
		return // took has scheduled it
	}
	if !f.apart {
		f.plain = mostPlain
		if f.packets > 0 {
			f.plain = uint32(min(mostPlain, f.packets-1-f.next))
		}
		f.keepGap(now)
	}
	h.pacer.Wait(id, f.prio, max(now, f.departure(now)))
}

// departure is when the next packet may leave at the rate of now.
func (f *flow) departure(now units.Time) units.Time {
	if f.gap != 0 {
		return f.base.Add(f.gap)
	}
	return f.base.Add(f.rate(now).Serialize(units.Size(f.gapBytes)))
}

// Next is now while something can be sent, else the next timer.
func (h *Host) Next(now units.Time, _ int) units.Time {
	paused := h.eg.Paused()
	pending := h.pacer.Ready()
	next := h.pacer.Next()
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
		next = min(next, h.eg.Next())
	}
	return max(now, next)
}
