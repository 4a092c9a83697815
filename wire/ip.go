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
	before := binary.BigEndian.Uint16(ip)
	ip[1] = ip[1]&^3 | ecn
	Correct(ip[10:], before, binary.BigEndian.Uint16(ip))
}

// SetIPv4Checksum computes the checksum of an IPv4 header afresh (RFC 791).
func SetIPv4Checksum(ip []byte) {
	binary.BigEndian.PutUint16(ip[10:], 0)
	binary.BigEndian.PutUint16(ip[10:], ^onesSum(ip[:int(ip[0]&15)*4]))
}

// IPv4ChecksumOK reports whether the header's checksum is right.
func IPv4ChecksumOK(ip []byte) bool { return onesSum(ip[:int(ip[0]&15)*4]) == 0xFFFF }

func onesSum(b []byte) uint16 {
	sum := uint32(0)
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	if len(b)%2 != 0 {
		sum += uint32(b[len(b)-1]) << 8
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
