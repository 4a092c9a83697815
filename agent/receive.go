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
	acks     uint32 // of its acknowledgements that wait to be sent
	lastAck  uint32 // place of the last of them in the queue
	messages uint32
	frames   uint64 // taken in order
	bytes    uint64 // of them on the wire
	marked   uint64
	cnps     uint64
}

const psnMask = 1<<24 - 1

// Receive takes frames from the wire; all of them end here.
func (h *Host) Receive(now units.Time, _ int, burst []dataplane.Frame) {
	h.expire(now)
	for i := range burst {
		h.receive(now, burst[i])
		h.env.Free(burst[i])
	}
	h.delayed.decide(now, h.config.NP)
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
	if hdr.EtherType == wire.TypeMACControl && hdr.Payload == wire.EthernetLen {
		st.RxControl++
		var p pfc.Frame
		if p.Decode(b) != nil {
			st.BadControl++
			return
		}
		if obey, ok := h.delayed.pause(now, &p); ok {
			h.obey(now, &obey)
		}
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

// expire ends the pauses whose time has run out.
func (h *Host) expire(now units.Time) {
	h.obeyDue(now)
	if h.eg.Expire(now) != 0 {
		h.pauses()
	}
}

// pauses notes, for the reaction points, when each priority was paused last.
func (h *Host) pauses() {
	for prio := range h.ports {
		h.ports[prio].Note(h.eg.Last(prio))
	}
}

// Paused is the set of priorities that the peer has stopped.
func (h *Host) Paused() uint8 { return h.eg.Paused() }

// take handles a frame that is not MAC control, or says why it is discarded.
func (h *Host) take(now units.Time, f dataplane.Frame, b []byte, hdr *wire.Header) (why dataplane.Reason, ok bool) {
	if hdr.EtherType == wire.TypeCNM {
		return h.takeCNM(now, b, hdr)
	}
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
		return h.takeData(now, f, b, hdr, src)
	case wire.OpCNP:
		return h.takeCNP(now, b, hdr, src)
	case wire.OpAcknowledge:
		return h.takeAck(now, b, hdr, src)
	}
	return dataplane.DropUnknown, false
}

func (h *Host) takeData(now units.Time, f dataplane.Frame, b []byte, hdr *wire.Header, src wire.IP) (dataplane.Reason, bool) {
	bth := wire.BTH(b[hdr.BTH:])
	slot, fresh := h.slotOf(peerKey{src, bth.DestQP()}, now)
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
		if op := bth.Opcode(); op == wire.OpSendLast || op == wire.OpSendOnly {
			p.messages++
		}
		if bth.AckRequest() {
			h.queueAck(slot, wire.SyndromeACK, psn, b, hdr)
		}
	case ahead < 1<<23: // something before it is missing
		if !p.refused {
			p.refused = true
			h.queueAck(slot, wire.SyndromeNAK, p.expected, b, hdr)
		}
		return dataplane.DropSequence, false
	default: // seen before
		if bth.AckRequest() {
			h.queueAck(slot, wire.SyndromeACK, (p.expected-1)&psnMask, b, hdr)
		}
		return dataplane.DropSequence, false
	}
	return 0, true
}

// slotOf is Insert of the table of received flows. Packets of a flow often come
// one after the other.
func (h *Host) slotOf(k peerKey, now units.Time) (slot int, fresh bool) {
	if h.recent.known && h.recent.key == k {
		h.table.Touch(h.recent.slot, now)
		return h.recent.slot, false
	}
	slot, fresh = h.table.Insert(k, now)
	h.recent.key, h.recent.slot, h.recent.known = k, slot, slot != flowtable.None
	return slot, fresh
}

// makeRoom forgets a flow that has been silent for long in favour of a new one.
func (h *Host) makeRoom(now units.Time, k peerKey) (int, bool) {
	old := h.table.Expire(now-h.config.Age, h.table.Cap())
	if old == flowtable.None || h.peers[old].acks > 0 || h.delayed.waits(old) {
		return flowtable.None, false
	}
	h.config.NP.Forget(old)
	h.table.Delete(old)
	h.recent.known = false
	return h.table.Insert(k, now)
}

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
	h.react(now, id, notice.ECN, notice.Word)
	return 0, true
}

// takeCNM does the same with QCN's message. It must come about a frame that the
// flow could have sent.
func (h *Host) takeCNM(now units.Time, b []byte, hdr *wire.Header) (dataplane.Reason, bool) {
	m, err := cnp.DecodeCNM(b, hdr)
	if err != nil || hdr.Dst != h.config.MAC {
		h.stats.RPIgnored++
		return dataplane.DropMalformed, false
	}
	id := int(m.FlowID)
	if !m.Tagged || id >= len(h.flows) || !h.flows[id].active || h.flows[id].spec.PeerMAC != m.Dst {
		h.stats.RPIgnored++
		return 0, true
	}
	h.react(now, id, wire.NotECT, uint32(m.QntzFb))
	return 0, true
}

func (h *Host) react(now units.Time, id int, ecn uint8, word uint32) {
	h.flows[id].rp.Notify(now, ecn, word)
	h.flows[id].notified++
	h.stats.RPHandled++
	h.reschedule(now, id)
}

// reschedule moves a flow's next departure to where its rate now puts it. A
// flow that stands at the port already keeps its place.
func (h *Host) reschedule(now units.Time, id int) {
	f := &h.flows[id]
	if f.shared != nil && !(f.gone && !f.awaiting) {
		h.repace(now, f.shared)
		return
	}
	if _, waiting := h.pacer.Waiting(id); waiting && !f.awaiting && f.frames() > 0 {
		h.pacer.Wait(id, f.prio, max(now, f.departure(now)))
	}
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
