package wire

import "encoding/binary"

// RoCE is what the headers of a RoCEv2 packet below the base transport header
// say. Both addresses are of one family.
type RoCE struct {
	DstMAC, SrcMAC MAC
	Src, Dst       IP
	TOS            uint8 // DSCP<<2 | ECN
	SrcPort        uint16
}

// RoCEMaxLen is the length of the longest headers that Encode writes.
const RoCEMaxLen = EthernetLen + IPv6Len + UDPLen

// Encode writes Ethernet, IP and UDP headers for a packet of which length bytes
// follow the UDP header (BTH to ICRC), and returns the offset of the base
// transport header. The UDP checksum is zero, as RoCEv2 has it.
func (r *RoCE) Encode(b []byte, length int) (bth int) {
	r.DstMAC.Put(b)
	r.SrcMAC.Put(b[6:])
	at := EthernetLen
	if r.Src.Is4() {
		binary.BigEndian.PutUint16(b[12:], TypeIPv4)
		ip := b[at : at+IPv4Len]
		clear(ip)
		ip[0], ip[1] = 0x45, r.TOS
		ip[6] = 0x40 // don't fragment
		ip[8], ip[9] = 64, ProtoUDP
		copy(ip[12:], r.Src[12:])
		copy(ip[16:], r.Dst[12:])
		SetIPLength(ip, IPv4Len+UDPLen+length)
		at += IPv4Len
	} else {
		binary.BigEndian.PutUint16(b[12:], TypeIPv6)
		ip := b[at : at+IPv6Len]
		clear(ip)
		ip[0], ip[1] = 0x60|r.TOS>>4, r.TOS<<4
		ip[6], ip[7] = ProtoUDP, 64
		copy(ip[8:], r.Src[:])
		copy(ip[24:], r.Dst[:])
		SetIPLength(ip, IPv6Len+UDPLen+length)
		at += IPv6Len
	}
	udp := b[at : at+UDPLen]
	binary.BigEndian.PutUint16(udp, r.SrcPort)
	binary.BigEndian.PutUint16(udp[2:], PortRoCEv2)
	binary.BigEndian.PutUint16(udp[4:], uint16(UDPLen+length))
	udp[6], udp[7] = 0, 0
	return at + UDPLen
}
