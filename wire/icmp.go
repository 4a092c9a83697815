package wire

import (
	"encoding/binary"
	"net/netip"
)

// ICMPError is what a router or host says of a packet that it does not carry on.
type ICMPError struct {
	Type, Code uint8
	Word       uint32 // behind the checksum: a next hop's MTU, a pointer
}

const (
	icmpLen = 8    // of an error, before what it quotes
	most4   = 576  // of an IPv4 packet with an error (RFC 1812 section 4.3.2.3)
	most6   = 1280 // of an IPv6 packet (RFC 4443 section 2.4 c)
	hops    = 64   // that an answer may take
)

// ICMPErrorLen is how long the packet is, from the IP header on, that says an error of a packet, of which it
// quotes as much as it may. ip is what is at hand of that packet, its header is right, and most is the longest
// that may be sent.
func ICMPErrorLen(ip []byte, most int) int {
	if ip[0]>>4 == 6 {
		return min(IPv6Len+icmpLen+min(IPv6Len+int(binary.BigEndian.Uint16(ip[4:])), len(ip)), most6, most)
	}
	return min(IPv4Len+icmpLen+min(int(binary.BigEndian.Uint16(ip[2:])), len(ip)), most4, most)
}

// EncodeICMPError fills out, which is ICMPErrorLen bytes, with an error of a packet: to its source, from an address of the
// same family.
func EncodeICMPError(out, ip []byte, from netip.Addr, tos uint8, e ICMPError) {
	if ip[0]>>4 == 6 {
		clear(out[:IPv6Len+icmpLen])
		binary.BigEndian.PutUint16(out, 6<<12|uint16(tos)<<4)
		binary.BigEndian.PutUint16(out[4:], uint16(len(out)-IPv6Len))
		out[6], out[7] = ProtoICMPv6, hops
		src := from.As16()
		copy(out[8:], src[:])
		copy(out[24:40], ip[8:24])
		e.put(out[IPv6Len:], ip)
		binary.BigEndian.PutUint16(out[IPv6Len+2:], ^ICMPv6Sum(out))
		return
	}
	clear(out[:IPv4Len+icmpLen])
	out[0], out[1], out[6] = 0x45, tos, 0x40 // it is never divided, so that it needs no number (RFC 6864 section 4.1)
	binary.BigEndian.PutUint16(out[2:], uint16(len(out)))
	out[8], out[9] = hops, ProtoICMP
	src := from.As4()
	copy(out[12:], src[:])
	copy(out[16:20], ip[12:16])
	SetIPv4Checksum(out)
	e.put(out[IPv4Len:], ip)
	binary.BigEndian.PutUint16(out[IPv4Len+2:], ^onesSum(out[IPv4Len:]))
}

// put writes the error and what it quotes.
func (e *ICMPError) put(icmp, ip []byte) {
	icmp[0], icmp[1] = e.Type, e.Code
	binary.BigEndian.PutUint32(icmp[4:], e.Word)
	copy(icmp[icmpLen:], ip)
}

// MayComplain reports whether an ICMP error may be sent of a packet whose header and source are right: not if it
// is an error itself, or may be; nor of fragments but the first; nor if it was for many (RFC 1122 section 3.2.2,
// RFC 4443 section 2.4 e).
func MayComplain(ip []byte) bool {
	if ip[0]>>4 == 6 {
		return source6OK(binary.BigEndian.Uint64(ip[24:32]), binary.BigEndian.Uint64(ip[32:40])) && mayComplain6(ip)
	}
	if binary.BigEndian.Uint16(ip[6:])&0x1FFF != 0 || !source4OK(binary.BigEndian.Uint32(ip[16:20])) {
		return false
	}
	if ip[9] != ProtoICMP {
		return true
	}
	at := int(ip[0]&15) * 4
	return len(ip) > at && isQuery(ip[at])
}

// isQuery reports whether an ICMP type is one of what is known to be no error: echo, router discovery, time stamps,
// information, address masks, and extended echo (RFC 8335).
func isQuery(icmp uint8) bool {
	switch icmp {
	case 0, 8, 9, 10, 13, 14, 15, 16, 17, 18, 42, 43:
		return true
	}
	return false
}

// Next headers of IPv6 that others follow (RFC 8200 section 4).
const (
	hopByHop    = 0
	routing     = 43
	fragment    = 44
	destination = 60
)

// mayComplain6 looks behind the extension headers; if these are not at hand it may be an error.
func mayComplain6(ip []byte) bool {
	next, at := ip[6], IPv6Len
	for {
		switch next {
		case hopByHop, routing, destination, fragment:
			if len(ip) < at+8 {
				return false
			}
			length := 8 * (int(ip[at+1]) + 1)
			if next == fragment {
				if binary.BigEndian.Uint16(ip[at+2:])>>3 != 0 {
					return false
				}
				length = 8
			}
			next, at = ip[at], at+length
		case ProtoICMPv6:
			return len(ip) > at && ip[at] >= 128 && ip[at] != 137 // errors are below, and a redirect is like one
		default:
			return true
		}
	}
}

// MayFragment reports whether a router may divide a packet: one of IPv4 whose sender does not forbid it.
func MayFragment(ip []byte) bool { return ip[0]>>4 == 4 && ip[6]&0x40 == 0 }

// Source returns the source of an IP header.
func Source(ip []byte) netip.Addr {
	if ip[0]>>4 == 6 {
		return netip.AddrFrom16([16]byte(ip[8:24]))
	}
	return netip.AddrFrom4([4]byte(ip[12:16]))
}

// TotalLen is how long a packet is by its IP header.
func TotalLen(ip []byte) int {
	if ip[0]>>4 == 6 {
		return IPv6Len + int(binary.BigEndian.Uint16(ip[4:]))
	}
	return int(binary.BigEndian.Uint16(ip[2:]))
}
