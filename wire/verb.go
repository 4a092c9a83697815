package wire

import "encoding/binary"

// Opcodes of reliable connections other than those of SEND (IBA volume 1, table 38).
const (
	OpSendLastImm   = 0x03
	OpSendOnlyImm   = 0x05
	OpWriteFirst    = 0x06
	OpWriteMiddle   = 0x07
	OpWriteLast     = 0x08
	OpWriteLastImm  = 0x09
	OpWriteOnly     = 0x0A
	OpWriteOnlyImm  = 0x0B
	OpReadRequest   = 0x0C
	OpResponseFirst = 0x0D // of a READ
	OpResponseMid   = 0x0E
	OpResponseLast  = 0x0F
	OpResponseOnly  = 0x10
)

// Lengths in bytes.
const (
	RETHLen = 16
	ImmLen  = 4 // immediate data
)

// WriteOpcode is that of a packet of an RDMA WRITE, by its place in the message.
func WriteOpcode(first, last bool) uint8 {
	if first && last {
		return OpWriteOnly
	}
	return SendOpcode(first, last) + OpWriteFirst
}

// ResponseOpcode is that of a packet that answers an RDMA READ, by its place among those that answer the request.
func ResponseOpcode(first, last bool) uint8 {
	if first && last {
		return OpResponseOnly
	}
	return SendOpcode(first, last) + OpResponseFirst
}

// Pad is how many bytes behind the payload are there for it to end with a word of four.
func (b BTH) Pad() int { return int(b[1] >> 4 & 3) }

// SetPad writes that number.
func (b BTH) SetPad(n int) { b[1] = b[1]&^0x30 | uint8(n&3)<<4 }

// Version is that of the transport header; there is none but 0.
func (b BTH) Version() uint8 { return b[1] & 15 }

// RETH is a view on an RDMA extended transport header, RETHLen bytes: what a WRITE or a READ is about.
type RETH []byte

func (r RETH) Address() uint64 { return binary.BigEndian.Uint64(r) }
func (r RETH) Key() uint32     { return binary.BigEndian.Uint32(r[8:]) }
func (r RETH) Length() uint32  { return binary.BigEndian.Uint32(r[12:]) }

// Encode writes the whole header.
func (r RETH) Encode(address uint64, key, length uint32) {
	binary.BigEndian.PutUint64(r, address)
	binary.BigEndian.PutUint32(r[8:], key)
	binary.BigEndian.PutUint32(r[12:], length)
}
