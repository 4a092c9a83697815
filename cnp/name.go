package cnp

import (
	"encoding/binary"

	"photon/wire"
)

// Name says which flow a CNP is about where its queue pair does not, or not to everybody: the
// flow of an application, of whatever protocol, between the addresses of the CNP; or
// the flow to a queue pair, which the CNP itself, if it has the standard's form,
// does not name: it names the sender's. A name stands in the reserved bytes behind
// the word, so that a receiver that knows of no names reads an ordinary CNP.
type Name struct {
	Ports   bool // the flow is named by protocol and ports
	Proto   uint8
	SrcPort uint16 // of the flow's packets: the port of the CNP's receiver
	DstPort uint16

	Data bool   // the flow is named by
	QP   uint32 // the queue pair that its packets name, 24 bits
}

// Where a name stands in the reserved bytes.
const (
	nameKind  = 4
	nameProto = 5
	namePorts = 6

	kindPorts = 1
	kindData  = 2
)

// EncodeNamed writes a CNP as Encode does, with a name.
func EncodeNamed(b []byte, to wire.RoCE, destQP uint32, name Name, n Notice) int {
	length := Encode(b, to, destQP, n)
	if !name.Ports && !name.Data {
		return length
	}
	bth := length - payloadLen
	reserved := b[bth+wire.BTHLen:][:reservedLen]
	if name.Data {
		binary.BigEndian.PutUint32(reserved[nameKind:], kindData<<24|name.QP&(1<<24-1))
	} else {
		reserved[nameKind], reserved[nameProto] = kindPorts, name.Proto
		binary.BigEndian.PutUint16(reserved[namePorts:], name.SrcPort)
		binary.BigEndian.PutUint16(reserved[namePorts+2:], name.DstPort)
	}
	wire.SealICRC(b[wire.EthernetLen:length], bth-wire.EthernetLen)
	return length
}

// NameOf reads the name out of a CNP that Decode has found to be right.
func NameOf(b []byte, h *wire.Header) (name Name) {
	reserved := b[h.BTH+wire.BTHLen:][:reservedLen]
	switch reserved[nameKind] {
	case kindData:
		return Name{Data: true, QP: binary.BigEndian.Uint32(reserved[nameKind:]) & (1<<24 - 1)}
	case kindPorts:
	default:
		return name
	}
	return Name{
		Ports: true, Proto: reserved[nameProto],
		SrcPort: binary.BigEndian.Uint16(reserved[namePorts:]), DstPort: binary.BigEndian.Uint16(reserved[namePorts+2:]),
	}
}
