package cnp

import (
	"encoding/binary"
	"errors"
	"fmt"

	"photon/wire"
)

// Notice is what a CNP says.
type Notice struct {
	// ECN is the codepoint of the CNP's own IP header. PCN uses it as its flag
	// (NSDI'20 figure 9): wire.CE asks to decrease, wire.NotECT to increase. A
	// Not-ECT packet cannot be turned into the other by a switch on its way.
	ECN uint8
	// Word is the first word of the 16 reserved bytes: PCN's RecRate in units
	// of 1 Mbit/s, zero in an ordinary CNP.
	Word uint32
}

// Lengths of a CNP in bytes, without FCS.
const (
	reservedLen = 16
	payloadLen  = wire.BTHLen + reservedLen + wire.ICRCLen
	MaxLen      = wire.RoCEMaxLen + payloadLen
)

// Errors of Decode.
var (
	ErrShort  = errors.New("cnp: packet too short")
	ErrOpcode = errors.New("cnp: not a congestion notification packet")
	ErrICRC   = errors.New("cnp: invariant CRC does not match")
	ErrHeader = errors.New("cnp: bad IP header")
)

// Encode writes a CNP for queue pair destQP into b, at least MaxLen bytes, and
// returns its length. The ECN field of to.TOS is replaced by the notice's. It panics if that is no codepoint, of which
// there are four: the other bits would be another DSCP.
func Encode(b []byte, to wire.RoCE, destQP uint32, n Notice) int {
	if n.ECN > wire.CE {
		panic(fmt.Sprintf("a notice has ECN codepoint %d (they are 0 to 3)", n.ECN))
	}
	to.TOS = to.TOS&^3 | n.ECN
	bth := to.Encode(b, payloadLen)
	b = b[:bth+payloadLen]
	wire.BTH(b[bth:]).Encode(wire.OpCNP, true, destQP, false, 0)
	reserved := b[bth+wire.BTHLen:][:reservedLen]
	clear(reserved)
	binary.BigEndian.PutUint32(reserved, n.Word)
	wire.SealICRC(b[wire.EthernetLen:], bth-wire.EthernetLen)
	return len(b)
}

// Decode reads a CNP out of a whole frame whose headers have been parsed.
// Bytes after the packet, such as Ethernet padding, do no harm.
// Errors: ErrOpcode, ErrShort, ErrICRC, and ErrHeader (RFC 1122 section 3.2.1.2): the ECN field, which is PCN's flag, is in
// no ICRC, and only the header's checksum protects it.
func Decode(b []byte, h *wire.Header) (destQP uint32, n Notice, err error) {
	if h.BTH == 0 || wire.BTH(b[h.BTH:]).Opcode() != wire.OpCNP {
		return 0, Notice{}, ErrOpcode
	}
	if len(b) < h.BTH+payloadLen {
		return 0, Notice{}, ErrShort
	}
	if !wire.HeaderOK(b[h.L3:], len(b)-h.L3) {
		return 0, Notice{}, ErrHeader
	}
	b = b[:h.BTH+payloadLen]
	if !wire.ICRCOK(b[h.L3:], h.BTH-h.L3) {
		return 0, Notice{}, ErrICRC
	}
	bth := wire.BTH(b[h.BTH:])
	return bth.DestQP(), Notice{ECN: wire.ECN(b[h.L3:]), Word: binary.BigEndian.Uint32(b[h.BTH+wire.BTHLen:])}, nil
}
