package agent

import (
	"photon/cnp"
	"photon/fabric"
	"photon/flowtable"
	"photon/units"
	"photon/wire"
)

// CNPs that a host sends as receiver of flows, and what comes of the CNPs and CNMs that it gets as their sender.

// cnpDue is when the next CNP may leave.
func (h *Host) cnpDue() units.Time {
	if !h.noShortcuts {
		return h.npNext
	}
	return h.delayed.cnpDue(h.npNext)
}

// notify makes the next CNP. There may be none although one was expected, if
// its flow was forgotten; stop says that there is no memory for one.
func (h *Host) notify(now units.Time) (f fabric.Frame, made, stop bool) {
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
	o := &h.origins[slot]
	return wire.RoCE{DstMAC: o.mac, SrcMAC: h.config.MAC, Src: h.config.IP, Dst: h.table.Key(slot).ip(), TOS: dscp << 2, SrcPort: o.port}
}

// takeCNP lets the reaction point of the flow that the CNP names act, and moves
// the flow's next departure to where the new rate puts it.
func (h *Host) takeCNP(now units.Time, b []byte, hdr *wire.Header) (fabric.Reason, bool) {
	qp, notice, err := cnp.Decode(b, hdr)
	if err != nil {
		h.stats.RPIgnored++
		return fabric.DropBadICRC, false
	}
	id := h.byPeer.Lookup(keyFrom(b[hdr.L3:], qp))
	if id == flowtable.None || !h.flows[id].accepts(now, h.config.Period) { // the flow may just have ended
		h.stats.RPIgnored++
		return 0, true
	}
	h.react(now, id, notice.ECN, notice.Word)
	return 0, true
}

// takeCNM does the same with QCN's message. It must come about a frame that the flow could have sent.
func (h *Host) takeCNM(now units.Time, b []byte, hdr *wire.Header) (fabric.Reason, bool) {
	m, err := cnp.DecodeCNM(b, hdr)
	if err != nil || hdr.Dst != h.config.MAC {
		h.stats.RPIgnored++
		return fabric.DropMalformed, false
	}
	id := int(m.FlowID)
	if !m.Tagged || id >= len(h.flows) || !h.flows[id].active() || h.flows[id].spec.PeerMAC != m.Dst || !h.flows[id].accepts(now, h.config.Period) {
		h.stats.RPIgnored++
		return 0, true
	}
	h.react(now, id, wire.NotECT, uint32(m.QntzFb))
	return 0, true
}

// accepts reports whether a notification counts: the flow has sent something, and was not notified a period ago or
// less; early by half of one at most, since not all take equally long. Without a period all count.
func (f *flow) accepts(now, period units.Time) bool {
	if period == 0 {
		return true
	}
	if f.frames() == 0 || now < f.nextNotice-period/2 {
		return false
	}
	f.nextNotice = max(now, f.nextNotice) + period
	return true
}

func (h *Host) react(now units.Time, id int, ecn uint8, word uint32) {
	f := &h.flows[id]
	f.rp.Notify(now, ecn, word)
	f.cacheGap(now)
	f.notified++
	h.stats.RPHandled++
	h.reschedule(now, id)
}
