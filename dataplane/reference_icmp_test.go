package dataplane_test

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"photon/dataplane"
	"photon/units"
)

// refTrouble is type and code of ICMP, and of ICMPv6.
type refTrouble struct{ type4, code4, type6, code6 byte }

// addresses are all that the router has.
func (r *reference) addresses() []netip.Addr {
	all := slices.Clone(r.config.Router.Addresses)
	for _, p := range r.config.Ports {
		all = append(all, p.Addresses...)
	}
	for _, v := range r.config.VLANs {
		all = append(all, v.Addresses...)
	}
	return all
}

// mtu is what a next hop takes.
func (r *reference) mtu(hop dataplane.NextHop) int {
	mtu := r.mtuOf(r.ports[hop.Port])
	if hop.MTU > 0 {
		mtu = min(mtu, hop.MTU)
	}
	return mtu
}

// total is how long a packet says that it is.
func total(ip []byte) int {
	if ip[0]>>4 == 6 {
		return 40 + int(binary.BigEndian.Uint16(ip[4:]))
	}
	return int(binary.BigEndian.Uint16(ip[2:]))
}

// complain sends an ICMP error to who sent a packet.
func (r *reference) complain(now units.Time, p *refPort, vlan int, h *refHead, f refFrame, what refTrouble, word int) {
	limit := r.config.Router.ICMP
	ip := f.bytes[h.ip:]
	src, dst := addresses(ip)
	if limit.Rate == 0 || f.in == made || unroutable(dst) || r.own(src) || !answerable(ip, h) {
		return
	}
	from, ok := r.speaker(p, vlan, src)
	if !ok {
		return
	}
	if src.Is6() && r.own(dst) {
		from = dst // whom the packet was for answers
	}
	b := &p.errors
	cost := (units.Second + units.Time(limit.Rate) - 1) / units.Time(limit.Rate)
	b.tokens, b.at = max(0, b.tokens-(now-b.at)), now // here it is what was taken
	if b.tokens+cost > units.Time(limit.Burst)*cost {
		p.stats.ICMPLimited++
		return
	}
	b.tokens += cost
	p.stats.ICMPSent++

	quote := slices.Clone(ip[:min(len(ip), total(ip))])
	out := slices.Clone(f.bytes[:h.ip])
	h.src.Put(out)
	r.config.Router.MAC.Put(out[6:])
	if src.Is4() {
		quote = quote[:min(len(quote), 576-28, r.mtuOf(p)-28)]
		head := []byte{0x45, limit.DSCP << 2, 0, 0, 0, 0, 0x40, 0, 64, 1, 0, 0}
		binary.BigEndian.PutUint16(head[2:], uint16(28+len(quote)))
		head = append(append(head, from.AsSlice()...), src.AsSlice()...)
		binary.BigEndian.PutUint16(head[10:], ^sum16(head))
		if what.code4 != 4 {
			word = 0
		}
		icmp := binary.BigEndian.AppendUint32([]byte{what.type4, what.code4, 0, 0}, uint32(word))
		icmp = append(icmp, quote...)
		binary.BigEndian.PutUint16(icmp[2:], ^sum16(icmp))
		out = append(append(out, head...), icmp...)
	} else {
		quote = quote[:min(len(quote), 1280-48, r.mtuOf(p)-48)]
		head := []byte{0x60 | limit.DSCP>>2, limit.DSCP << 6, 0, 0, 0, 0, 58, 64}
		binary.BigEndian.PutUint16(head[4:], uint16(8+len(quote)))
		head = append(append(head, from.AsSlice()...), src.AsSlice()...)
		icmp := binary.BigEndian.AppendUint32([]byte{what.type6, what.code6, 0, 0}, uint32(word))
		icmp = append(icmp, quote...)
		n := len(icmp)
		binary.BigEndian.PutUint16(icmp[2:], ^sum16(head[8:], []byte{byte(n >> 8), byte(n), 0, 58}, icmp))
		out = append(append(out, head...), icmp...)
	}
	prio := int(r.config.DSCP[limit.DSCP])
	if own := p.config.Classes; own != nil { // what the operator says of this cable
		prio = int(own.DSCP[limit.DSCP])
	}
	if len(h.tags) > 0 { // it says the error's own priority
		out[14] = r.codePoint(p.number, prio)<<5 | out[14]&0xF
	}
	answer := refFrame{bytes: out, in: made, prio: prio, head: *readHead(out)}
	r.leaveBy(now, p, p, vlan, answer)
}

// complainOfLength tells who sent a packet that is longer than the switch takes how long it may be.
func (r *reference) complainOfLength(now units.Time, p *refPort, h *refHead, f refFrame) {
	begin := 14
	if len(h.tags) > 0 && h.tags[0].kind == 0x8100 {
		begin = 18
	}
	vlan, member := r.vlanOf(p.number, h)
	if r.config.Router.MAC == 0 || h.dst != r.config.Router.MAC || h.src.Multicast() || h.src == 0 || h.ip != begin || !member || !headerOK(f.bytes[h.ip:]) {
		return
	}
	ip := f.bytes[h.ip:]
	src, dst := addresses(ip)
	best := r.bestRoute(dst)
	ttl := ip[7]
	if ip[0]>>4 == 4 {
		ttl = ip[8]
	}
	if r.config.Router.ICMP.Rate == 0 || ttl <= 1 || ip[0]>>4 == 4 && ip[6]&0x40 == 0 || martian(src) || r.own(dst) || best == nil || best.Refuse != dataplane.Carry || unroutable(dst) {
		return
	}
	if most := r.mtu(r.hop(p, f.bytes, h, best.Via)); total(ip) > most {
		r.complain(now, p, vlan, h, f, refTrouble{3, 4, 2, 0}, most)
	}
}

// bestRoute is the route with the longest prefix.
func (r *reference) bestRoute(dst netip.Addr) (best *dataplane.Route) {
	for i := range r.config.Router.Routes {
		if x := &r.config.Router.Routes[i]; x.Prefix.Contains(dst) && (best == nil || x.Prefix.Bits() > best.Prefix.Bits()) {
			best = x
		}
	}
	return best
}

// speaker is the address of the router that is nearest to another.
func (r *reference) speaker(p *refPort, vlan int, to netip.Addr) (netip.Addr, bool) {
	var here, anywhere, elsewhere []netip.Addr
	anywhere = r.config.Router.Addresses
	for i, other := range r.config.Ports {
		if i == p.number {
			here = append(here, other.Addresses...)
		} else {
			elsewhere = append(elsewhere, other.Addresses...)
		}
	}
	for _, v := range r.config.VLANs {
		if int(v.ID) == vlan {
			here = append(here, v.Addresses...)
		} else {
			elsewhere = append(elsewhere, v.Addresses...)
		}
	}
	for _, list := range [][]netip.Addr{here, anywhere, elsewhere} {
		var best netip.Addr
		longest := -1
		for _, a := range list {
			if a.Is4() != to.Is4() {
				continue
			}
			n := 0
			for n < a.BitLen() && netip.PrefixFrom(a, n+1).Masked().Contains(to) {
				n++
			}
			if n > longest {
				best, longest = a, n
			}
		}
		if longest >= 0 {
			return best, true
		}
	}
	return netip.Addr{}, false
}

// answerable are packets of which something may be said: no errors, no parts of packets.
func answerable(ip []byte, h *refHead) bool {
	if ip[0]>>4 == 4 {
		queries := []byte{0, 8, 9, 10, 13, 14, 15, 16, 17, 18, 42, 43}
		at := int(ip[0]&15) * 4
		return h.offset == 0 && (ip[9] != 1 || len(ip) > at && slices.Contains(queries, ip[at]))
	}
	rest, kind := ip[40:], ip[6]
	for slices.Contains([]byte{0, 43, 44, 60}, kind) {
		if len(rest) < 8 {
			return false
		}
		skip := 8 + 8*int(rest[1])
		if kind == 44 {
			if skip = 8; binary.BigEndian.Uint16(rest[2:])&0xFFF8 != 0 {
				return false
			}
		}
		if kind = rest[0]; skip > len(rest) {
			skip = len(rest)
		}
		rest = rest[skip:]
	}
	return kind != 58 || len(rest) > 0 && rest[0] > 127 && rest[0] != 137
}
