package agent

import (
	"encoding/binary"

	"photon/fabric"
	"photon/flowtable"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// takeAck ends a flow, or sends it back to the packet that is missing, or lets its reaction point know.
func (h *Host) takeAck(now units.Time, b []byte, hdr *wire.Header) (fabric.Reason, bool) {
	bth := wire.BTH(b[hdr.BTH:])
	end := hdr.BTH + ackLen(bth.Extensions())
	if len(b) < end {
		return fabric.DropMalformed, false
	}
	key := keyFrom(b[hdr.L3:], bth.DestQP())
	id := h.byPeer.Lookup(key)
	if !h.intact(b[:end], hdr, id) {
		return fabric.DropBadICRC, false
	}
	if id == flowtable.None {
		return fabric.DropUnknown, false
	}
	h.sentSlots.put(key.short(), id)
	if _, ok := h.takeKnownAck(now, id, b[hdr.BTH:end]); !ok {
		return fabric.DropUnknown, false
	}
	return 0, true
}

// takeKnownAck takes a whole acknowledgement of the flow of a slot, from the base transport header on. It is not ok if it
// means nothing. If it is silent, then there is no more to do than before.
func (h *Host) takeKnownAck(now units.Time, id int, b []byte) (silent, ok bool) {
	f := &h.flows[id]
	bth, aeth := wire.BTH(b), wire.AETH(b[wire.BTHLen:])
	if f.scoreboard != nil {
		f.scoreboard.cause = noCause
		if psn, ok := place(b[wire.BTHLen+wire.AETHLen:], bth.Extensions()); ok {
			f.scoreboard.cause = psn
		}
	}
	syndrome := aeth.Syndrome()
	if syndrome == wire.SyndromeNAK {
		h.stats.NAKs++
	}
	switch f.acknowledge(bth.PSN(), syndrome, aeth.MSN()) {
	case nothing:
		return false, false
	case complete:
		if f.wantsAcks && f.shared != nil { // there may be other messages, which it is to know for
			h.passAckToRP(now, id, b)
		}
		h.finish(now, id)
		return false, true
	case forgotten:
		h.startAgain(now, id)
		return false, true
	case arrived:
		if f.wantsAcks {
			h.passAckToRP(now, id, b)
		}
		goes := h.resume(now, id)
		return !h.reschedule(now, id) && !goes && !f.wantsAcks, true
	}
	return !h.reschedule(now, id), true
}

// intact reports whether the ICRC of an acknowledgement is right; id is that of its flow, or flowtable.None.
func (h *Host) intact(b []byte, hdr *wire.Header, id int) bool {
	known := id != flowtable.None && id < len(h.ackHeadsTaken)
	if known && h.ackHeadsTaken[id].OK(b) {
		return true
	}
	ok := h.sealer.OK(b[hdr.L3:], hdr.BTH-hdr.L3)
	if ok && known {
		h.ackHeadsTaken[id].Learn(b)
	}
	return ok
}

// passAckToRP hands an acknowledgement of new packets to the flow's reaction point.
func (h *Host) passAckToRP(now units.Time, id int, b []byte) {
	f, bth := &h.flows[id], wire.BTH(b)
	a, packet, next := &h.ack, f.acked-1, f.next
	if f.scoreboard != nil {
		packet, next = f.scoreboard.latest, f.neverSent()
	}
	*a = ratelimit.Ack{Packet: f.ordinal(packet), Next: f.ordinal(next), CE: bth.BECN(), UE: bth.FECN()}
	if f.shared != nil {
		a.Packet, a.Next = f.shared.number(id, a.Packet, f.ordinal(f.acked)), f.shared.packets
	}
	telemetry, _, stamp := extensions(b[wire.BTHLen+wire.AETHLen:], bth.Extensions())
	a.Hops = wire.INT(telemetry)
	if stamp != nil {
		if left := units.Time(binary.BigEndian.Uint64(stamp)) - h.laps; left > 0 && left < now {
			a.RTT = now - left - h.config.Link.Rate.Serialize(units.Size(h.onWire(f, packet+1 == f.end)))
		}
	}
	f.acker.Ack(now, a)
}
