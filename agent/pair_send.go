package agent

import (
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// The host as requester of a queue pair of the specification: its flow is a row of messages, whose packets the requester
// numbers one after the other. A READ has the numbers of the responses to it: these are what is acknowledged, one by
// one, and what is missing of them is asked for again by a READ of the rest.

// pairSender is what a pair has for its own messages, in addition to the requester.
type pairSender struct {
	until     units.Time // the peer wants to be left alone
	gap       bool       // responses are missing, and were asked for again
	outOfStep bool       // after a timeout the peer said what is of no packet under way, and nothing else since

	frames, again, bytes uint64 // sent, of them again, on the wire
}

// pairPacket is a packet of a message, by the number that it has.
type pairPacket struct {
	message     uint64
	packet      uint64 // of the message
	offset      uint64 // of what it brings, or asks for, in the message
	bytes       uint64
	left        uint64 // packets of the message from this one on
	first, last bool
}

// at describes a packet of the pair's flow, by its place there.
func (q *queuePair) at(index uint64) (p pairPacket) {
	per := packetsOf(uint64(q.spec.Size), q.mtu)
	p.message, p.packet = index/per, index%per
	p.offset, p.left = p.packet*q.mtu, per-p.packet
	p.bytes = min(q.mtu, uint64(q.spec.Size)-p.offset)
	p.first, p.last = p.packet == 0, p.left == 1
	return p
}

// packets is how many a pair's flow has; 0: it only answers.
func (p *Pair) packets(payload int) uint64 { return uint64(p.Messages) * p.perMessage(payload) }

// makePairPacket makes the next packet of a flow that belongs to a pair of queue pairs.
func (h *Host) makePairPacket(now units.Time, frame *fabric.Frame, id int, due units.Time) (made, stop bool) {
	f := &h.flows[id]
	q := f.spec.Pair.queue
	switch {
	case id == int(q.answers):
		return h.respond(now, frame, id, due)
	case f.end == 0:
		return false, false // it only answers
	case now < q.sender.until:
		h.pacer.Wait(id, f.prio, q.sender.until)
		return false, false
	case !h.maySend(now, id):
		return false, false
	}
	return h.request(now, frame, id, due)
}

// request makes the next packet of a pair's messages.
func (h *Host) request(now units.Time, frame *fabric.Frame, id int, due units.Time) (made, stop bool) {
	f := &h.flows[id]
	q := f.spec.Pair.queue
	p := q.at(f.index())
	opcode, extended, payload, asks := uint8(0), 0, int(p.bytes), f.asks(h.recovery.every)
	switch q.spec.Verb {
	case Write:
		if opcode = wire.WriteOpcode(p.first, p.last); p.first {
			extended = wire.RETHLen
		}
	case Read:
		opcode, extended, payload, asks = wire.OpReadRequest, wire.RETHLen, 0, true
	default:
		opcode = wire.SendOpcode(p.first, p.last)
	}
	length, ok := h.pairFrame(frame, f, extended+payload)
	if !ok {
		h.pacer.Wait(id, f.prio, due)
		return false, true
	}
	b := h.env.Bytes(frame)
	rest := h.putPair(b, f, id, opcode, asks, uint32(f.next), extended, payload)
	if extended > 0 {
		r := q.spec.Remote
		size := uint64(q.spec.Size) - p.offset
		wire.RETH(rest).Encode(r.Address+q.spec.offset(p.message, r.Size)+p.offset, r.Key, uint32(size))
	}
	if payload > 0 {
		fillPattern(rest[extended:min(len(rest), extended+payload)], p.message, p.offset)
	}
	h.sealPair(b, f, length, extended+payload)
	if f.frames() == 0 {
		f.firstBit = now
	}
	if f.next < f.high {
		q.sender.again++
	}
	if q.spec.Verb == Read {
		if f.probing { // what comes too early now was asked for again, too
			q.sender.gap = false
		}
		f.next += p.left - 1
	}
	f.sentNext(now, asks, &h.recovery)
	q.sender.count(h.onLink(length))
	h.sent(now, id, due, length, false)
	return true, false
}

func (s *pairSender) count(onWire int) {
	s.frames++
	s.bytes += uint64(onWire)
}

// pairFrame makes room for a packet with so much behind the base transport header, without padding.
func (h *Host) pairFrame(frame *fabric.Frame, f *flow, rest int) (length int, ok bool) {
	length = frameLen(int(f.headers) + rest + -rest&3)
	return length, h.env.AllocAt(frame, length)
}

// putPair writes the headers of a packet, and returns what is behind the base transport header.
func (h *Host) putPair(b []byte, f *flow, id int, opcode uint8, asks bool, psn uint32, extended, payload int) []byte {
	h.putHead(b, f.sending, id)
	pad := -payload & 3
	bth := wire.BTH(b[f.bth:])
	bth.Encode(opcode, false, f.spec.Pair.queue.remote, asks, psn)
	bth.SetPad(pad)
	f.setLength(b, extended+payload+pad)
	return b[f.headers:]
}

// sealPair ends a packet with so much behind the base transport header, if the world carries all of it.
func (h *Host) sealPair(b []byte, f *flow, length, rest int) {
	if len(b) == length {
		end := int(f.headers) + rest
		clear(b[end:])
		end += -rest & 3
		wire.SealICRC(b[f.l3:end+wire.ICRCLen], int(f.bth-f.l3))
	}
}

// awaitsRead reports whether a pair's flow has a READ that was not answered: the next is sent afterwards.
func (f *flow) awaitsRead() bool { return f.spec.Pair.Verb == Read && f.next > f.acked }

// takeAnswer takes an acknowledgement of a pair.
func (h *Host) takeAnswer(now units.Time, q *queuePair, bth wire.BTH, body []byte) (fabric.Reason, bool) {
	if len(body) < wire.AETHLen {
		return fabric.DropMalformed, false
	}
	if q.flow < 0 {
		return fabric.DropUnknown, false
	}
	f := &h.flows[q.flow]
	syndrome := wire.AETH(body).Syndrome()
	if syndrome == wire.SyndromeNAK {
		h.stats.NAKs++
	}
	m, wait := nothing, units.Time(0)
	if q.spec.Verb == Read {
		m, wait = f.refusedRead(bth.PSN(), syndrome)
	} else {
		m, wait = f.acknowledgeStandard(bth.PSN(), syndrome)
	}
	switch { // an acknowledgement that is older may only be late, and of READs none says anything
	case m != nothing:
		q.sender.outOfStep = false
	case f.probing && (q.spec.Verb != Read || !wire.IsACK(syndrome)):
		q.sender.outOfStep = true
	}
	if wait > 0 { // it answers: this is no lack of progress
		q.sender.until = now + wait
		f.retries, f.deadline = 0, units.Never
	}
	return h.applyMeaning(now, int(q.flow), m, wait)
}

// refusedRead takes what is not the response to a READ. An acknowledgement says nothing of it.
func (r *requester) refusedRead(psn uint32, syndrome uint8) (m meaning, wait units.Time) {
	under := r.outstanding()
	switch {
	case wire.IsACK(syndrome) || uint64((psn-uint32(r.acked))&psnMask) >= under:
		return nothing, 0
	case syndrome != wire.SyndromeNAK && !wire.IsRNR(syndrome):
		return refused, 0
	}
	r.goBack(r.acked)
	return goBack, rnrDelay(syndrome)
}

// applyMeaning makes a pair's flow do what an answer means.
func (h *Host) applyMeaning(now units.Time, id int, m meaning, wait units.Time) (fabric.Reason, bool) {
	f := &h.flows[id]
	switch m {
	case nothing:
		return fabric.DropUnknown, false
	case refused:
		h.giveUp(now, id, ErrRefused)
	case complete:
		h.finish(now, id)
	case arrived:
		h.resume(now, id)
		h.reschedule(now, id)
	default:
		if wait > 0 {
			h.pacer.Wait(id, f.prio, now+wait)
		} else {
			h.reschedule(now, id)
		}
	}
	return 0, true
}

// takeResponse takes a packet that answers a READ.
func (h *Host) takeResponse(now units.Time, q *queuePair, bth wire.BTH, body []byte) (fabric.Reason, bool) {
	if q.flow < 0 || q.spec.Verb != Read {
		return fabric.DropUnknown, false
	}
	f := &h.flows[q.flow]
	ahead := uint64((bth.PSN() - uint32(f.acked)) & psnMask)
	switch under := f.outstanding(); {
	case ahead >= under:
		return fabric.DropSequence, false
	case ahead > 0:
		if !q.sender.gap {
			q.sender.gap = true
			f.goBack(f.acked)
			h.applyMeaning(now, int(q.flow), goBack, 0)
		}
		return fabric.DropSequence, false
	}
	p := q.at(f.acked - uint64(f.first))
	if op := bth.Opcode(); op != wire.OpResponseMid {
		if len(body) < wire.AETHLen {
			return fabric.DropMalformed, false
		}
		body = body[wire.AETHLen:]
		if ends := op != wire.OpResponseFirst; ends != p.last {
			return fabric.DropMalformed, false
		}
	} else if p.last {
		return fabric.DropMalformed, false
	}
	if pad := bth.Pad(); uint64(len(body)) != p.bytes+uint64(pad) || len(body)&3 != 0 {
		return fabric.DropMalformed, false
	}
	if into := q.spec.Into; into.Size > 0 {
		if to, ok := h.config.Memory.at(into.Address+q.spec.offset(p.message, into.Size)+p.offset, p.bytes); ok {
			copy(to, body)
		}
	}
	q.taker.bytes += p.bytes
	q.sender.gap, q.sender.outOfStep, f.probing = false, false, false
	f.advance(f.acked + 1)
	if f.end > 0 && f.acked == f.end {
		return h.applyMeaning(now, int(q.flow), complete, 0)
	}
	return h.applyMeaning(now, int(q.flow), arrived, 0)
}

// fillPattern writes what a message's payload is from an offset on, which is a multiple of eight: the word of 64 bits,
// the lowest byte first, at offset 8j of message m is (2^32 m + j + 1) times 0x9E3779B97F4A7C15, modulo 2^64.
func fillPattern(b []byte, message, offset uint64) {
	const step = 0x9E3779B97F4A7C15
	word := (message<<32 + offset/8 + 1) * step
	for len(b) >= 8 {
		putLE(b, word)
		b, word = b[8:], word+step
	}
	for i := range b {
		b[i] = byte(word >> (8 * i))
	}
}
