package agent

import (
	"photon/cnp"
	"photon/dataplane"
	"photon/flowtable"
	"photon/units"
	"photon/wire"
)

// takeCNP lets the reaction point of the flow that the CNP names act, and moves
// the flow's next departure to where the new rate puts it.
func (h *Host) takeCNP(now units.Time, b []byte, hdr *wire.Header) (dataplane.Reason, bool) {
	qp, notice, err := cnp.Decode(b, hdr)
	if err != nil {
		h.stats.RPIgnored++
		return dataplane.DropBadICRC, false
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
func (h *Host) takeCNM(now units.Time, b []byte, hdr *wire.Header) (dataplane.Reason, bool) {
	m, err := cnp.DecodeCNM(b, hdr)
	if err != nil || hdr.Dst != h.config.MAC {
		h.stats.RPIgnored++
		return dataplane.DropMalformed, false
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
	f.keepGap(now)
	f.notified++
	h.stats.RPHandled++
	h.reschedule(now, id)
}
