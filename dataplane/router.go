package dataplane

import (
	"net/netip"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// The little that a router says itself, so that hosts find it: answers to ARP
// requests, to neighbour solicitations and to echo requests. Each is written over
// what asked, and leaves through the port where that came in. A host that is about to take an address of the router's
// is told so. Left out: that the router itself asks whether an address is taken.

// bounce makes a frame an answer to its sender. It leaves behind what came before it (sendPending).
func (s *Switch) bounce(p *switchPort, f *fabric.Frame) {
	b := p.env.Bytes(f)
	copy(b[:6], b[6:12])
	s.routes.mac.Put(b[6:])
	f.Digest = 0
	p.worker.pending = ownPacket{*f, s.lanOf(p, b)}
}

// answer answers an ARP request or a neighbour solicitation for an address of the
// router, and reports whether the frame was one.
func (s *Switch) answer(now units.Time, p *switchPort, f *fabric.Frame, h *wire.Header) bool {
	b := p.env.Bytes(f)
	if s.routes.neighbours != nil {
		answer, asked := s.learnNeighbour(p, f, h)
		switch {
		case !answer || h.Dst != s.routes.mac:
		case asked: // it has done what it was for, and is no loss
			p.taken[f.Prio&7]++
			p.env.Free(*f)
			return true
		default:
			s.discard(now, p, f, fabric.DropToRouter)
			return true
		}
	}
	toAll := false
	switch {
	case h.EtherType == wire.TypeARP:
		target, ok := wire.ARPTarget(b[h.Payload:])
		if !ok || !s.routes.isOwn(target) {
			return false
		}
		wire.AnswerARP(b[h.Payload:], s.routes.mac)
	case h.EtherType == wire.TypeIPv6 && h.Proto == wire.ProtoICMPv6:
		target, ok := wire.SolicitationTarget(b[h.L3:], int(f.Len)-h.L3)
		if !ok || !s.routes.isOwn(target) {
			return false
		}
		f.Len = uint16(h.L3 + wire.AdvertisementLen)
		toAll = wire.Advertise(p.env.Bytes(f)[h.L3:], s.routes.mac)
	default:
		return false
	}
	if s.bounce(p, f); toAll {
		wire.AllNodes.Put(p.env.Bytes(f))
	}
	return true
}

// forRouter takes a packet for an address of the router.
func (s *Switch) forRouter(now units.Time, p *switchPort, f *fabric.Frame) {
	b := p.env.Bytes(f)
	var h wire.Header
	if wire.Parse(b, &h); wire.AnswerEcho(b[h.L3:]) {
		s.bounce(p, f)
	} else if !s.answer(now, p, f, &h) {
		switch {
		case h.Proto == wire.ProtoUDP:
			s.makeICMPError(now, p, f, portUnreachable)
		case b[h.L3]>>4 == 4 && h.Proto == wire.ProtoICMP, b[h.L3]>>4 == 6 && h.Proto == wire.ProtoICMPv6:
			// Of a type that the router does not know: in silence (RFC 1122 section 3.2.2, RFC 4443 section 2.4).
		case b[h.L3]>>4 == 6 && h.Proto == wire.ProtoNone: // there is nothing that could be unknown (RFC 8200 section 4.7)
		default:
			s.makeICMPError(now, p, f, noProtocol)
		}
		s.discard(now, p, f, fabric.DropToRouter)
	}
}

// solicited answers a neighbour solicitation that came to the router's Ethernet address alone, as hosts send
// them to find out whether it is still there: from link-local addresses, too, from which nothing is routed.
func (s *Switch) solicited(now units.Time, p *switchPort, f *fabric.Frame) bool {
	var h wire.Header
	return wire.Parse(p.env.Bytes(f), &h) && s.answer(now, p, f, &h)
}

// isOwn reports whether an address is the router's.
func (r *routes) isOwn(a netip.Addr) bool {
	group, ok := r.table.Lookup(a)
	return ok && group == toItself
}
