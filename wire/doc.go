// Package wire knows where the bytes are: Ethernet, 802.1Q, IPv4, IPv6, UDP
// and the InfiniBand transport headers of RoCEv2, as getters and setters on
// slices. Nothing is copied and nothing is allocated.
//
// Offsets and lengths exclude the FCS, as network devices hand frames over.
// A slice may end before its frame does: the simulator keeps the headers of a
// frame and only the length of its payload. Functions that need the whole
// frame say so.
//
// Left out: IPv6 extension headers and more than two VLAN tags; such frames
// are still Ethernet frames and are forwarded as such.
//
// The files, in the order of a frame's bytes:
//
//	mac.go, vlan.go           Ethernet addresses; tags
//	ip.go, addr.go            ECN, DSCP; addresses
//	roce.go, bth.go, verb.go  RoCEv2 headers; the base transport header; RDMA's opcodes
//	int.go, ack.go            telemetry; acknowledgements
//	icrc.go                   the checksum of RoCEv2
//	parse.go, headers.go      headers of a frame at once; the same in few loads
//	route.go, icmp.go         what a router does to packets; its errors
//	binding.go, neighbour.go  which address is whose, by ARP and neighbour discovery
package wire

// Lengths in bytes.
const (
	EthernetLen = 14
	VLANLen     = 4
	IPv4Len     = 20 // without options
	IPv6Len     = 40
	UDPLen      = 8
	BTHLen      = 12
	AETHLen     = 4
	ICRCLen     = 4
	CNTagLen    = 4
	StampLen    = 8
	EchoLen     = 16 // of a NIC's packet: clock, and bytes sent
	INTLen      = 2 + INTHops*8

	FCSLen      = 4
	MinFrameLen = 60 // 64 with the FCS (IEEE 802.3 clause 4A)

	// Overhead is what a frame occupies on the wire beyond the bytes that a
	// device hands over: preamble and start delimiter 8, FCS 4, inter-frame gap 12.
	Overhead = 8 + FCSLen + 12
)

// EtherTypes.
const (
	TypeIPv4       = 0x0800
	TypeARP        = 0x0806
	TypeVLAN       = 0x8100
	TypeIPv6       = 0x86DD
	TypeQinQ       = 0x88A8
	TypeMACControl = 0x8808
	TypeCNTag      = 0x22E9 // IEEE 802.1Qau: a flow's number follows
	TypeCNM        = 0x22E7 // IEEE 802.1Qau: a congestion notification message follows
)

// IP protocols and UDP ports.
const (
	ProtoTCP   = 6
	ProtoUDP   = 17
	PortRoCEv2 = 4791 // IANA; InfiniBand Architecture Specification, annex A17
)

// ECN codepoints (RFC 3168 section 5).
const (
	NotECT uint8 = 0b00
	ECT1   uint8 = 0b01
	ECT0   uint8 = 0b10
	CE     uint8 = 0b11
)
