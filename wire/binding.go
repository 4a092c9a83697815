package wire

import (
	"encoding/binary"
	"net/netip"
)

// Binding is a host's statement that an IP address belongs to a MAC.
type Binding struct {
	Addr     netip.Addr
	MAC      MAC  // 0: it has no MAC, only the address
	Override bool // of what was said before
	Answer   bool // it was asked
}

// ARPBinding returns what the sender of an ARP request or reply says of itself (RFC 826). ok is false if the bytes after
// the Ethernet header are neither, of Ethernet and IPv4.
func ARPBinding(a []byte) (b Binding, ok bool) {
	const asks = 0x0001_0800_06_04_0000 // hardware, protocol, their lengths
	if len(a) < arpLen {
		return b, false
	}
	op := binary.BigEndian.Uint64(a) - asks
	if op != 1 && op != 2 {
		return b, false
	}
	b = Binding{Addr: netip.AddrFrom4([4]byte(a[14:18])), MAC: MACAt(a[8:]), Override: true, Answer: op == 2}
	return b, b.MAC != 0 && !b.MAC.Multicast()
}

// NDBinding returns what the sender of a neighbour solicitation or advertisement says (RFC 4861 sections 7.1.1 and
// 7.1.2). ip is the packet from the IPv6 header on; length is how many bytes of the frame there are. ok is false if it is
// neither, is broken, or is not all at hand.
func NDBinding(ip []byte, length int) (b Binding, ok bool) {
	if !IPv6OK(ip, length) || ip[6] != ProtoICMPv6 || ip[7] != 255 {
		return b, false
	}
	end := IPv6Len + int(binary.BigEndian.Uint16(ip[4:]))
	if end < IPv6Len+ndLen || end > len(ip) || ip[41] != 0 || ICMPv6Sum(ip[:end]) != 0xFFFF {
		return b, false
	}
	from, target := netip.AddrFrom16([16]byte(ip[8:24])), netip.AddrFrom16([16]byte(ip[48:64]))
	if target.IsMulticast() || from.IsMulticast() {
		return b, false
	}
	kind := byte(ndSource)
	switch solicited := ip[44]&0x40 != 0; {
	case ip[40] == 135 && !from.IsUnspecified():
		b.Addr, b.Override = from, true
	case ip[40] == 136 && !(solicited && ip[24] == 0xFF):
		b.Addr, b.Override, b.Answer, kind = target, ip[44]&0x20 != 0, true, ndTarget
	default:
		return b, false
	}
	if b.MAC, ok = ndMAC(ip[IPv6Len+ndLen:end], kind); !ok {
		return b, false
	}
	return b, !b.MAC.Multicast() && (b.MAC != 0 || b.Answer)
}

// SolicitLen is the longest frame of a request to a neighbour.
const SolicitLen = EthernetLen + AdvertisementLen

// Solicit fills a frame that asks for the MAC of target, or whether it is still at to (0: it is unknown). It
// returns the frame's length. Both addresses are of one family.
func Solicit(b []byte, mac, to MAC, from, target netip.Addr) int {
	clear(b[:SolicitLen])
	if target.Is4() {
		if to.Put(b); to == 0 {
			Broadcast.Put(b)
		}
		mac.Put(b[6:])
		binary.BigEndian.PutUint16(b[12:], TypeARP)
		a, src, dst := b[EthernetLen:], from.As4(), target.As4()
		binary.BigEndian.PutUint64(a, 0x0001_0800_06_04_0001)
		mac.Put(a[8:])
		copy(a[14:], src[:])
		copy(a[24:], dst[:])
		return MinFrameLen
	}
	src, dst := from.As16(), target.As16()
	ip := b[EthernetLen:SolicitLen]
	ip[0], ip[5], ip[6], ip[7] = 0x60, ndLen+ndOptionLen, ProtoICMPv6, 255
	copy(ip[8:], src[:])
	copy(ip[24:], dst[:])
	if to.Put(b); to == 0 { // to all whose address ends so (RFC 4291 section 2.7.1, RFC 2464 section 7)
		copy(ip[24:], solicitedNodes[:])
		copy(b, []byte{0x33, 0x33, 0xFF, dst[13], dst[14], dst[15]})
	}
	mac.Put(b[6:])
	binary.BigEndian.PutUint16(b[12:], TypeIPv6)
	ip[40] = 135
	copy(ip[48:], dst[:])
	ip[64], ip[65] = 1, 1 // source link-layer address, 8 bytes
	mac.Put(ip[66:])
	binary.BigEndian.PutUint16(ip[42:], ^ICMPv6Sum(ip))
	return SolicitLen
}
