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

// DecrementTTL takes one off it, which must not be zero. Of the IPv4 checksum, whose complement shrinks with
// the field by 0x100, that is corrected (RFC 1624 equation 3).
func DecrementTTL(ip []byte) {
	if ip[0]>>4 == 6 {
		ip[7]--
		return
	}
	ip[8]--
	sum := uint32(^binary.BigEndian.Uint16(ip[10:12])) + 0xFFFF - 0x100
	binary.BigEndian.PutUint16(ip[10:12], ^uint16(sum&0xFFFF+sum>>16))
}

// Correct corrects an Internet checksum, its first two bytes, for a 16-bit word
// that changed (RFC 1624 equation 3).
func Correct(checksum []byte, before, after uint16) {
	sum := uint32(^binary.BigEndian.Uint16(checksum)) + uint32(^before) + uint32(after)
	sum = sum&0xFFFF + sum>>16
	sum = sum&0xFFFF + sum>>16
	binary.BigEndian.PutUint16(checksum, ^uint16(sum))
}

// HeaderOK reports whether a router may forward a packet by its IP header, IPv4OK or IPv6OK.
func HeaderOK(ip []byte, length int) bool { return IPv4OK(ip, length) || IPv6OK(ip, length) }

// SourceOK reports whether a router may forward a packet by its source: not that of a group, of a host
// on itself, of nobody, nor one that is good on a link only (RFC 1812 section 5.3.7, RFC 3927 section 2.7, RFC 4291
// sections 2.5 and 2.7).
func SourceOK(ip []byte) bool {
	if ip[0]>>4 == 6 {
		return source6OK(binary.BigEndian.Uint64(ip[8:16]), binary.BigEndian.Uint64(ip[16:24]))
	}
	return source4OK(binary.BigEndian.Uint32(ip[12:16]))
}

func source4OK(src uint32) bool {
	return src>>24 != 0 && src>>24 != 127 && src>>24 < 224 && src>>16 != 169<<8|254
}

func source6OK(hi, lo uint64) bool {
	return hi>>56 != 0xFF && hi>>54 != 0xFE80>>6 && (hi != 0 || lo > 1)
}

// Forwardable4 reports whether a router may forward an IPv4 packet without options: header and source
// are OK, and its time to live lasts.
func Forwardable4(ip *[IPv4Len]byte, length int) bool {
	a, b, dst := binary.BigEndian.Uint64(ip[0:8]), binary.BigEndian.Uint64(ip[8:16]), binary.BigEndian.Uint32(ip[16:20])
	// Five words of 32 bits. Folded twice they are above 0xFFFF by 5 at most: not that, then, if folded once more.
	sum := a>>32 + a&(1<<32-1) + b>>32 + b&(1<<32-1) + uint64(dst)
	sum = sum>>16 + sum&(1<<16-1)
	sum = sum>>16 + sum&(1<<16-1)
	total := int(a >> 32 & (1<<16 - 1))
	return sum == 0xFFFF && a>>56 == 0x45 && total >= IPv4Len && total <= length && b>>56 > 1 && source4OK(uint32(b))
}

// Forwardable6 reports the same of an IPv6 packet.
func Forwardable6(ip *[IPv6Len]byte, length int) bool {
	return ip[0]>>4 == 6 && IPv6Len+int(binary.BigEndian.Uint16(ip[4:6])) <= length && ip[7] > 1 &&
		source6OK(binary.BigEndian.Uint64(ip[8:16]), binary.BigEndian.Uint64(ip[16:24]))
}
