package wire

import "encoding/binary"

// ECN returns the ECN codepoint of the IPv4 or IPv6 header at the start of ip.
func ECN(ip []byte) uint8 {
	if ip[0]>>4 == 6 {
		return ip[1] >> 4 & 3
	}
	return ip[1] & 3
}

// SetECN writes the ECN codepoint of an IPv4 or IPv6 header. The IPv4 checksum
// is corrected incrementally (RFC 1624 equation 3), never recomputed, so that a
// header that was broken on arrival is still broken on departure.
func SetECN(ip []byte, ecn uint8) {
	if ip[0]>>4 == 6 {
		ip[1] = ip[1]&^0x30 | ecn<<4
		return
	}
	setTOS(ip, ip[1]&^3|ecn)
}

// SetDSCP writes the DSCP of an IPv4 or IPv6 header, and corrects the IPv4
// checksum as SetECN does.
func SetDSCP(ip []byte, dscp uint8) {
	if ip[0]>>4 == 6 {
		ip[0], ip[1] = ip[0]&^0x0F|dscp>>2, ip[1]&^0xC0|dscp<<6
		return
	}
	setTOS(ip, dscp<<2|ip[1]&3)
}

// setTOS writes the TOS of an IPv4 header and corrects its checksum.
func setTOS(ip []byte, tos uint8) {
	before := binary.BigEndian.Uint16(ip)
	ip[1] = tos
	Correct(ip[10:], before, binary.BigEndian.Uint16(ip))
}

// SetIPv4Checksum computes the checksum of an IPv4 header afresh (RFC 791).
func SetIPv4Checksum(ip []byte) {
	binary.BigEndian.PutUint16(ip[10:], 0)
	binary.BigEndian.PutUint16(ip[10:], ^onesSum(ip[:int(ip[0]&15)*4]))
}

// IPv4ChecksumOK reports whether the header's checksum is right.
func IPv4ChecksumOK(ip []byte) bool { return onesSum(ip[:int(ip[0]&15)*4]) == 0xFFFF }

// onesSum adds four bytes at a time: whatever is carried is folded in at the end
// (RFC 1071 section 2).
func onesSum(b []byte) uint16 {
	sum := uint64(0)
	for ; len(b) >= 4; b = b[4:] {
		sum += uint64(binary.BigEndian.Uint32(b))
	}
	if len(b) >= 2 {
		sum += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) > 0 {
		sum += uint64(b[0]) << 8
	}
	for sum>>16 != 0 {
		sum = sum&0xFFFF + sum>>16
	}
	return uint16(sum)
}

// SetIPLength writes the length of everything after the Ethernet header,
// total, into an IPv4 header (with a new checksum) or an IPv6 header.
func SetIPLength(ip []byte, total int) {
	if ip[0]>>4 == 6 {
		binary.BigEndian.PutUint16(ip[4:], uint16(total-IPv6Len))
		return
	}
	binary.BigEndian.PutUint16(ip[2:], uint16(total))
	SetIPv4Checksum(ip)
}
