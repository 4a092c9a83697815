package agent

import (
	"photon/cnp"
	"photon/fabric"
	"photon/flowtable"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// fromWire consumes what is meant for the NIC, shows the rest to the
// notification point and queues it for the application.
func (n *NIC) fromWire(now units.Time, f fabric.Frame) {
	b := n.env.Header(f)
	var h wire.Header
	f.Prio, f.Digest = 0, 0 // it may be written to
	if !wire.Parse(b, &h) {
		n.count(Wire, f)
		n.discard(Wire, f, fabric.DropMalformed)
		return
	}
	if h.EtherType == wire.TypeMACControl && !h.Tagged {
		n.controlled(now, &h, b)
		n.env.Free(f)
		return
	}
	f.Prio = n.priority(&h)
	n.count(Wire, f)
	if !h.Dst.Multicast() && n.here.Lookup(h.Dst) == flowtable.None {
		n.toStranger(now, f, b, &h)
		return
	}
	switch {
	case isProbe(&h): // only switches forward probes: a NIC never pauses a port because its peer paused it
		n.consume(f, false)
		return
	case h.EtherType == wire.TypeCNM:
		n.consume(f, n.takeCNM(now, b, &h))
		return
	case isCNP(b, &h):
		n.consume(f, n.takeCNP(now, b, &h))
		return
	case isShim(b, &h):
		if wire.BTH(b[h.BTH:]).Opcode() == wire.OpShimEcho {
			n.consume(f, n.takeEcho(now, b, &h))
		} else {
			n.fromNIC(now, f, &h)
		}
		return
	}
	if h.CNTagged && n.config.Carry.Tag {
		b = n.untag(&f, &h)
	}
	n.connections.follow(now, n.config.Age, b, &h, false)
	if n.config.Judged>>f.Prio&1 != 0 && h.TOS&3 != wire.NotECT {
		// Answers are not paced, so their marks cause no CNP.
		if key, ok := classify(b, &h, f.Prio, false); ok && !isAnswer(b, &h) {
			n.showNP(now, key, &h, h.TOS&3, f)
		}
		if n.config.ClearCE {
			n.clear(b, &h)
		}
	}
	n.give(f, &h)
}

// controlled applies a PFC or PAUSE frame to what the wire port sends.
func (n *NIC) controlled(now units.Time, h *wire.Header, b []byte) {
	st := &n.stats.Ports[Wire]
	st.RxControl++
	var p pfc.Frame
	if !pfc.Addressed(h) || p.Decode(b) != nil {
		st.BadControl++
		return
	}
	n.env.ReportPause(now, Wire, p)
	if obey, ok := n.delayed.pause(now, &p); ok {
		n.obey(now, &obey)
	}
}

// consume ends a notification.
func (n *NIC) consume(f fabric.Frame, malformed bool) {
	if malformed {
		n.discard(Wire, f, fabric.DropMalformed)
		return
	}
	n.ended[f.Prio]++
	n.env.Free(f)
}

// showNP passes a frame that arrived with a codepoint to the notification point, and
// returns the flow's slot, or None if there is no room for it. A frame without ECN
// comes from a sender that has no reaction point.
func (n *NIC) showNP(now units.Time, key appKey, h *wire.Header, ecn uint8, f fabric.Frame) int {
	slot, fresh := n.table.Insert(key, now)
	if slot == flowtable.None {
		old := n.table.ExpireIf(expiryVisits, func(slot int) bool { return n.toldAll(now, slot) })
		if old == flowtable.None {
			n.stats.NIC.Untracked++
			return flowtable.None
		}
		n.config.NP.Forget(old)
		n.table.Delete(old)
		slot, fresh = n.table.Insert(key, now)
	}
	if fresh {
		n.peers[slot] = appPeer{srcPort: h.SrcPort}
	}
	p := &n.peers[slot]
	p.here, p.there = h.Dst, h.Src
	if ecn == wire.CE {
		n.stats.NPMarked++
	}
	n.config.NP.Data(now, slot, ecn, n.config.Link.WireBytes(int(f.Len)))
	return slot
}

// toldAll reports whether a received flow that is silent may be forgotten: its sender was told all that there was to
// tell, and one that goes on is notified no more often than before.
func (n *NIC) toldAll(now units.Time, slot int) bool {
	if n.peers[slot].echoes > 0 || n.delayed.waits(slot) {
		return false
	}
	silent := now - n.table.Seen(slot)
	np, ok := n.config.NP.(cnp.Elastic)
	return silent > n.config.Age || silent > n.config.Period && ok && np.Quiet(slot)
}

// clear takes the network's mark off a frame. The application's own codepoint is
// not known any more; ECT(0) is what applications send.
func (n *NIC) clear(b []byte, h *wire.Header) {
	if h.TOS&3 == wire.CE || n.config.Carry.ECT == wire.ECT1 && h.TOS&3 == wire.ECT1 {
		wire.SetECN(b[h.L3:], wire.ECT0)
		n.stats.NIC.Cleared++
	}
}

// untag takes off the tag that the sending NIC put on.
func (n *NIC) untag(f *fabric.Frame, h *wire.Header) []byte {
	b := n.env.Header(*f)
	at := h.Payload - 2 - wire.CNTagLen
	copy(b[wire.CNTagLen:], b[:at])
	f.Off += wire.CNTagLen
	f.Len -= wire.CNTagLen
	b = n.env.Header(*f)
	wire.Parse(b, h)
	return b
}

// give queues a frame for the application, or drops it if it is longer than the application's interface takes, or if too
// much waits: of lossless priorities an XOFF has stopped the peer long before.
func (n *NIC) give(f fabric.Frame, h *wire.Header) {
	if int(f.Len) > n.config.MTU+h.Payload {
		n.discard(Wire, f, fabric.DropOversize)
		return
	}
	q := &n.up[f.Prio]
	lossy := n.config.Lossless>>f.Prio&1 == 0
	if lossy && (units.Size(q.bytes+int(f.Len)) > n.config.Tail || n.config.Lossy > 0 && n.upLossy >= n.config.Lossy) {
		n.discard(Wire, f, fabric.DropTail)
		return
	}
	if !n.in.Admit(f.Prio, int64(f.Len)) {
		n.discard(Wire, f, fabric.DropHeadroom)
		return
	}
	if n.upCells.push(q, f); lossy {
		n.upLossy++
	}
	n.given[f.Prio]++
	n.upReady |= 1 << f.Prio
	p := &n.stats.Ports[Application].QueuePeak[f.Prio]
	*p = max(*p, units.Size(q.bytes))
}

// takeCNP lets the reaction point of the flow that a CNP names act. It reports
// whether the CNP is malformed.
func (n *NIC) takeCNP(now units.Time, b []byte, h *wire.Header) (malformed bool) {
	qp, notice, err := cnp.Decode(b, h)
	if err != nil {
		n.refuse(fabric.CNPMalformed)
		return true
	}
	key, named := keyOfCNP(b, h, qp)
	id := flowtable.None
	if !named { // the standard form, unless the other end has no other name for its queue pair
		if peer, ok := n.connections.peer(connection{key.here, key.there, qp}); ok {
			standard := key
			standard.name = peer
			id = n.notified(standard)
		}
	}
	if id == flowtable.None {
		id = n.notified(key)
	}
	if id == flowtable.None {
		n.refuse(fabric.CNPUnknown)
		return false
	}
	n.react(now, id, notice.ECN, notice.Word)
	return false
}

// notified is the slot of the flow of a key whose priority is not known, or None.
func (n *NIC) notified(key appKey) int {
	for key.prio = range uint8(pfc.Classes) {
		if n.config.Judged>>key.prio&1 == 0 {
			continue // CNPs are only about the scheme's priorities
		}
		if id := n.byKey.Lookup(key); id != flowtable.None {
			return id
		}
	}
	return flowtable.None
}

// takeCNM does the same with QCN's message, which must come about a frame that
// the flow could have sent.
func (n *NIC) takeCNM(now units.Time, b []byte, h *wire.Header) (malformed bool) {
	m, err := cnp.DecodeCNM(b, h)
	if err != nil || h.Dst.Multicast() {
		n.refuse(fabric.CNPMalformed)
		return true
	}
	id := int(m.FlowID)
	if !n.config.Carry.Tag || !m.Tagged || id >= len(n.flows) || !n.flows[id].active() || n.flows[id].peer != m.Dst {
		n.refuse(fabric.CNPUnknown)
		return false
	}
	n.react(now, id, wire.NotECT, uint32(m.QntzFb))
	return false
}

func (n *NIC) refuse(why fabric.CNPRefusal) {
	n.stats.RPIgnored++
	n.stats.NIC.Refused[why]++
}

// react passes a notification to a flow's reaction point, unless nothing of the flow has left or
// the period's notification was accepted: one per period on average, early by half a period at
// most, since their delays differ.
func (n *NIC) react(now units.Time, id int, ecn uint8, word uint32) {
	f := &n.flows[id]
	switch {
	case f.frames == 0:
		n.refuse(fabric.CNPNotSent)
		return
	case now < f.nextNotice-n.config.Period/2:
		n.refuse(fabric.CNPTooSoon)
		return
	}
	f.nextNotice = max(now, f.nextNotice) + n.config.Period
	f.lastNotice = now
	f.rp.Notify(now, ecn, word)
	f.notified++
	n.stats.RPHandled++
	n.replace(now, id)
	if _, waiting := n.pacer.Waiting(id); waiting && !f.awaiting {
		n.pacer.Wait(id, f.prio, f.departure(now, n.pacer))
	}
}
