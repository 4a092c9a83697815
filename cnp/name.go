package cnp

import (
	"encoding/binary"

	"photon/wire"
)

// Name says which flow a CNP is about where no queue pair does: the flow of an
// application, of whatever protocol, between the addresses of the CNP. It stands
// in the reserved bytes behind the word, so that a receiver that knows of no
// names reads an ordinary CNP for queue pair 0.
type Name struct {
	Ports   bool // the flow is named by what follows; false: by the CNP's queue pair
	Proto   uint8
	SrcPort uint16 // of the flow's packets: the port of the CNP's receiver
	DstPort uint16
}

// Where a name stands in the reserved bytes.
const (
	nameKind  = 4
	nameProto = 5
	namePorts = 6

	kindPorts = 1
)

// EncodeNamed writes a CNP as Encode does, with a name.
func EncodeNamed(b []byte, to wire.RoCE, destQP uint32, name Name, n Notice) int {
	length := Encode(b, to, destQP, n)
	if !name.Ports {
		return length
	}
	bth := length - payloadLen
	reserved := b[bth+wire.BTHLen:][:reservedLen]
	reserved[nameKind], reserved[nameProto] = kindPorts, name.Proto
	binary.BigEndian.PutUint16(reserved[namePorts:], name.SrcPort)
	binary.BigEndian.PutUint16(reserved[namePorts+2:], name.DstPort)
	wire.SealICRC(b[wire.EthernetLen:length], bth-wire.EthernetLen)
	return length
}

// NameOf reads the name out of a CNP that Decode has found to be right.
func NameOf(b []byte, h *wire.Header) (name Name) {
	reserved := b[h.BTH+wire.BTHLen:][:reservedLen]
	if reserved[nameKind] != kindPorts {
		return name
	}
	return Name{
		Ports: true, Proto: reserved[nameProto],
		SrcPort: binary.BigEndian.Uint16(reserved[namePorts:]), DstPort: binary.BigEndian.Uint16(reserved[namePorts+2:]),
	}
}
