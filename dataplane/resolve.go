package dataplane

import (
	"photon/fabric"
	"photon/fdb"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// What the cache does not know is worked out here, one frame at a time: frames for the switch itself,
// frames to unknown addresses or to all, and the first of each key, whose action is remembered. It is slow code,
// for few frames; what it finds is applied by the same stages that all others pass.

// resolve takes a frame of a key.
func (s *Switch) resolve(now units.Time, p *switchPort, k *key, f *fabric.Frame) {
	b := p.env.Bytes(f)
	var h wire.Header
	if !wire.Parse(b, &h) {
		f.Prio = 0
		p.received(f)
		s.discard(now, p, f, fabric.DropMalformed)
		return
	}
	if p.control(now, &h, b) || s.probed(p, &h, b) || p.receiveAnnouncement(&h, b) {
		p.stats.RxControlBytes += uint64(f.Len)
		p.env.Free(*f)
		return
	}
	p.classify(f, &h)
	f.In = uint16(p.number)
	p.received(f)
	in, why, ok := s.admissible(p, f, &h, b)
	if !ok {
		if why == fabric.DropOversize {
			s.tooLongToRoute(now, p, f, &h)
		}
		s.discard(now, p, f, why)
		return
	}
	if s.learn && !p.down { // what a device delivers after its link went down is not learned
		if in.fdb.Learn(h.Src, p.number, s.era.second(now)) {
			s.followNeighbours(p, in, h.Src)
		}
	}
	if s.routes != nil && s.routes.own && (h.Dst.Multicast() || h.Dst == s.routes.mac) && s.answer(now, p, f, &h) {
		s.sendPending(now, p)
		return
	}
	if h.Dst.Multicast() {
		s.flood(now, p, in, f, &h)
		return
	}
	a := actionOf(f)
	switch e := in.fdb.Find(h.Dst, s.era.second(now)); {
	case e == 0:
		s.flood(now, p, in, f, &h)
		return
	case e.Kind() == fdb.Router:
		a |= actRoute
	case e.Kind() == fdb.Group && (s.lans.aware || s.remarks): // its ports may send the LAN's frames in several forms
		group := s.lans.groups[e.Value()]
		if to := s.portOf(now, p, f, a.prio(), group); int(to) != p.number {
			s.forward(now, p, in, to, f)
		} else {
			s.discard(now, p, f, fabric.DropNoPort)
		}
		return
	case e.Kind() == fdb.Group:
		a = a.to(e.Value()) | actGroup
	case int(e.Value()) == p.number:
		s.discard(now, p, f, fabric.DropNoPort)
		return
	default:
		if a, ok = s.egressAction(p, a, in, e.Value(), b); !ok {
			s.discard(now, p, f, fabric.DropVLAN)
			return
		}
	}
	if s.cacheable(&h, b, f.Len) {
		p.worker.cache.remember(k, a&^s.through(p))
	}
	s.apply(now, p, f, a)
}

// cacheable reports whether all that was read of a frame is in its key, and so counts for others that
// have it: there is one tag at most, and the IP header is within the shortest frame.
func (s *Switch) cacheable(h *wire.Header, b []byte, length uint16) bool {
	tags := h.Payload - wire.EthernetLen
	return tags <= wire.VLANLen && int(length) >= leastLen+tags && (h.EtherType != wire.TypeIPv4 || b[h.Payload]&15 <= wire.IPv6Len/4) &&
		h.EtherType != wire.TypeMACControl && h.EtherType != pfc.ProbeType && !(s.routes != nil && h.EtherType == wire.TypeARP)
}

// received counts a frame that came by itself.
func (p *switchPort) received(f *fabric.Frame) {
	p.ingress.Count(f.Prio, 1, uint64(f.Len))
}

// admissible finds the LAN of a frame, or why it is in none.
func (s *Switch) admissible(p *switchPort, f *fabric.Frame, h *wire.Header, b []byte) (in *lan, why fabric.Reason, ok bool) {
	longest := int(p.longest)
	if h.Payload > wire.EthernetLen {
		longest += wire.VLANLen
	}
	switch {
	case int(f.Len) > longest:
		return nil, fabric.DropOversize, false
	case h.Dst.LinkLocal() || h.EtherType == wire.TypeMACControl:
		return nil, fabric.DropReserved, false
	case h.Src.Multicast() || h.Src == 0: // no station has such an address (IEEE 802.3 clause 3.2.3); bridges do not forward these frames
		return nil, fabric.DropSource, false
	}
	if in = s.lanOf(p, b); in == nil {
		return nil, fabric.DropVLAN, false
	}
	return in, 0, true
}

// classify reads the priority, and whether the frame may be marked.
func (p *switchPort) classify(f *fabric.Frame, h *wire.Header) {
	f.Flag = fabric.Flag(h.L3)
	switch k := p.classes; {
	case h.EtherType == wire.TypeCNM:
		f.Prio = p.sw.config.Control
	case k.Trust == TrustNone:
		f.Prio = k.Default
	case h.Tagged && (k.Trust == TrustPCP || h.L3 == 0):
		f.Prio = k.PCP[h.PCP]
	case h.L3 != 0:
		f.Prio = k.DSCP[h.TOS>>2]
	default:
		f.Prio = k.Default
	}
	if p.lossless>>f.Prio&1 != 0 {
		f.Flag |= fabric.Lossless
	}
	if ecn := h.TOS & 3; h.L3 != 0 && (ecn == wire.ECT0 || ecn == wire.ECT1) {
		f.Flag |= fabric.Markable
	}
}

// Priority is the priority of a frame that comes through a port by its bytes, or -1 if it has none: MAC control, LLDP
// where the port speaks it, or no frame at all. A port's worker calls it, or no worker runs.
func (s *Switch) Priority(port int, b []byte) int {
	var h wire.Header
	if !wire.Parse(b, &h) || h.EtherType == wire.TypeMACControl && !h.Tagged || s.ports[port].announcer.speaks(&h) {
		return -1
	}
	var f fabric.Frame
	s.ports[port].classify(&f, &h)
	return int(f.Prio)
}

// control applies a PFC or PAUSE frame to what this port sends, and reports whether the frame is
// MAC control, which ends here whatever its address is (IEEE 802.3 clause 31.3).
func (p *switchPort) control(now units.Time, h *wire.Header, b []byte) bool {
	if h.EtherType != wire.TypeMACControl || h.Payload != wire.EthernetLen {
		return false
	}
	p.stats.RxControl++
	if !pfc.Addressed(h) {
		p.stats.BadControl++
		return true
	}
	if p.credits != nil {
		p.processCredits(now, b)
		return true
	}
	var f pfc.Frame
	if f.Decode(b) != nil {
		p.stats.BadControl++
		return true
	}
	p.env.ReportPause(now, p.number, f)
	resumed := p.egress.Receive(now, &f)
	p.refresh()
	p.resumed(now, resumed)
	if p.waiting&p.halted != 0 {
		p.env.Wake(p.number, p.egress.Next()) // a pause may end sooner than the one before would have
	}
	p.watchStops(now)
	return true
}
