package wire

import (
	"encoding/binary"
	"math/bits"
)

// Header is what a switch or a host needs to know of a frame.
type Header struct {
	Dst, Src  MAC
	EtherType uint16 // after the tags
	Tagged    bool   // an 802.1Q or 802.1ad tag is there
	CNTagged  bool   // a congestion notification tag (802.1Qau) is there
	FlowID    uint16 // of the congestion notification tag
	PCP       uint8  // priority code point of the outer tag
	TOS       uint8  // DSCP and ECN: the IPv4 TOS or the IPv6 traffic class
	Proto     uint8  // transport protocol; 0 in a later fragment
	Payload   int    // offset of what follows the tags and the EtherType
	L3        int    // offset of the IP header; 0: no IP
	L4        int    // offset of the transport header; 0: none, or a later fragment
	BTH       int    // offset of the base transport header; 0: not RoCEv2
	SrcPort   uint16 // TCP and UDP
	DstPort   uint16
	Hash      uint32 // over addresses, protocol and ports; over the MAC addresses if there is no IP
}

// Parse reads the headers at the start of b, the first bytes of a frame. It
// reports false only if there is no Ethernet header. If a higher header is broken,
// its fields and those of higher ones are zero, and the frame is still an Ethernet frame.
func Parse(b []byte, h *Header) bool {
	if len(b) >= HeadersLen {
		if q := (*Headers)(b); q.Plain() { // as most frames are; the general code returns the same
			// Field by field: a literal is made elsewhere and copied, for which the processor waits.
			ports := binary.BigEndian.Uint32(b[34:38])
			h.Dst, h.Src, h.EtherType = q.Dst(), q.Src(), TypeIPv4
			h.Tagged, h.CNTagged, h.FlowID, h.PCP = false, false, 0, 0
			h.TOS, h.Proto = q.TOS(), b[23]
			h.Payload, h.L3, h.L4, h.BTH = EthernetLen, EthernetLen, EthernetLen+IPv4Len, 0
			h.SrcPort, h.DstPort, h.Hash = uint16(ports>>16), uint16(ports), q.Hash()
			if h.Proto == ProtoUDP && h.DstPort == PortRoCEv2 {
				h.BTH = EthernetLen + IPv4Len + UDPLen
			}
			return true
		}
	}
	return parse(b, h)
}

// FlowHash is Parse for callers that need only the hash.
func FlowHash(b []byte) uint32 {
	if len(b) >= HeadersLen+CNTagLen {
		// Behind a congestion notification tag all that the hash is of is at the same place. Frames with and without one
		// come in no order, so a jump would often be foreseen wrongly: the difference less 1 is negative only if there is one.
		tag := CNTagLen * int((uint32(binary.BigEndian.Uint16(b[12:]))^TypeCNTag-1)>>31)
		if q := (*Headers)(b[tag:]); q.Plain() {
			return q.Hash()
		}
	}
	return hashOfAny(b)
}

// hashOfAny is FlowHash of any frame. It is not inlined: FlowHash would make room for all that is read here.
//
//go:noinline
func hashOfAny(b []byte) uint32 {
	var h Header
	parse(b, &h)
	return h.Hash
}

// FindBTH is Parse for callers that need only the offsets of a RoCEv2 packet's headers: that of IP, and the base
// transport header; 0: it is none.
func FindBTH(b []byte) (l3, bth int) {
	if len(b) >= HeadersLen && (*Headers)(b).RoCE() {
		return EthernetLen, HeadersLen - BTHLen
	}
	var h Header
	parse(b, &h)
	return h.L3, h.BTH
}

// parse is Parse of any frame.
func parse(b []byte, h *Header) bool {
	*h = Header{}
	if len(b) < EthernetLen {
		return false
	}
	h.Dst, h.Src = MACAt(b), MACAt(b[6:])
	at := EthernetLen
	h.EtherType = binary.BigEndian.Uint16(b[12:])
	for range 2 {
		if h.EtherType != TypeVLAN && h.EtherType != TypeQinQ || len(b) < at+VLANLen {
			break
		}
		if !h.Tagged {
			h.Tagged, h.PCP = true, b[at]>>5
		}
		h.EtherType = binary.BigEndian.Uint16(b[at+2:])
		at += VLANLen
	}
	if h.EtherType == TypeCNTag && len(b) >= at+CNTagLen {
		h.CNTagged, h.FlowID = true, binary.BigEndian.Uint16(b[at:])
		h.EtherType = binary.BigEndian.Uint16(b[at+2:])
		at += CNTagLen
	}
	h.Payload = at
	switch h.EtherType {
	case TypeIPv4:
		h.parseIPv4(b, at)
	case TypeIPv6:
		h.parseIPv6(b, at)
	}
	if h.L3 == 0 {
		h.Hash = mix(uint64(h.Dst), uint64(h.Src))
	}
	return true
}

func (h *Header) parseIPv4(b []byte, at int) {
	if len(b) < at+IPv4Len || b[at]>>4 != 4 {
		return
	}
	ip := b[at:]
	length := int(ip[0]&15) * 4
	if length < IPv4Len || len(ip) < length {
		return
	}
	h.L3, h.TOS = at, ip[1]
	src, dst := binary.BigEndian.Uint32(ip[12:]), binary.BigEndian.Uint32(ip[16:])
	addresses := uint64(src)<<32 | uint64(dst)
	if binary.BigEndian.Uint16(ip[6:])&0x1FFF != 0 { // not the first fragment: no ports to read
		h.Hash = mix(addresses, uint64(ip[9]))
		return
	}
	h.Proto = ip[9]
	h.parseL4(b, at+length, addresses)
	if ip[6]&0x20 != 0 { // more fragments follow, without ports: all of a packet are one flow
		h.Hash = mix(addresses, uint64(ip[9]))
	}
}

func (h *Header) parseIPv6(b []byte, at int) {
	if len(b) < at+IPv6Len || b[at]>>4 != 6 {
		return
	}
	ip := b[at:]
	h.L3, h.TOS, h.Proto = at, ip[0]<<4|ip[1]>>4, ip[6]
	src := binary.BigEndian.Uint64(ip[8:]) ^ bits.RotateLeft64(binary.BigEndian.Uint64(ip[16:]), 17)
	dst := binary.BigEndian.Uint64(ip[24:]) ^ bits.RotateLeft64(binary.BigEndian.Uint64(ip[32:]), 31)
	h.parseL4(b, at+IPv6Len, src*0x9E3779B97F4A7C15^dst)
}

func (h *Header) parseL4(b []byte, at int, addresses uint64) {
	ports := uint32(0)
	if (h.Proto == ProtoUDP || h.Proto == ProtoTCP) && len(b) >= at+UDPLen {
		h.L4 = at
		ports = binary.BigEndian.Uint32(b[at:])
		h.SrcPort, h.DstPort = uint16(ports>>16), uint16(ports)
		if h.Proto == ProtoUDP && h.DstPort == PortRoCEv2 && len(b) >= at+UDPLen+BTHLen {
			h.BTH = at + UDPLen
		}
	}
	h.Hash = mix(addresses, uint64(ports)<<8|uint64(h.Proto))
}

// mix folds two words into a well spread 32-bit hash: one 128-bit product.
func mix(a, b uint64) uint32 {
	hi, lo := bits.Mul64(a^0xA0761D6478BD642F, b^0xE7037ED1A0B428DB)
	return uint32((hi ^ lo) >> 16)
}
