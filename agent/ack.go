package agent

import (
	"encoding/binary"

	"photon/dataplane"
	"photon/flowtable"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// ack is an acknowledgement that waits to be sent.
type ack struct {
	slot     int32
	psn      uint32
	msn      uint32 // of a NIC's echo: the number of the flow
	cause    uint32 // PSN of the packet, if ext says so
	syndrome uint8
	mark     uint8 // ECN codepoint of the packet, if the acknowledgement carries it
	ext      uint8 // what is brought back
	stamp    [wire.StampLen]byte
	count    [wire.EchoLen - wire.StampLen]byte // of a NIC's echo
	hops     [wire.INTLen]byte
}

// ackQueue holds acknowledgements. Each flow has room for one; further ones share
// some additional places. A flow that finds none replaces its last acknowledgement,
// since the newest says most. Memory grows to the most that ever waited.
type ackQueue struct {
	acks       []ack // a power of two
	head, tail uint32
	spare      uint32 // places beyond one per flow
}

// moreAcks is how many additional places there are if every packet is acknowledged: a port
// sends acknowledgements long before so many wait.
const moreAcks = 1024

func newAckQueue(every bool) (q ackQueue) {
	if every {
		q.spare = moreAcks
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

// pop drops the first. An empty queue starts at its beginning again, to stay in the same cache lines.
func (q *ackQueue) pop() {
	if q.head++; q.head == q.tail {
		q.head, q.tail = 0, 0
	}
}

func (q *ackQueue) empty() bool { return q.head == q.tail }

func (q *ackQueue) at(place uint32) *ack { return &q.acks[place&uint32(len(q.acks)-1)] }

// noCause is no PSN.
const noCause = psnMask + 1

// queueAck queues the acknowledgement of a packet that begins, with its base transport header, at b. cause is
// its PSN, if the acknowledgement is to carry it.
func (h *Host) queueAck(p *peer, slot int, syndrome uint8, psn, cause uint32, b []byte, tos uint8) {
	q := &h.acks
	fresh := p.acks == 0 || q.tail-q.head < q.spare
	if !fresh && p.refusing && syndrome == wire.SyndromeACK {
		return // what waits asks for the packet that is missing, and acknowledges those before it, too
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
		return
	}
	a.mark = tos & 3
	at := wire.BTHLen
	ext := wire.BTH(b).Extensions()
	if ext == 0 || len(b) < at+wire.ExtensionsLen(ext) {
		return
	}
	a.ext |= ext &^ wire.ExtPlace
	if ext&wire.ExtINT != 0 {
		at += copy(a.hops[:], b[at:])
	}
	if ext&wire.ExtPlace != 0 {
		at += wire.PlaceLen
	}
	if ext&wire.ExtStamp != 0 {
		copy(a.stamp[:], b[at:])
	}
}

// ackLen is the length of an acknowledgement from the BTH on.
func ackLen(ext uint8) int {
	return wire.BTHLen + wire.AETHLen + wire.ExtensionsLen(ext) + wire.ICRCLen
}

// acknowledge makes the next ACK or NAK.
func (h *Host) acknowledge(f *dataplane.Frame) (made, stop bool) {
	a := h.acks.at(h.acks.head)
	slot := uint(a.slot)
	if slot < uint(len(h.replies)) && h.replies[slot].Known() && a.ext == 0 {
		if !h.env.AllocAt(f, wire.AckLen) {
			return false, true
		}
		h.acks.pop()
		h.peers[slot].acks--
		h.replies[slot].Put(h.start(f), a.psn, a.syndrome, a.msn, a.mark == h.undetermined, a.mark == wire.CE)
		return true, false
	}
	if a.slot < 0 {
		return h.acknowledgePair(f, -1-int(a.slot))
	}
	length := ackLen(a.ext)
	if !h.env.AllocAt(f, wire.RoCEMaxLen+length) {
		return false, true
	}
	h.acks.pop()
	h.peers[slot].acks--
	b := h.env.Bytes(f)
	r := h.reply(int(a.slot), h.config.AckDSCP)
	at := r.Encode(b, length)
	bth := wire.BTH(b[at:])
	bth.Encode(wire.OpAcknowledge, false, h.table.Key(int(a.slot)).qp, false, a.psn)
	bth.SetExtensions(a.ext)
	bth.SetECNEcho(a.mark == h.undetermined, a.mark == wire.CE)
	wire.AETH(b[at+wire.BTHLen:]).Encode(a.syndrome, a.msn)
	rest := b[at+wire.BTHLen+wire.AETHLen:]
	if a.ext&wire.ExtINT != 0 {
		rest = rest[copy(rest, a.hops[:]):]
	}
	if a.ext&wire.ExtPlace != 0 {
		putPlace(rest, a.cause)
		rest = rest[wire.PlaceLen:]
	}
	if a.ext&wire.ExtStamp != 0 {
		copy(rest, a.stamp[:])
	}
	f.Len = uint16(at + length)
	h.sealer.Seal(b[wire.EthernetLen:f.Len], at-wire.EthernetLen)
	if len(h.replies) > 0 {
		h.replies[a.slot].Learn(b)
	}
	return true, false
}

// start is where a frame of at most wire.AckLen bytes that was just made begins.
func (h *Host) start(f *dataplane.Frame) []byte {
	if b := h.env.Start(f); b != nil {
		return b[:wire.AckLen]
	}
	return h.env.Bytes(f)
}

// takeAck processes an acknowledgement: the flow may end, go back to a missing packet, or pass
// it to its reaction point.
func (h *Host) takeAck(now units.Time, b []byte, hdr *wire.Header) (dataplane.Reason, bool) {
	bth := wire.BTH(b[hdr.BTH:])
	end := hdr.BTH + ackLen(bth.Extensions())
	if len(b) < end {
		return dataplane.DropMalformed, false
	}
	key := keyFrom(b[hdr.L3:], bth.DestQP())
	id := h.byPeer.Lookup(key)
	if !h.intact(b[:end], hdr, id) {
		return dataplane.DropBadICRC, false
	}
	if id == flowtable.None {
		return dataplane.DropUnknown, false
	}
	h.told.put(key.short(), id)
	if _, ok := h.acknowledged(now, id, b[hdr.BTH:end]); !ok {
		return dataplane.DropUnknown, false
	}
	return 0, true
}

// acknowledged takes a whole acknowledgement of a flow, from the base transport header on. ok is false
// if it has no meaning for the flow; silent means that nothing has to be done because of it.
func (h *Host) acknowledged(now units.Time, id int, b []byte) (silent, ok bool) {
	f := &h.flows[id]
	bth, aeth := wire.BTH(b), wire.AETH(b[wire.BTHLen:])
	ext, rest := bth.Extensions(), b[wire.BTHLen+wire.AETHLen:]
	if f.board != nil {
		if f.board.cause = noCause; ext&wire.ExtPlace != 0 {
			if psn, ok := place(rest, ext); ok {
				f.board.cause = psn
			}
		}
	}
	switch f.acknowledge(bth.PSN(), aeth.Syndrome(), aeth.MSN()) {
	case nothing:
		return false, false
	case complete:
		if f.listens && f.shared != nil { // other messages may share the reaction point, which needs the acknowledgement
			h.notifyRP(now, id, bth, ext, rest)
		}
		h.finish(now, id)
		return false, true
	case forgotten:
		h.beginAnew(now, id)
		return false, true
	case arrived:
		if f.listens {
			h.notifyRP(now, id, bth, ext, rest)
		}
		goes := h.goOn(now, id)
		return !h.reschedule(now, id) && !goes && !f.listens, true
	}
	return !h.reschedule(now, id), true
}

// beginAnew sends a flow again from its first packet on, because its receiver has forgotten it.
func (h *Host) beginAnew(now units.Time, id int) {
	f := &h.flows[id]
	if f.spec.FixedPSN || !f.requester.beginAnew(h.drawPSN(now), &h.patience) {
		h.giveUp(now, id, ErrForgotten)
		return
	}
	h.reschedule(now, id)
}

// goOn resumes a flow that had to wait for an acknowledgement, if it has more to send, and reports whether it has.
func (h *Host) goOn(now units.Time, id int) bool {
	f := &h.flows[id]
	if !f.awaiting {
		return false
	}
	if h.blocked(f) {
		if f.acked != f.mark && f.hasFew() { // the low timeout counts from the last progress on
			f.retries = 0
			f.requester.await(now, &h.patience)
			h.pacer.Wait(id, f.prio, f.deadline)
		}
		return false
	}
	f.awaiting = false
	h.pacer.Wait(id, f.prio, max(now, f.departure(now)))
	return true
}

// intact reports whether the ICRC of an acknowledgement is right; id is that of its
// flow, or flowtable.None.
func (h *Host) intact(b []byte, hdr *wire.Header, id int) bool {
	if id == flowtable.None || id >= len(h.heard) {
		return h.sealer.OK(b[hdr.L3:], hdr.BTH-hdr.L3)
	}
	a := &h.heard[id]
	if a.OK(b) {
		return true
	}
	if !h.sealer.OK(b[hdr.L3:], hdr.BTH-hdr.L3) {
		return false
	}
	a.Learn(b)
	return true
}

// notifyRP hands an acknowledgement of new packets to the flow's reaction point.
func (h *Host) notifyRP(now units.Time, id int, bth wire.BTH, ext uint8, rest []byte) {
	f := &h.flows[id]
	a, packet, next := &h.ack, f.acked-1, f.next
	if f.board != nil {
		packet, next = f.board.latest, max(f.next, f.high)
	}
	*a = ratelimit.Ack{Packet: packet + f.before(), Next: next + f.before(), CE: bth.BECN(), UE: bth.FECN()}
	if f.shared != nil {
		a.Packet, a.Next = f.shared.number(id, a.Packet, f.acked+f.before()), f.shared.packets
	}
	if ext&wire.ExtINT != 0 {
		a.Hops = wire.INT(rest[:wire.INTLen])
		rest = rest[wire.INTLen:]
	}
	if ext&wire.ExtPlace != 0 {
		rest = rest[wire.PlaceLen:]
	}
	if ext&wire.ExtStamp != 0 {
		if left := units.Time(binary.BigEndian.Uint64(rest)) - h.laps; left > 0 && left < now {
			a.RTT = now - left - h.config.Link.Rate.Serialize(units.Size(h.onWire(f, packet+1 == f.end)))
		}
	}
	f.acker.Ack(now, a)
}
