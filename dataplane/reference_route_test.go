package dataplane_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

	"photon/dataplane"
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// refHead is what the reference switch reads of a frame.
type refHead struct {
	dst, src  wire.MAC
	tags      []struct{ kind, control uint16 } // two at most
	etherType uint16
	payload   int  // offset of what follows the EtherType
	ip, l4    int  // offsets; 0: none that is whole
	tos       byte // of IP
	proto     byte
	offset    int // of a fragment of IPv4, in its packet
	bth       int // of RoCEv2; 0: it is none
	cnp       bool
	flow      string // what frames have in common that stay on one path
}

// vlan is what the C-tag says, if that is the first.
func (h *refHead) vlan() uint16 {
	if len(h.tags) == 0 || h.tags[0].kind != 0x8100 {
		return 0
	}
	return h.tags[0].control & 0xFFF
}

// move tells that what it read lies elsewhere.
func (h *refHead) move(by int) {
	for _, at := range []*int{&h.ip, &h.l4, &h.bth} {
		if *at != 0 {
			*at += by
		}
	}
}

// readHead reads what there is; what is cut is not there.
func readHead(b []byte) *refHead {
	h := &refHead{dst: wire.MACAt(b), src: wire.MACAt(b[6:])}
	at := 12
	word := func(at int) uint16 { return binary.BigEndian.Uint16(b[at:]) }
	for len(h.tags) < 2 && (word(at) == 0x8100 || word(at) == 0x88A8) && len(b) >= at+6 {
		h.tags = append(h.tags, struct{ kind, control uint16 }{word(at), word(at + 2)})
		at += 4
	}
	if word(at) == 0x22E9 && len(b) >= at+6 { // the number of a flow (802.1Qau)
		at += 4
	}
	h.etherType, h.payload = word(at), at+2
	h.flow = fmt.Sprintf("%x", b[:12])
	ip := b[h.payload:]
	later := false
	switch {
	case h.etherType == 0x0800 && len(ip) >= 20 && ip[0]>>4 == 4 && ip[0]&15 >= 5 && len(ip) >= int(ip[0]&15)*4:
		h.ip, h.tos, h.proto = h.payload, ip[1], ip[9]
		h.l4 = h.ip + int(ip[0]&15)*4
		h.flow = fmt.Sprintf("%x %d", ip[12:20], h.proto)
		if fragment := binary.BigEndian.Uint16(ip[6:]) & 0x3FFF; fragment != 0 {
			h.offset = int(fragment & 0x1FFF)
			later = h.offset != 0
			h.flow += " fragment"
			break
		}
		h.addPorts(b)
	case h.etherType == 0x86DD && len(ip) >= 40 && ip[0]>>4 == 6:
		h.ip, h.tos, h.proto = h.payload, ip[0]<<4|ip[1]>>4, ip[6]
		h.l4 = h.ip + 40
		h.flow = fmt.Sprintf("%x %d", ip[8:40], h.proto)
		h.addPorts(b)
	}
	if h.ip != 0 && h.proto == 17 && !later && len(b) >= h.l4+8+12 && word(h.l4+2) == 4791 {
		h.bth = h.l4 + 8
		h.cnp = b[h.bth] == 0x81
	}
	return h
}

func (h *refHead) addPorts(b []byte) {
	if (h.proto == 6 || h.proto == 17) && len(b) >= h.l4+8 {
		h.flow += fmt.Sprintf(" %x", b[h.l4:h.l4+4])
	}
}

// sum16 is the Internet checksum's sum (RFC 1071).
func sum16(parts ...[]byte) uint16 {
	n := uint32(0)
	for _, b := range parts {
		for i, x := range b {
			n += uint32(x) << (8 * (1 - i%2))
		}
	}
	for n > 0xFFFF {
		n = n>>16 + n&0xFFFF
	}
	return uint16(n)
}

func (r *reference) own(a netip.Addr) bool {
	return slices.Contains(r.addresses(), a)
}

// route forwards what is for the router's own Ethernet address.
func (r *reference) route(now units.Time, p *refPort, vlan int, h *refHead, f refFrame) {
	b := f.bytes
	lose := func(why fabric.Reason) { r.lose(now, p, f.prio, why) }
	begin := 14
	if len(h.tags) > 0 && h.tags[0].kind == 0x8100 {
		begin = 18
	}
	complain := func(what refTrouble, word int) { r.complain(now, p, vlan, h, f, what, word) }
	if h.ip != begin { // no header of IP that can be read, or behind tags of which a router knows nothing
		lose(fabric.DropToRouter)
		return
	}
	if !headerOK(b[h.ip:]) {
		lose(fabric.DropBadIP)
		return
	}
	ip := b[h.ip:]
	src, dst := addresses(ip)
	if martian(src) {
		lose(fabric.DropMartian)
		return
	}
	if r.own(dst) {
		if !echo(ip) {
			if ip[0]>>4 == 4 && ip[9] == 17 && h.offset == 0 || ip[0]>>4 == 6 && ip[6] == 17 {
				complain(refTrouble{3, 3, 1, 4}, 0)
			} else if ip[0]>>4 == 4 && ip[9] != 1 || ip[0]>>4 == 6 && ip[6] != 58 && ip[6] != 59 {
				complain(refTrouble{3, 2, 4, 1}, 6)
			}
			lose(fabric.DropToRouter)
			return
		}
		r.sendBack(now, p, vlan, h, f)
		return
	}
	best := r.bestRoute(dst)
	if best == nil || unroutable(dst) {
		complain(refTrouble{3, 0, 1, 0}, 0)
		lose(fabric.DropNoRoute)
		return
	}
	switch best.Refuse {
	case dataplane.Prohibit:
		complain(refTrouble{3, 13, 1, 1}, 0)
		lose(fabric.DropProhibited)
		return
	case dataplane.Blackhole:
		lose(fabric.DropProhibited)
		return
	}
	ttl := &ip[7]
	if ip[0]>>4 == 4 {
		ttl = &ip[8]
	}
	if *ttl <= 1 {
		complain(refTrouble{11, 0, 3, 0}, 0)
		lose(fabric.DropTTL)
		return
	}
	hop := r.hop(p, b, h, best.Via)
	down := r.ports[hop.Port].down
	if down {
		complain(refTrouble{3, 1, 1, 3}, 0)
	}
	if most := r.mtu(hop); total(ip) > most && !down {
		if ip[0]>>4 == 6 || ip[6]&0x40 != 0 {
			complain(refTrouble{3, 4, 2, 0}, most)
		}
		lose(fabric.DropTooBig)
		return
	}
	before := binary.BigEndian.Uint16(ip[8:])
	*ttl--
	if ip[0]>>4 == 4 {
		adjust(ip[10:], before, binary.BigEndian.Uint16(ip[8:]))
	}
	hop.MAC.Put(b)
	r.config.Router.MAC.Put(b[6:])
	p.stats.Routed++
	to := int(hop.VLAN)
	if to == 0 && len(r.config.VLANs) > 0 {
		to = r.untagged(int(hop.Port))
	}
	if len(r.config.VLANs) == 0 && len(h.tags) > 0 { // a tag is of the link that it came by
		f.takeTag()
	}
	r.leaveBy(now, p, r.ports[hop.Port], to, f)
}

// hop is one of several equal ways: of those that have a link, if any has.
func (r *reference) hop(p *refPort, b []byte, h *refHead, ways []dataplane.NextHop) dataplane.NextHop {
	var up []dataplane.NextHop
	for _, w := range ways {
		if !r.ports[w.Port].down {
			up = append(up, w)
		}
	}
	if up == nil {
		up = ways
	}
	if len(up) == 1 {
		return up[0]
	}
	return r.choose(p.number, b, h.flow, up)
}

// headerOK is what a router looks at before it forwards (RFC 1812, section 5.2.2; RFC 8200, section 3).
func headerOK(ip []byte) bool {
	if ip[0]>>4 == 6 {
		return 40+int(binary.BigEndian.Uint16(ip[4:])) <= len(ip)
	}
	header, total := int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
	return total >= header && total <= len(ip) && sum16(ip[:header]) == 0xFFFF
}

func addresses(ip []byte) (src, dst netip.Addr) {
	if ip[0]>>4 == 6 {
		return netip.AddrFrom16([16]byte(ip[8:24])), netip.AddrFrom16([16]byte(ip[24:40]))
	}
	return netip.AddrFrom4([4]byte(ip[12:16])), netip.AddrFrom4([4]byte(ip[16:20]))
}

// martian are sources that no packet on a network may have (RFC 1812, section 5.3.7; RFC 4291, section 2).
func martian(a netip.Addr) bool {
	if a.Is4() {
		b := a.As4()
		return b[0] == 0 || b[0] == 127 || b[0] >= 224 || b[0] == 169 && b[1] == 254
	}
	return a.IsUnspecified() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast()
}

// unroutable are destinations that only a link or a host itself has.
func unroutable(a netip.Addr) bool { return martian(a) }

// echo makes the reply of an echo request, and reports whether it is one.
func echo(ip []byte) bool {
	if ip[0]>>4 == 6 {
		if ip[6] != 58 || len(ip) < 44 || total(ip) < 48 || ip[40] != 128 || ip[41] != 0 {
			return false
		}
		src := bytes.Clone(ip[8:24])
		copy(ip[8:24], ip[24:40])
		copy(ip[24:40], src)
		ip[7], ip[40] = 64, 129
		adjust(ip[42:], 128<<8, 129<<8)
		return true
	}
	at := int(ip[0]&15) * 4
	if ip[9] != 1 || binary.BigEndian.Uint16(ip[6:])&0x3FFF != 0 || len(ip) < at+4 || total(ip) < at+8 || ip[at] != 8 || ip[at+1] != 0 {
		return false
	}
	src := bytes.Clone(ip[12:16])
	copy(ip[12:16], ip[16:20])
	copy(ip[16:20], src)
	before := binary.BigEndian.Uint16(ip[8:])
	ip[8], ip[at] = 64, 0
	adjust(ip[10:], before, binary.BigEndian.Uint16(ip[8:]))
	adjust(ip[at+2:], 8<<8, 0)
	return true
}

// answered answers those who ask for the router's Ethernet address.
func (r *reference) answered(now units.Time, p *refPort, vlan int, h *refHead, f refFrame) bool {
	b, toAll := f.bytes, false
	switch a := b[h.payload:]; {
	case h.etherType == 0x0806 && len(a) >= 28 && bytes.Equal(a[:8], []byte{0, 1, 8, 0, 6, 4, 0, 1}) && r.own(netip.AddrFrom4([4]byte(a[24:28]))):
		asked := bytes.Clone(a[24:28])
		a[7] = 2
		copy(a[18:28], a[8:18])
		r.config.Router.MAC.Put(a[8:])
		copy(a[14:18], asked)
	case h.etherType == 0x86DD && r.solicited(a, h):
		target := bytes.Clone(a[48:64])
		b = append(b[:h.payload:h.payload], a[:40]...)
		b = append(b, make([]byte, 32)...)
		a = b[h.payload:]
		binary.BigEndian.PutUint16(a[4:], 32)
		copy(a[24:40], a[8:24])
		copy(a[8:24], target)
		a[40], a[44] = 136, 0xE0
		copy(a[48:], target)
		if toAll = bytes.Equal(a[24:40], make([]byte, 16)); toAll { // duplicate address detection
			copy(a[24:40], netip.MustParseAddr("ff02::1").AsSlice())
			a[44] = 0xA0
		}
		a[64], a[65] = 2, 1
		r.config.Router.MAC.Put(a[66:])
		binary.BigEndian.PutUint16(a[42:], ^sum16(a[8:], []byte{0, 32, 0, 58}))
	default:
		return false
	}
	if f.bytes = b; toAll {
		head := *h
		head.src = 0x333300000001
		h = &head
	}
	r.sendBack(now, p, vlan, h, f)
	return true
}

// solicited reports whether a packet is a neighbour solicitation for the router (RFC 4861, section 7.1.1).
func (r *reference) solicited(ip []byte, h *refHead) bool {
	if h.ip == 0 || ip[6] != 58 || ip[7] != 255 {
		return false
	}
	n := int(binary.BigEndian.Uint16(ip[4:]))
	if n < 24 || 40+n > len(ip) || ip[40] != 135 || ip[41] != 0 {
		return false
	}
	src, dst := addresses(ip)
	if src.IsMulticast() || src.IsLoopback() {
		return false
	}
	group, said := netip.MustParsePrefix("ff02::1:ff00:0/104"), false
	for option := ip[64 : 40+n]; len(option) > 0; {
		if len(option) < 8 || option[1] == 0 || 8*int(option[1]) > len(option) {
			return false
		}
		said = said || option[0] == 1 && option[1] == 1
		option = option[8*int(option[1]):]
	}
	if src.IsUnspecified() && (said || !group.Contains(dst)) {
		return false
	}
	return r.own(netip.AddrFrom16([16]byte(ip[48:64]))) && sum16(ip[8:40+n], []byte{byte(n >> 8), byte(n), 0, 58}) == 0xFFFF
}

// sendBack sends an answer to whom it asked for, through the port by which that came.
func (r *reference) sendBack(now units.Time, p *refPort, vlan int, h *refHead, f refFrame) {
	h.src.Put(f.bytes)
	r.config.Router.MAC.Put(f.bytes[6:])
	r.leaveBy(now, p, p, vlan, f)
}
