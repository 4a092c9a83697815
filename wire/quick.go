package wire

import "encoding/binary"

// QuickLen is how many bytes Quick looks at: as far as the base transport header.
const QuickLen = EthernetLen + IPv4Len + UDPLen + BTHLen

// Quick reads the first bytes of a frame that is at least QuickLen bytes long. ok is
// false, and nothing else counts, unless they are those of an untagged TCP or UDP
// packet in IPv4 without options, not fragmented or the first fragment, which begins
// at EthernetLen. For these it says what Parse does, in a fraction of the time; cnp
// means RoCEv2 and a congestion notification packet. (Results are in registers: a
// struct would be written to memory and read again.)
func Quick(b *[QuickLen]byte) (dst, src MAC, hash uint32, tos uint8, cnp, ok bool) {
	start := binary.LittleEndian.Uint32(b[12:16]) // EtherType, version and header length, TOS
	rest := binary.LittleEndian.Uint32(b[20:24])  // fragment, time to live, protocol
	proto := uint64(rest >> 24)
	ports := binary.BigEndian.Uint32(b[34:38])
	dst = MAC(binary.BigEndian.Uint64(b[0:8]) >> 16)
	src = MAC(binary.BigEndian.Uint64(b[4:12]) & (1<<48 - 1))
	hash = mix(binary.BigEndian.Uint64(b[26:34]), uint64(ports)<<8|proto)
	tos = uint8(start >> 24)
	cnp = b[42] == OpCNP && uint16(ports) == PortRoCEv2 && proto == ProtoUDP
	ok = start&0xFFFFFF == 0x450008 && rest&0xFF1F == 0 && (proto == ProtoUDP || proto == ProtoTCP)
	return dst, src, hash, tos, cnp, ok
}

// MarkLen is how many bytes of an IP header SetCE looks at.
const MarkLen = 12

// SetCE is SetECN(ip, CE) of a packet that is ECN-capable.
func SetCE(ip *[MarkLen]byte) {
	if ip[0]>>4 == 6 {
		ip[1] |= 0x30
		return
	}
	// The field only grows, by 3 less the codepoint, and the complement of the
	// checksum grows by the same (RFC 1624 equation 3).
	sum := uint32(^binary.BigEndian.Uint16(ip[10:])) + uint32(3-ip[1]&3)
	ip[1] |= 3
	sum = sum&0xFFFF + sum>>16
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum))
}
