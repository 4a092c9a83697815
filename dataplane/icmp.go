package dataplane

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"net/netip"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// What a router tells the sender of a packet that it does not forward (RFC 792 and 1812, RFC 4443). The packet
// itself is discarded and counted by who calls.

// ICMP bounds the errors that a router sends.
type ICMP struct {
	Rate  int   // errors a second, for packets that came through one port; 0: it sends none
	Burst int   // errors at once
	DSCP  uint8 // of them; their priority is that which it is mapped to at the port through which they leave
}

func (c *ICMP) check() error {
	if (*c == ICMP{}) {
		return nil
	}
	if c.DSCP > 63 {
		return errors.New("icmp: a DSCP is from 0 to 63")
	}
	if c.Rate == 0 {
		return nil
	}
	return c.limit().check(0)
}

// limit is that of each port.
func (c *ICMP) limit() FloodLimit { return FloodLimit{Frames: c.Rate, Burst: units.Size(c.Burst)} }

// icmpKind is one kind of ICMP error, for each version of IP.
type icmpKind struct{ v4, v6 wire.ICMPError }

var (
	timeExceeded    = icmpKind{wire.ICMPError{Type: 11}, wire.ICMPError{Type: 3}}
	netUnreachable  = icmpKind{wire.ICMPError{Type: 3}, wire.ICMPError{Type: 1}}
	hostUnreachable = icmpKind{wire.ICMPError{Type: 3, Code: 1}, wire.ICMPError{Type: 1, Code: 3}}
	noProtocol      = icmpKind{wire.ICMPError{Type: 3, Code: 2}, wire.ICMPError{Type: 4, Code: 1, Word: 6}} // where the next header is
	portUnreachable = icmpKind{wire.ICMPError{Type: 3, Code: 3}, wire.ICMPError{Type: 1, Code: 4}}
	prohibition     = icmpKind{wire.ICMPError{Type: 3, Code: 13}, wire.ICMPError{Type: 1, Code: 1}}
)

// tooBig carries the MTU of the next hop.
func tooBig(mtu int) icmpKind {
	return icmpKind{wire.ICMPError{Type: 3, Code: 4, Word: uint32(mtu)}, wire.ICMPError{Type: 2, Word: uint32(mtu)}}
}

// makeICMPError makes an error for the sender of a packet, unless the port's rate of errors is exhausted. It goes back to
// the station that sent the frame. The frame's IP header is valid, and there is at most one tag.
func (s *Switch) makeICMPError(now units.Time, p *switchPort, f *fabric.Frame, what icmpKind) {
	c, b, begin := &s.config.Router.ICMP, p.env.Bytes(f), f.L3()
	ip := b[begin:]
	if c.Rate == 0 || f.In == ownFrame || !wire.MayComplain(ip) {
		return
	}
	in, sender := s.lanOf(p, b), wire.Source(ip)
	from, ok := s.routes.sourceAddress(p.number, in, sender)
	if !ok || s.routes.isOwn(sender) {
		return
	}
	if to := wire.Destination(ip); sender.Is6() && s.routes.isOwn(to) {
		from = to // RFC 4443 section 2.2 (a); for IPv4 RFC 1812 section 4.3.2.4 asks for an address of the interface
	}
	if !p.buckets.errors.take(now, 0) {
		p.stats.ICMPLimited++
		return
	}
	most := min(s.config.mtu(uint16(p.number)), p.env.Most()-begin)
	g, ok := p.env.Alloc(begin + wire.ICMPErrorLen(ip, most))
	if !ok {
		return // ICMP errors may be lost
	}
	out := p.env.Bytes(&g)
	copy(out, b[6:12])
	s.routes.mac.Put(out[6:])
	copy(out[12:begin], b[12:begin])
	prio := p.classes.DSCP[c.DSCP]
	if tci, has := wire.VLANTag(out); has {
		binary.BigEndian.PutUint16(out[14:], s.tags[p.number][prio&7]|tci&wire.VLANID)
	}
	kind := what.v4
	if sender.Is6() {
		kind = what.v6
	}
	wire.EncodeICMPError(out[begin:], ip, from, c.DSCP<<2, kind)
	p.stats.ICMPSent++
	g.In, g.Prio, g.Flag = ownFrame, prio, fabric.Flag(begin)
	p.made[g.Prio&7]++
	p.worker.pending = ownPacket{g, in}
}

// ownPacket is an error or an answer on its way to whom it is for: at most one is, after what came before its packet.
type ownPacket struct {
	frame fabric.Frame
	in    *lan // nil: there is none
}

// sendPending sends the pending error or answer, if there is one.
func (s *Switch) sendPending(now units.Time, p *switchPort) {
	if p.worker.pending.in != nil {
		s.sendOwn(now, p, p.worker.takePending())
	}
}

// takePending takes the pending packet before it is sent, because sending it may make another one pending.
func (w *switchWorker) takePending() (x ownPacket) {
	x, w.pending = w.pending, ownPacket{}
	return x
}

// sendOwn sends a packet that the switch itself made through the port where its cause arrived.
func (s *Switch) sendOwn(now units.Time, p *switchPort, x ownPacket) {
	scratchOf(p.env.Pool).vector.admitSingly() // an answer may be longer than what asked for it, or of another priority
	s.forward(now, p, x.in, uint16(p.number), &x.frame)
}

// tooLongToRoute sends "too big" for a packet that is longer than any frame the switch takes, if it would be routed.
func (s *Switch) tooLongToRoute(now units.Time, p *switchPort, f *fabric.Frame, h *wire.Header) {
	if s.routes == nil || h.Dst != s.routes.mac || h.Src.Multicast() || h.Src == 0 || !s.plainlyIP(p, f) || s.lanOf(p, p.env.Bytes(f)) == nil {
		return
	}
	ip := p.env.Bytes(f)[f.L3():]
	if !wire.HeaderOK(ip, int(f.Len)-f.L3()) || !wire.SourceOK(ip) || wire.MayFragment(ip) || wire.TTL(ip) <= 1 {
		return
	}
	if group := s.routeOf(p, ip); group >= firstGroup {
		if h := s.hopOf(now, p, f, actionOf(f).prio(), group); wire.TotalLen(ip) > s.config.hopMTU(h) { // else it is what follows the packet that is too long
			s.makeICMPError(now, p, f, tooBig(s.config.hopMTU(h)))
			s.sendPending(now, p)
		}
	}
}

// local is an address of the router, and where it is.
type local struct {
	addr netip.Addr
	port int    // noPort: at none of its own
	vlan uint16 // 0: in none of its own
}

// locals are the router's addresses.
func (c *SwitchConfig) locals() (all []local) {
	for _, a := range c.Router.Addresses {
		all = append(all, local{a, noPort, 0})
	}
	for i := range c.Ports {
		for _, a := range c.Ports[i].Addresses {
			all = append(all, local{a, i, 0})
		}
	}
	for _, v := range c.VLANs {
		for _, a := range v.Addresses {
			all = append(all, local{a, noPort, v.ID})
		}
	}
	return all
}

// sourceAddress is the router's source address for packets to another, at a port and in a LAN: an address that it has
// there (RFC 1812 section 4.3.2.4), else one without a place, else any; among several the one with the longest common
// prefix.
func (r *routes) sourceAddress(port int, in *lan, to netip.Addr) (from netip.Addr, ok bool) {
	if in == nil {
		return from, false
	}
	best := -1
	for i := range r.locals {
		l := &r.locals[i]
		if l.addr.Is4() != to.Is4() {
			continue
		}
		score := commonBits(l.addr, to)
		switch {
		case l.port == port || l.vlan != 0 && l.vlan == in.id:
			score += 512
		case l.port == noPort && l.vlan == 0:
			score += 256
		}
		if score > best {
			best, from = score, l.addr
		}
	}
	return from, best >= 0
}

// commonBits is how many bits two addresses of one family have in common at their beginning.
func commonBits(a, b netip.Addr) (n int) {
	x, y := a.As16(), b.As16()
	for i := range x {
		if d := x[i] ^ y[i]; d != 0 {
			return n + bits.LeadingZeros8(d)
		}
		n += 8
	}
	return n
}
