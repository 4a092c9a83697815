package wire

import "encoding/binary"

// Headers is the first bytes of a frame, as far as the base transport header. Its
// methods are for the most common kind of frame, and say what Parse does in a
// fraction of the time. Each is small enough to be inlined: a switch that calls
// nothing per frame is twice as fast.
type Headers [HeadersLen]byte

// HeadersLen is how long a frame must be to be looked at this way.
const HeadersLen = EthernetLen + IPv4Len + UDPLen + BTHLen

// Plain reports whether this is an untagged TCP or UDP packet in IPv4 without
// options that is no fragment. The others' results count only if so.
func (b *Headers) Plain() bool {
	start := binary.LittleEndian.Uint32(b[12:16]) // EtherType, version and header length, TOS
	rest := binary.LittleEndian.Uint32(b[20:24])  // fragment, time to live, protocol
	return start&0xFFFFFF == 0x450008 && (rest&0xFF00FF3F == ProtoUDP<<24 || rest&0xFF00FF3F == ProtoTCP<<24)
}

// Dst and Src are the Ethernet addresses.
func (b *Headers) Dst() MAC { return MAC(binary.BigEndian.Uint64(b[0:8]) >> 16) }
func (b *Headers) Src() MAC { return MAC(binary.BigEndian.Uint64(b[4:12]) & (1<<48 - 1)) }

// Src4 and Dst4 are the IPv4 addresses as they lie in the frame, the first byte lowest.
func (b *Headers) Src4() uint32 { return binary.LittleEndian.Uint32(b[26:30]) }
func (b *Headers) Dst4() uint32 { return binary.LittleEndian.Uint32(b[30:34]) }

// SrcPort is the source port.
func (b *Headers) SrcPort() uint16 { return binary.BigEndian.Uint16(b[34:36]) }

// BTH is the base transport header.
func (b *Headers) BTH() BTH { return b[HeadersLen-BTHLen:] }

// TOS is DSCP and ECN.
func (b *Headers) TOS() uint8 { return b[15] }

// Hash is Parse's.
func (b *Headers) Hash() uint32 {
	return mix(binary.BigEndian.Uint64(b[26:34]), uint64(binary.BigEndian.Uint32(b[34:38]))<<8|uint64(b[23]))
}

// RoCE reports whether it is Plain and a RoCEv2 packet.
func (b *Headers) RoCE() bool {
	start := binary.LittleEndian.Uint32(b[12:16])
	rest := binary.LittleEndian.Uint32(b[20:24])
	return start&0xFFFFFF == 0x450008 && rest&0xFF00FF3F == ProtoUDP<<24 && binary.BigEndian.Uint16(b[36:38]) == PortRoCEv2
}

// PlainLen is how many bytes from the IP header on MarkPlain looks at: those of an IPv4 packet as far as
// the opcode of the base transport header.
const PlainLen = IPv4Len + UDPLen + 1

// MarkPlain writes congestion experienced into an ECN-capable IPv4 packet without options, unless it is
// a CNP. ok is false if it is no such packet.
func MarkPlain(ip *[PlainLen]byte) (marked, ok bool) {
	start := uint32(binary.LittleEndian.Uint16(ip[0:2])) // version and header length, TOS
	switch {
	case start&0xFF != 0x45:
		return false, false
	case ip[9] == ProtoUDP && ip[28] == OpCNP && binary.BigEndian.Uint16(ip[22:24]) == PortRoCEv2 && binary.BigEndian.Uint16(ip[6:8])&0x1FFF == 0:
		return false, true
	}
	// What the word with the field grows by is taken from the checksum, and a borrow
	// at its end (RFC 1624 equation 4), in whatever order of bytes both are read
	// (RFC 1071 section 2).
	to := start | 3<<8
	sum := uint32(binary.LittleEndian.Uint16(ip[10:12])) - (to - start)
	binary.LittleEndian.PutUint16(ip[0:2], uint16(to))
	binary.LittleEndian.PutUint16(ip[10:12], uint16(sum+sum>>16))
	return true, true
}
