package agent

import (
	"photon/fabric"
	"photon/wire"
)

// ack is an acknowledgement that waits to be sent.
type ack struct {
	slot     int32
	psn      uint32
	msn      uint32 // of a NIC's echo: the number of the flow
	cause    uint32 // PSN of the packet, if ext says so
	syndrome uint8
	mark     uint8 // ECN codepoint of the packet, if it is to be told
	ext      uint8 // what is brought back
	stamp    [wire.StampLen]byte
	count    [wire.EchoLen - wire.StampLen]byte // of a NIC's echo
	hops     [wire.INTLen]byte
}

// ackQueue holds acknowledgements. Each flow has room for one; only what is left beyond that holds more, and a flow
// that has no more room replaces its last: the newest tells most. Its memory grows to the most that has waited.
type ackQueue struct {
	acks       []ack // a power of two
	head, tail uint32
	shared     uint32 // places beyond one per flow
}

// moreAcks is the shared room where every packet is acknowledged: a port sends them long before there are so many.
const moreAcks = 1024

func newAckQueue(every bool) (q ackQueue) {
	if every {
		q.shared = moreAcks
	}
	return q
}

// push appends a place and returns its number.
func (q *ackQueue) push() uint32 {
	if n := uint32(len(q.acks)); q.tail-q.head == n {
		bigger := make([]ack, max(4, 2*n))
		for i := q.head; i != q.tail; i++ {
			bigger[i&uint32(len(bigger)-1)] = q.acks[i&(n-1)]
		}
		q.acks = bigger
	}
	q.tail++
	return q.tail - 1
}

// pop drops the first. An empty queue begins anew: it stays in the same lines of the cache.
func (q *ackQueue) pop() {
	if q.head++; q.head == q.tail {
		q.head, q.tail = 0, 0
	}
}

func (q *ackQueue) empty() bool { return q.head == q.tail }

func (q *ackQueue) at(place uint32) *ack { return &q.acks[place&uint32(len(q.acks)-1)] }

// noCause is no PSN.
const noCause = psnMask + 1

// queueAck notes what to acknowledge of the packet whose base transport header is the first of b. cause is its PSN,
// if that is to be told, too. It is nil if what waits to be sent says more.
func (h *Host) queueAck(p *peer, slot int, syndrome uint8, psn, cause uint32, b []byte, tos uint8) *ack {
	q := &h.acks
	fresh := p.acks == 0 || q.tail-q.head < q.shared
	if !fresh && p.refusing && syndrome == wire.SyndromeACK {
		return nil // what waits asks for the packet that is missing, and acknowledges those before it, too
	}
	if fresh {
		p.lastAck = q.push()
		p.acks++
	}
	a := q.at(p.lastAck)
	a.slot, a.psn, a.syndrome, a.msn, a.mark, a.ext = int32(slot), psn, syndrome, p.msn(), 0, 0
	if cause != noCause {
		a.ext, a.cause = wire.ExtPlace, cause
	}
	if !h.ackEach {
		return a
	}
	a.mark = tos & 3
	ext := wire.BTH(b).Extensions()
	if ext == 0 || len(b) < wire.BTHLen+wire.ExtensionsLen(ext) {
		return a
	}
	a.ext |= ext &^ wire.ExtPlace
	telemetry, _, stamp := extensions(b[wire.BTHLen:], ext)
	copy(a.hops[:], telemetry)
	copy(a.stamp[:], stamp)
	return a
}

// acknowledgeStale answers a packet of an earlier epoch: with all of that, if it was whole.
func (h *Host) acknowledgeStale(p *peer, slot int, psn uint32, b []byte, tos uint8) {
	a := h.queueAck(p, slot, wire.SyndromeACK, (p.expected-1)&psnMask, noCause, b, tos)
	if e := h.origins[slot].retired.whole(psn); e != nil && a != nil {
		a.psn, a.msn = e.answer()
	}
}

// ackLen is the length of an acknowledgement from the BTH on.
func ackLen(ext uint8) int {
	return wire.BTHLen + wire.AETHLen + wire.ExtensionsLen(ext) + wire.ICRCLen
}

// acknowledge makes the next ACK or NAK.
func (h *Host) acknowledge(f *fabric.Frame) (made, stop bool) {
	a := h.acks.at(h.acks.head)
	slot := uint(a.slot)
	switch {
	case slot < uint(len(h.ackHeadsSent)) && h.ackHeadsSent[slot].Known(a.ext):
		if !h.env.AllocAt(f, wire.AckLen+wire.ExtensionsLen(a.ext)) {
			return false, true
		}
		h.ackHeadsSent[slot].Put(h.start(f), a.psn, a.syndrome, a.msn, a.mark == h.undetermined, a.mark == wire.CE,
			&a.hops, a.cause, &a.stamp)
	case a.slot < 0:
		return h.acknowledgePair(f, -1-int(a.slot))
	default:
		if !h.env.AllocAt(f, wire.RoCEMaxLen+ackLen(a.ext)) {
			return false, true
		}
		h.encodeAck(f, a)
	}
	h.acks.pop()
	h.peers[slot].acks--
	return true, false
}

// encodeAck writes an acknowledgement whole. What it has in common with the next to the same sender is remembered.
func (h *Host) encodeAck(f *fabric.Frame, a *ack) {
	b, length := h.env.Bytes(f), ackLen(a.ext)
	r := h.reply(int(a.slot), h.config.AckDSCP)
	at := r.Encode(b, length)
	bth := wire.BTH(b[at:])
	bth.Encode(wire.OpAcknowledge, false, h.table.Key(int(a.slot)).qp, false, a.psn)
	bth.SetExtensions(a.ext)
	bth.SetECNEcho(a.mark == h.undetermined, a.mark == wire.CE)
	wire.AETH(b[at+wire.BTHLen:]).Encode(a.syndrome, a.msn)
	telemetry, cause, stamp := extensions(b[at+wire.BTHLen+wire.AETHLen:], a.ext)
	copy(telemetry, a.hops[:])
	copy(stamp, a.stamp[:])
	if cause != nil {
		putPlace(cause, a.cause)
	}
	f.Len = uint16(at + length)
	h.sealer.Seal(b[wire.EthernetLen:f.Len], at-wire.EthernetLen)
	if len(h.ackHeadsSent) > 0 {
		h.ackHeadsSent[a.slot].Learn(b)
	}
}

// start is where a frame that was just made begins.
func (h *Host) start(f *fabric.Frame) []byte {
	if b := h.env.Start(f); b != nil && f.Len == wire.AckLen {
		return b[:wire.AckLen]
	}
	return h.env.Bytes(f)
}
