package wire

import (
	"encoding/binary"
	"net/netip"
)

// IPv4OK reports whether an IPv4 header is one that a router forwards (RFC 1812
// section 5.2.2): version, lengths and checksum are right. length is how many
// bytes the frame has from the header on, which may be more than are at hand.
func IPv4OK(ip []byte, length int) bool {
	if len(ip) < IPv4Len || ip[0]>>4 != 4 {
		return false
	}
	header, total := int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
	return header >= IPv4Len && header <= len(ip) && header <= total && total <= length && IPv4ChecksumOK(ip)
}

// IPv6OK reports the same of an IPv6 header (RFC 8200 section 3).
func IPv6OK(ip []byte, length int) bool {
	return len(ip) >= IPv6Len && ip[0]>>4 == 6 && IPv6Len+int(binary.BigEndian.Uint16(ip[4:])) <= length
}

// Destination returns the destination of an IP header, in the form that routing tables take.
func Destination(ip []byte) netip.Addr {
	if ip[0]>>4 == 6 {
		return netip.AddrFrom16([16]byte(ip[24:40]))
	}
	return netip.AddrFrom4([4]byte(ip[16:20]))
}

// TTL returns the time to live, or hop limit, of an IP header.
func TTL(ip []byte) uint8 {
	if ip[0]>>4 == 6 {
		return ip[7]
	}
	return ip[8]
}

// DecrementTTL takes one off it, which must not be zero. The IPv4 checksum is
// corrected incrementally (RFC 1624 equation 3).
func DecrementTTL(ip []byte) {
	if ip[0]>>4 == 6 {
		ip[7]--
		return
	}
	before := binary.BigEndian.Uint16(ip[8:])
	ip[8]--
	Correct(ip[10:], before, binary.BigEndian.Uint16(ip[8:]))
}

// Correct corrects an Internet checksum, its first two bytes, for a 16-bit word
// that changed (RFC 1624 equation 3).
func Correct(checksum []byte, before, after uint16) {
	sum := uint32(^binary.BigEndian.Uint16(checksum)) + uint32(^before) + uint32(after)
	sum = sum&0xFFFF + sum>>16
	sum = sum&0xFFFF + sum>>16
	binary.BigEndian.PutUint16(checksum, ^uint16(sum))
}

// Routable reports whether a router may forward the plain packet: lengths and
// checksum are right, and its time to live lasts. length is the frame's.
func (b *Quick) Routable(length int) bool {
	sum := binary.BigEndian.Uint64(b[14:22])
	rest := binary.BigEndian.Uint64(b[22:30])
	total := sum >> 32 & 0xFFFF
	all := sum>>32 + sum&0xFFFF_FFFF + rest>>32 + rest&0xFFFF_FFFF + uint64(binary.BigEndian.Uint32(b[30:34]))
	all = all>>32 + all&0xFFFF_FFFF
	all = all>>16 + all&0xFFFF
	all = all>>16 + all&0xFFFF
	all = all>>16 + all&0xFFFF
	return all == 0xFFFF && b[22] > 1 && total >= IPv4Len && int(total) <= length-EthernetLen
}

// IPDst is the destination.
func (b *Quick) IPDst() netip.Addr { return netip.AddrFrom4([4]byte(b[30:34])) }

// Route is what a router does to the plain packet: new Ethernet addresses, and
// one hop less to live.
func (b *Quick) Route(dst, src MAC) {
	binary.BigEndian.PutUint64(b[0:8], uint64(dst)<<16|uint64(src)>>32)
	binary.BigEndian.PutUint32(b[8:12], uint32(src))
	b[22]--
	// The field shrinks by 0x100, and the complement of the checksum by the same
	// (RFC 1624 equation 3), in ones' complement.
	sum := uint32(^binary.BigEndian.Uint16(b[24:26])) + 0xFFFF - 0x100
	sum = sum&0xFFFF + sum>>16
	binary.BigEndian.PutUint16(b[24:26], ^uint16(sum))
}
