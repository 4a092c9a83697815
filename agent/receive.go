package agent

import (
	"encoding/binary"

	"photon/fabric"
	"photon/flowtable"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// peer is what a receiver knows of a flow: a line of the cache.
type peer struct {
	key      shortKey   // 0: it has none, or there is no such flow
	lastSeen units.Time // its last packet
	responder
	lastAck uint32 // place of the last of its acknowledgements in the queue
	acks    uint16 // of its acknowledgements that wait to be sent, at most moreAcks
	watched bool   // a flow waits for a packet before the last, see origin
	frames  uint64 // taken in order
	bytes   uint64 // of them on the wire
	marked  uint64
}

// origin is what few packets of a received flow need: where they come from, and what was before.
type origin struct {
	mac     wire.MAC
	port    uint16
	retired retired
	cnps    uint64

	milestone uint64 // after so many packets Config.Reached is to be called
}

// Receive takes frames from the wire; all of them end here.
func (h *Host) Receive(now units.Time, _ int, burst []fabric.Frame) {
	before, silent := h.npNext, now < h.attend
	if !silent {
		h.expire(now)
	}
	for i := range burst {
		if h.credit != nil {
			h.countBlocks(&burst[i])
		}
		silent = h.receive(now, &burst[i]) && silent
		h.env.Free(burst[i])
	}
	if h.attend == 0 {
		h.reportMilestones(now)
		silent = false
	}
	if h.noShortcuts {
		h.delayed.decide(now, (*remembered)(h))
	} else if silent && h.npNext == before {
		return // nothing has come nearer
	}
	if h.env.Due(0) > now { // it is not called before
		h.env.Wake(0, h.Next(now, 0))
	}
}

// receive takes a frame. It reports that there is no more to do by that than there
// was, but for what the notification point may have to say.
func (h *Host) receive(now units.Time, f *fabric.Frame) (silent bool) {
	if silent, ok := h.known(now, f); ok {
		return silent
	}
	return h.any(now, f)
}

// any is receive of any frame.
func (h *Host) any(now units.Time, f *fabric.Frame) (silent bool) {
	b := h.env.Bytes(f)
	var hdr wire.Header
	if !wire.Parse(b, &hdr) {
		h.count(0, f.Len)
		h.discard(now, fabric.DropMalformed, 0)
		return true
	}
	if hdr.EtherType == wire.TypeMACControl && hdr.Payload == wire.EthernetLen {
		st := &h.stats.Ports[0]
		st.RxControl++
		if !pfc.Addressed(&hdr) {
			st.BadControl++
			return false
		}
		if h.credit != nil {
			h.processCredits(now, b)
			return false
		}
		var p pfc.Frame
		if p.Decode(b) != nil {
			st.BadControl++
			return true
		}
		h.env.ReportPause(now, 0, p)
		if obey, ok := h.delayed.pause(now, &p); ok {
			h.obey(now, &obey)
		}
		h.note()
		return false
	}
	prio := uint8(0)
	if hdr.L3 != 0 {
		prio = h.prio(hdr.TOS)
	}
	h.count(prio, f.Len)
	if drop, ok := h.take(now, f.Len, b, &hdr); !ok {
		h.discard(now, drop, prio)
		return false
	}
	h.lane(prio).ends++
	return hdr.BTH != 0 && wire.BTH(b[hdr.BTH:]).Opcode() <= wire.OpSendOnly && h.acks.empty()
}

func (h *Host) count(prio uint8, length uint16) *lane {
	l := h.lane(prio)
	l.rxFrames++
	l.rxBytes += uint64(length)
	return l
}

// expire obeys the PFC frames whose time has come, and ends the pauses whose time has run out.
func (h *Host) expire(now units.Time) {
	if now < h.attend {
		return
	}
	for p, at := h.delayed.duePause(now); p != nil; p, at = h.delayed.duePause(now) {
		h.obey(at, p)
	}
	if h.egress.Expire(now) != 0 {
		h.pauses()
	}
	h.note()
}

// pauses notes, for the reaction points, when each priority was paused last.
func (h *Host) pauses() {
	for prio := range h.ports {
		h.ports[prio].Note(h.stops().Last(prio))
	}
}

// stops says which priorities must not be sent.
func (h *Host) stops() pfc.Stops {
	if h.credit != nil {
		return h.credit
	}
	return &h.egress
}

// Paused is the set of priorities that the peer has stopped.
func (h *Host) Paused() uint8 { return h.stops().Paused() }

// take handles a frame that is not MAC control, or says why it is discarded.
func (h *Host) take(now units.Time, length uint16, b []byte, hdr *wire.Header) (why fabric.Reason, ok bool) {
	if hdr.EtherType == wire.TypeCNM {
		return h.takeCNM(now, b, hdr)
	}
	if hdr.BTH == 0 {
		return fabric.DropUnknown, h.hear(length, b, hdr)
	}
	if !h.isDestination(b[hdr.L3:]) {
		return fabric.DropUnknown, false
	}
	if h.whole {
		if why, bad := h.refused(b[hdr.L3:], hdr.Dst, int(length)-hdr.L3); bad {
			return why, false
		}
	}
	bth := wire.BTH(b[hdr.BTH:])
	if q := h.pairs.find(keyFrom(b[hdr.L3:], bth.DestQP())); q != nil && bth.Opcode() != wire.OpCNP {
		return h.takePair(now, length, b, hdr, q)
	}
	switch bth.Opcode() {
	case wire.OpSendFirst, wire.OpSendMiddle, wire.OpSendLast, wire.OpSendOnly:
		return h.takeData(now, length, b, hdr)
	case wire.OpCNP:
		return h.takeCNP(now, b, hdr)
	case wire.OpAcknowledge:
		return h.takeAck(now, b, hdr)
	}
	return fabric.DropUnknown, false
}

func (h *Host) takeData(now units.Time, length uint16, b []byte, hdr *wire.Header) (fabric.Reason, bool) {
	if h.env.Whole(int(length)) && !h.dataIntact(b, hdr.L3, hdr.BTH) {
		return fabric.DropBadICRC, false
	}
	key := keyFrom(b[hdr.L3:], wire.BTH(b[hdr.BTH:]).DestQP())
	slot, fresh := h.table.Insert(key, now)
	if slot == flowtable.None {
		if slot, fresh = h.makeRoom(now, key); slot == flowtable.None {
			return fabric.DropTable, false
		}
	}
	if fresh {
		h.morePeers()
		h.peers[slot], h.origins[slot] = peer{key: key.short()}, origin{}
		h.recall(slot, key)
		h.noteOrigin(slot, hdr.Src, hdr.SrcPort)
		if h.config.Next != nil {
			h.watch(slot, &h.peers[slot])
		}
	}
	h.receivedSlots.put(key.short(), slot)
	begun := h.peers[slot].start
	why, ok := h.takeKnownData(now, slot, length, b[hdr.BTH:], hdr.TOS)
	if ok && h.peers[slot].start != begun { // its sender may be another
		h.noteOrigin(slot, hdr.Src, hdr.SrcPort)
	}
	return why, ok
}

// refused says why a packet that begins with its IP header is not the host's to take, if so: it is for another
// station, or its header is broken (RFC 1122 section 3.2.1.2), where ECN, DSCP and the time to live are in no
// ICRC. The checksum of UDP is not looked at: the ICRC covers all that it covers.
func (h *Host) refused(ip []byte, to wire.MAC, length int) (why fabric.Reason, bad bool) {
	switch {
	case to != h.config.MAC:
		return fabric.DropUnknown, true
	case !wire.HeaderOK(ip, length):
		if mtu := h.config.MTU; mtu > 0 && length > mtu { // buffers hold little more than that: the rest was cut off
			return fabric.DropOversize, true
		}
		return fabric.DropBadIP, true
	}
	return 0, false
}

// noteOrigin notes where packets of a received flow come from: answers go there.
func (h *Host) noteOrigin(slot int, mac wire.MAC, port uint16) {
	if o := &h.origins[slot]; o.mac != mac || o.port != port {
		o.mac, o.port = mac, port
		if slot < len(h.ackHeadsSent) {
			h.ackHeadsSent[slot].Forget()
		}
	}
}

// dataIntact reports whether the ICRC of a data packet is right. The world must keep it whole; short frames
// have padding behind it.
func (h *Host) dataIntact(b []byte, l3, bth int) bool {
	end := bth - wire.UDPLen + int(binary.BigEndian.Uint16(b[bth-wire.UDPLen+4:]))
	return end <= len(b) && end >= bth+wire.BTHLen+wire.ICRCLen && h.sealer.OK(b[l3:end], bth-l3)
}

// takeKnownData takes a data packet of the flow of a slot, from the base transport header on.
func (h *Host) takeKnownData(now units.Time, slot int, length uint16, b []byte, tos uint8) (fabric.Reason, bool) {
	p := &h.peers[slot]
	p.lastSeen = now
	bth := wire.BTH(b)
	_ = bth[wire.BTHLen-1]
	onWire := h.onLink(int(length))
	ecn := tos & 3
	if ecn == wire.CE {
		p.marked++
		h.stats.NPMarked++
	}
	h.np.Data(now, slot, ecn, onWire)
	h.npNext = h.np.Next()
	psn := bth.PSN()
	verdict := inOrder
	if h.selective {
		var ok bool
		if verdict, ok = h.judge(p, slot, psn, b); !ok {
			return fabric.DropMalformed, false
		}
		if verdict == inOrder {
			psn = (p.expected - 1) & psnMask // all before it are acknowledged, too
		}
	} else if !p.takeMiddle(psn, bth.Opcode()) {
		verdict = p.take(psn, bth.Opcode(), &h.origins[slot].retired)
	}
	switch verdict {
	case inOrder, placed:
		p.frames++
		p.bytes += uint64(onWire)
		if p.watched || p.epoch == wholeEpoch && h.config.Reached != nil {
			h.arrivedAt(slot, p)
		}
		if verdict == placed {
			h.queueAck(p, slot, wire.SyndromeNAK, p.expected, psn, b, tos)
		} else if bth.AckRequest() {
			h.queueAck(p, slot, wire.SyndromeACK, psn, noCause, b, tos)
		}
		return 0, true
	case placedBefore:
		h.queueAck(p, slot, wire.SyndromeNAK, p.expected, psn, b, tos)
	case duplicate: // its acknowledgement may have been lost
		h.queueAck(p, slot, wire.SyndromeACK, (p.expected-1)&psnMask, noCause, b, tos)
	case stale: // so may that of an earlier epoch; else the sender learns which epoch is the present one
		h.acknowledgeStale(p, slot, psn, b, tos)
	case tooEarly:
		if p.refuse(psn, h.origins[slot].retired.epochs != nil) {
			h.queueAck(p, slot, wire.SyndromeNAK, p.expected, noCause, b, tos)
		}
	case stranger:
		if p.refuse(psn, true) {
			h.queueAck(p, slot, wire.SyndromeInvalid, psn, noCause, b, tos)
		}
	}
	return fabric.DropSequence, false
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
	if slot := h.table.Lookup(keyOf(from, qp)); slot != flowtable.None {
		p := &h.peers[slot]
		s.Frames, s.Bytes, s.Marked, s.CNPs = p.frames, p.bytes, p.marked, h.origins[slot].cnps
	}
	return s
}
