package agent

import (
	"photon/cnp"
	"photon/dataplane"
	"photon/flowtable"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// peer is what a receiver knows of a flow.
type peer struct {
	mac      wire.MAC
	srcPort  uint16
	expected uint32 // sequence number, 24 bits
	refused  bool   // a NAK was sent for expected
	queued   bool   // stands in the queue of acknowledgements
	syndrome uint8  // of the acknowledgement that is due
	acked    uint32 // its sequence number
	messages uint32
	frames   uint64 // taken in order
	bytes    uint64 // of them on the wire
	marked   uint64
	cnps     uint64
}

// ackQueue holds the flows to acknowledge, each at most once.
type ackQueue struct {
	slots      []int32
	head, tail uint32
}

func newAckQueue(capacity int) ackQueue {
	n := 1
	for n < capacity {
		n *= 2
	}
	return ackQueue{slots: make([]int32, n)}
}

func (q *ackQueue) empty() bool { return q.head == q.tail }

func (q *ackQueue) push(slot int) {
	q.slots[q.tail&uint32(len(q.slots)-1)] = int32(slot)
	q.tail++
}

func (q *ackQueue) pop() int {
	slot := q.slots[q.head&uint32(len(q.slots)-1)]
	q.head++
	return int(slot)
}

const psnMask = 1<<24 - 1

// Receive takes frames from the wire; all of them end here.
func (h *Host) Receive(now units.Time, _ int, burst []dataplane.Frame) {
	h.eg.Expire(now)
	for i := range burst {
		h.receive(now, burst[i])
		h.env.Free(burst[i])
	}
	h.env.Wake(0, h.Next(now, 0))
}

func (h *Host) receive(now units.Time, f dataplane.Frame) {
	st := &h.stats.Ports[0]
	b := h.env.Header(f)
	var hdr wire.Header
	if !wire.Parse(b, &hdr) {
		h.count(st, 0, f)
		st.Discards[dataplane.DropMalformed][0]++
		return
	}
	if hdr.EtherType == wire.TypeMACControl && !hdr.Tagged {
		st.RxControl++
		var p pfc.Frame
		if p.Decode(b) != nil {
			st.BadControl++
			return
		}
		h.eg.Receive(now, &p)
		return
	}
	prio := uint8(0)
	if hdr.L3 != 0 {
		prio = h.config.DSCP[hdr.TOS>>2]
	}
	h.count(st, prio, f)
	if drop, ok := h.take(now, f, b, &hdr); !ok {
		st.Discards[drop][prio]++
		return
	}
	h.ends[prio]++
}

func (h *Host) count(st *dataplane.PortStats, prio uint8, f dataplane.Frame) {
	st.RxFrames[prio]++
	st.RxBytes[prio] += uint64(f.Len)
}

// take handles a frame that is not MAC control, or says why it is discarded.
func (h *Host) take(now units.Time, f dataplane.Frame, b []byte, hdr *wire.Header) (why dataplane.Reason, ok bool) {
	if hdr.BTH == 0 {
		return dataplane.DropUnknown, false
	}
	src, dst := wire.Addresses(b[hdr.L3:])
	if dst != h.config.IP {
		return dataplane.DropUnknown, false
	}
	bth := wire.BTH(b[hdr.BTH:])
	switch bth.Opcode() {
	case wire.OpSendFirst, wire.OpSendMiddle, wire.OpSendLast, wire.OpSendOnly:
		return h.takeData(now, f, bth, hdr, src)
	case wire.OpCNP:
		return h.takeCNP(now, b, hdr, src)
	case wire.OpAcknowledge:
		return h.takeAck(now, b, hdr, src)
	}
	return dataplane.DropUnknown, false
}

func (h *Host) takeData(now units.Time, f dataplane.Frame, bth wire.BTH, hdr *wire.Header, src wire.IP) (dataplane.Reason, bool) {
	slot, fresh := h.table.Insert(peerKey{src, bth.DestQP()}, now)
	if slot == flowtable.None {
		if slot, fresh = h.makeRoom(now, peerKey{src, bth.DestQP()}); slot == flowtable.None {
			return dataplane.DropTable, false
		}
	}
	p := &h.peers[slot]
	if fresh {
		*p = peer{mac: hdr.Src, srcPort: hdr.SrcPort}
	}
	onWire := h.config.Link.WireBytes(int(f.Len))
	ecn := hdr.TOS & 3
	if ecn == wire.CE {
		p.marked++
		h.stats.NPMarked++
	}
	h.config.NP.Data(now, slot, ecn, onWire)
	psn := bth.PSN()
	switch ahead := (psn - p.expected) & psnMask; {
	case ahead == 0:
		p.expected = (psn + 1) & psnMask
		p.refused = false
		p.frames++
		p.bytes += uint64(onWire)
		if bth.AckRequest() {
			p.messages++
			h.queueAck(slot, wire.SyndromeACK, psn)
		}
	case ahead < 1<<23: // something before it is missing
		if !p.refused {
			p.refused = true
			h.queueAck(slot, wire.SyndromeNAK, p.expected)
		}
		return dataplane.DropSequence, false
	default: // seen before
		if bth.AckRequest() {
			h.queueAck(slot, wire.SyndromeACK, (p.expected-1)&psnMask)
		}
		return dataplane.DropSequence, false
	}
	return 0, true
}

// makeRoom forgets a flow that has been silent for long in favour of a new one.
func (h *Host) makeRoom(now units.Time, k peerKey) (int, bool) {
	old := h.table.Expire(now-h.config.Age, h.table.Cap())
	if old == flowtable.None || h.peers[old].queued {
		return flowtable.None, false
	}
	h.config.NP.Forget(old)
	h.table.Delete(old)
	return h.table.Insert(k, now)
}

func (h *Host) queueAck(slot int, syndrome uint8, psn uint32) {
	p := &h.peers[slot]
	p.syndrome, p.acked = syndrome, psn
	if !p.queued {
		p.queued = true
		h.acks.push(slot)
	}
}

// acknowledge makes the next ACK or NAK.
func (h *Host) acknowledge() (f dataplane.Frame, made, stop bool) {
	if f, made = h.env.Alloc(wire.RoCEMaxLen + ackLen); !made {
		return f, false, true
	}
	slot := h.acks.pop()
	p := &h.peers[slot]
	p.queued = false
	b := h.env.Header(f)
	r := h.reply(slot, h.config.AckDSCP)
	bth := r.Encode(b, ackLen)
	wire.BTH(b[bth:]).Encode(wire.OpAcknowledge, false, h.table.Key(slot).qp, false, p.acked)
	wire.AETH(b[bth+wire.BTHLen:]).Encode(p.syndrome, p.messages)
	f.Len = uint16(bth + ackLen)
	wire.SealICRC(b[wire.EthernetLen:f.Len], bth-wire.EthernetLen)
	return f, true, false
}

const ackLen = wire.BTHLen + wire.AETHLen + wire.ICRCLen

// takeCNP lets the reaction point of the flow that the CNP names act, and moves
// the flow's next departure to where the new rate puts it.
func (h *Host) takeCNP(now units.Time, b []byte, hdr *wire.Header, src wire.IP) (dataplane.Reason, bool) {
	qp, notice, err := cnp.Decode(b, hdr)
	if err != nil {
		h.stats.RPIgnored++
		return dataplane.DropBadICRC, false
	}
	id := h.byPeer.Lookup(peerKey{src, qp})
	if id == flowtable.None { // the flow may just have ended
		h.stats.RPIgnored++
		return 0, true
	}
	f := &h.flows[id]
	f.rp.Notify(now, notice.ECN, notice.Word)
	h.stats.RPHandled++
	if _, waiting := h.pacer.Waiting(id); waiting && !f.awaiting && f.frames > 0 {
		h.pacer.Wait(id, f.prio, max(now, f.departure(now)))
	}
	return 0, true
}

// takeAck ends a flow, or sends it back to the packet that is missing.
func (h *Host) takeAck(now units.Time, b []byte, hdr *wire.Header, src wire.IP) (dataplane.Reason, bool) {
	if len(b) < hdr.BTH+ackLen {
		return dataplane.DropMalformed, false
	}
	if !wire.ICRCOK(b[hdr.L3:hdr.BTH+ackLen], hdr.BTH-hdr.L3) {
		return dataplane.DropBadICRC, false
	}
	bth := wire.BTH(b[hdr.BTH:])
	id := h.byPeer.Lookup(peerKey{src, bth.DestQP()})
	if id == flowtable.None {
		return dataplane.DropUnknown, false
	}
	f := &h.flows[id]
	nak := wire.AETH(b[hdr.BTH+wire.BTHLen:]).Syndrome() >= wire.SyndromeNAK
	upTo := f.packet(bth.PSN())
	if !nak {
		upTo++
	}
	if upTo < f.acked || upTo > f.next {
		return dataplane.DropUnknown, false // of packets that were never sent, or acknowledged long ago
	}
	f.acked = upTo
	switch {
	case f.packets > 0 && upTo == f.packets:
		h.finish(now, id)
	case nak:
		f.next, f.awaiting = upTo, false
		if _, waiting := h.pacer.Waiting(id); waiting {
			h.pacer.Wait(id, f.prio, max(now, f.departure(now)))
		}
	}
	return 0, true
}

// packet returns the number of the packet that a sequence number means: the
// last one sent with these lower 24 bits.
func (f *flow) packet(psn uint32) uint64 {
	return f.next - uint64((uint32(f.next)-psn)&psnMask)
}

// PeerState is what a receiver knows of a flow.
type PeerState struct {
	IP     wire.IP
	QP     uint32
	Frames uint64 // taken in order
	Bytes  uint64 // of them on the wire
	Marked uint64 // arrived with CE
	CNPs   uint64 // sent
}

// Received returns what the host received of the flow from a peer; zero if nothing.
func (h *Host) Received(from wire.IP, qp uint32) PeerState {
	s := PeerState{IP: from, QP: qp}
	if slot := h.table.Lookup(peerKey{from, qp}); slot != flowtable.None {
		p := &h.peers[slot]
		s.Frames, s.Bytes, s.Marked, s.CNPs = p.frames, p.bytes, p.marked, p.cnps
	}
	return s
}
