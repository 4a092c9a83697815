package credits

import (
	"encoding/binary"
	"errors"

	"photon/wire"
)

// Packet is a flow control packet of one lane: 6 bytes, operand and FCTBS, lane and FCCL, LPCRC.
type Packet struct {
	Init  bool   // the operand: the sender does not know yet what was sent to it, and Limit is void
	Lane  uint8  // virtual lane, 0 to 7
	Sent  uint16 // FCTBS, blocks sent since the beginning, modulo 4096
	Limit uint16 // FCCL, up to which the peer may send, modulo 4096
}

// PacketLen is the length of a flow control packet with its CRC.
const PacketLen = 6

// Put writes the packet, PacketLen bytes.
func (p *Packet) Put(b []byte) {
	op := uint16(0)
	if p.Init {
		op = 1
	}
	binary.BigEndian.PutUint16(b[0:], op<<12|p.Sent&wrap)
	binary.BigEndian.PutUint16(b[2:], uint16(p.Lane)<<12|p.Limit&wrap)
	binary.BigEndian.PutUint16(b[4:], lpcrc(b[:4]))
}

// Get reads a packet, and reports whether it is one that is intact.
func (p *Packet) Get(b []byte) bool {
	if len(b) < PacketLen || binary.BigEndian.Uint16(b[4:]) != lpcrc(b[:4]) {
		return false
	}
	first, second := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	*p = Packet{Init: first>>12 == 1, Lane: uint8(second >> 12), Sent: first & wrap, Limit: second & wrap}
	return first>>12 <= 1 && p.Lane < Lanes
}

// lpcrc is the CRC of link packets: the polynomial of VCRC, x^16+x^12+x^3+x+1, from all ones, inverted; the highest bit of
// a byte comes first, which is ours to say, since packets travel in frames of our own.
func lpcrc(b []byte) uint16 {
	sum := uint16(0xFFFF)
	for _, c := range b {
		sum = sum<<8 ^ ofByte[byte(sum>>8)^c]
	}
	return ^sum
}

// ofByte is what is left of each byte when the polynomial has divided it.
var ofByte = func() (rests [256]uint16) {
	for c := range rests {
		rest := uint16(c) << 8
		for range 8 {
			rest = rest<<1 ^ rest>>15*0x100B
		}
		rests[c] = rest
	}
	return rests
}()

// Between Ethernet ports flow control packets travel in a MAC control frame, of the opcode that organisations may
// define (IEEE 802.3 annex 31C): no bridge forwards it, and nothing but a port with credits knows it. InfiniBand sends
// them bare.
const (
	opcode    = 0xFFFE
	extension = 0x02_5048 // a locally administered identifier, not assigned to anyone
	headerLen = 14 + 2 + 3
)

// Destination is the address of all MAC control frames.
const Destination wire.MAC = 0x0180_C200_0001

// FrameLen is the length of a frame of n packets, without FCS.
func FrameLen(n int) int { return max(wire.MinFrameLen, headerLen+PacketLen*n) }

// Encode writes the frame of packets, FrameLen(len(list)) bytes, to b.
func Encode(b []byte, src wire.MAC, list []Packet) {
	b = b[:FrameLen(len(list))]
	clear(b)
	Destination.Put(b)
	src.Put(b[6:])
	binary.BigEndian.PutUint16(b[12:], wire.TypeMACControl)
	binary.BigEndian.PutUint16(b[14:], opcode)
	b[16], b[17], b[18] = extension>>16, extension>>8&0xFF, extension&0xFF
	for i := range list {
		list[i].Put(b[headerLen+PacketLen*i:])
	}
}

// Errors of Decode.
var (
	ErrFrame  = errors.New("credits: no frame of flow control packets")
	ErrPacket = errors.New("credits: a flow control packet is broken")
)

// Decode reads a MAC control frame from its Ethernet header on, and appends its packets to list, those before a broken
// one if there is one. Padding ends them: no packet is all zeros.
func Decode(list []Packet, b []byte) ([]Packet, error) {
	if len(b) < headerLen || binary.BigEndian.Uint16(b[12:]) != wire.TypeMACControl || binary.BigEndian.Uint16(b[14:]) != opcode ||
		b[16] != extension>>16 || b[17] != extension>>8&0xFF || b[18] != extension&0xFF {
		return list, ErrFrame
	}
	for b = b[headerLen:]; len(b) >= PacketLen && len(list) < Lanes; b = b[PacketLen:] {
		if [PacketLen]byte(b) == [PacketLen]byte{} {
			break
		}
		var p Packet
		if !p.Get(b) {
			return list, ErrPacket
		}
		list = append(list, p)
	}
	return list, nil
}

// Takes reports whether a frame takes credits: what goes to the other end of the link alone (IEEE 802.1Q table 8-1) is sent
// past the lanes, as flow control packets, LLDP and probes are.
func Takes(b []byte) bool { return len(b) >= wire.EthernetLen && !wire.MACAt(b).LinkLocal() }
