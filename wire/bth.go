package wire

import "encoding/binary"

// Opcodes of the base transport header: reliable connection (IBA volume 1,
// table 38) and the congestion notification packet (annex A17.9.3).
const (
	OpSendFirst   = 0x00
	OpSendMiddle  = 0x01
	OpSendLast    = 0x02
	OpSendOnly    = 0x04
	OpAcknowledge = 0x11
	OpCNP         = 0x81

	// Of the manufacturers' own (11xxxxxx): between NICs that wrap the packets of
	// applications, and what is told of one.
	OpShim     = 0xC0
	OpShimEcho = 0xC1
)

// CarriesData reports whether packets with an opcode bring data of a flow. The five low bits say what a packet
// is, whatever the transport: an acknowledgement brings none, nor does a request to read. Of what manufacturers have
// of their own nothing is known, but for photon's.
func CarriesData(opcode uint8) bool {
	const transport, readRequest, atomicAck, resync = 0xE0, 0x0C, 0x12, 0x15
	switch {
	case opcode == OpCNP || opcode == OpShimEcho:
		return false
	case opcode >= OpShim:
		return true
	}
	const others uint32 = 1<<readRequest | 1<<OpAcknowledge | 1<<atomicAck | 1<<resync
	return others>>(opcode&^transport)&1 == 0
}

// SendOpcode is that of a packet of a SEND, by its place in the message.
func SendOpcode(first, last bool) uint8 {
	switch {
	case first && last:
		return OpSendOnly
	case first:
		return OpSendFirst
	case last:
		return OpSendLast
	}
	return OpSendMiddle
}

// BTH is a view on a base transport header, BTHLen bytes.
type BTH []byte

func (b BTH) Opcode() uint8     { return b[0] }
func (b BTH) PKey() uint16      { return binary.BigEndian.Uint16(b[2:]) }
func (b BTH) DestQP() uint32    { return binary.BigEndian.Uint32(b[4:]) & 0xFFFFFF }
func (b BTH) PSN() uint32       { return binary.BigEndian.Uint32(b[8:]) & 0xFFFFFF }
func (b BTH) AckRequest() bool  { return b[8]&0x80 != 0 }
func (b BTH) BECN() bool        { return b[4]&0x40 != 0 }
func (b BTH) FECN() bool        { return b[4]&0x80 != 0 }
func (b BTH) SetOpcode(o uint8) { b[0] = o }

// Extensions that photon's hosts put between the base transport header (of a
// request) or the acknowledge extended header and the payload. The byte of FECN
// and BECN has six reserved bits that the ICRC does not cover; three of them say
// what is there.
const (
	ExtINT   uint8 = 0x01 // in-band telemetry, INTLen bytes
	ExtStamp uint8 = 0x02 // the sender's clock, StampLen bytes, echoed
	ExtPlace uint8 = 0x04 // a PSN, PlaceLen bytes: of data the flow's first, of an acknowledgement that of its cause

	extAll = ExtINT | ExtStamp | ExtPlace
)

// PlaceLen is the length of a PSN in addition to the header's: PlaceMark, and three bytes. The ICRC covers them, and not
// the bit that says they are there: the mark tells a packet whose bit was broken on the way.
const (
	PlaceLen  = 4
	PlaceMark = 0xA5
)

// Extensions returns which of ours the packet carries.
func (b BTH) Extensions() uint8 { return b[4] & extAll }

// SetExtensions says which of ours the packet carries.
func (b BTH) SetExtensions(e uint8) { b[4] = b[4]&^extAll | e }

// ExtensionsLen is how many bytes extensions take: telemetry first, then the PSN, then the clock.
func ExtensionsLen(e uint8) (n int) {
	if e&ExtINT != 0 {
		n += INTLen
	}
	if e&ExtPlace != 0 {
		n += PlaceLen
	}
	if e&ExtStamp != 0 {
		n += StampLen
	}
	return n
}

// SetECNEcho sets FECN and BECN, in which an acknowledgement tells what mark the
// packet had.
func (b BTH) SetECNEcho(fecn, becn bool) {
	b[4] &^= 0xC0
	if fecn {
		b[4] |= 0x80
	}
	if becn {
		b[4] |= 0x40
	}
}

// Encode writes a whole header: default partition key, no solicited event, no
// padding, transport version 0.
func (b BTH) Encode(opcode uint8, becn bool, destQP uint32, ackRequest bool, psn uint32) {
	b[0], b[1] = opcode, 0
	b[2], b[3] = 0xFF, 0xFF
	binary.BigEndian.PutUint32(b[4:], destQP&0xFFFFFF)
	if becn {
		b[4] = 0x40
	}
	b.SetPSN(psn, ackRequest)
}

// SetPSN writes the packet sequence number (24 bits) and the acknowledge request.
func (b BTH) SetPSN(psn uint32, ackRequest bool) {
	binary.BigEndian.PutUint32(b[8:], psn&0xFFFFFF)
	if ackRequest {
		b[8] = 0x80
	}
}

// AETH syndromes (IBA volume 1, table 45). An acknowledgement carries a credit
// count of 31, "not used".
const (
	SyndromeACK     = 0x1F
	SyndromeNAK     = 0x60 // PSN sequence error
	SyndromeInvalid = 0x61 // invalid request
	SyndromeAccess  = 0x62 // remote access error
)

// IsACK reports whether a syndrome is of an acknowledgement, whatever its credits; else it is a NAK.
func IsACK(syndrome uint8) bool { return syndrome>>5 == 0 }

// IsRNR reports whether it says that the receiver was not ready; its lower five bits name a time.
func IsRNR(syndrome uint8) bool { return syndrome>>5 == 1 }

// AETH is a view on an acknowledge extended header, AETHLen bytes.
type AETH []byte

func (a AETH) Syndrome() uint8 { return a[0] }
func (a AETH) MSN() uint32     { return binary.BigEndian.Uint32(a) & 0xFFFFFF }

// Encode writes a syndrome and a message sequence number (24 bits).
func (a AETH) Encode(syndrome uint8, msn uint32) {
	binary.BigEndian.PutUint32(a, msn&0xFFFFFF)
	a[0] = syndrome
}

// IsCNP reports whether a packet, from its IP header on, is a RoCEv2 congestion notification.
func IsCNP(ip []byte) bool {
	at, proto := IPv6Len, ip[6]
	if ip[0]>>4 == 4 {
		if at, proto = int(ip[0]&15)*4, ip[9]; ip[6]&0x1F|ip[7] != 0 { // not the first fragment
			return false
		}
	}
	return proto == ProtoUDP && len(ip) >= at+UDPLen+BTHLen && ip[at+2] == PortRoCEv2>>8 && ip[at+3] == PortRoCEv2&0xFF && ip[at+UDPLen] == OpCNP
}
