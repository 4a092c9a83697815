package cnp

import (
	"encoding/binary"
	"fmt"

	"photon/wire"
)

// CNM is a congestion notification message of QCN (IEEE 802.1Qau, now IEEE
// 802.1Q clause 33.4): what a switch sends to the source of a frame it sampled.
type CNM struct {
	QntzFb   uint8    // quantised feedback, 0 to 63
	CPID     uint64   // of the congestion point
	QOffset  int16    // set point less queue, in units of 64 bytes
	QDelta   int16    // growth of the queue since the last sample, in units of 64 bytes
	Priority uint8    // of the sampled frame
	Dst      wire.MAC // of the sampled frame
	Tagged   bool     // the sampled frame carried a CN-TAG
	FlowID   uint16   // of the CN-TAG
}

// mostFb is the largest feedback: it has six bits.
const mostFb = 63

// Lengths of the message, and of what precedes it at most.
const (
	cnmLen    = 24
	MaxCNMLen = max(wire.EthernetLen+wire.VLANLen+wire.CNTagLen+cnmLen, wire.MinFrameLen)
)

// EncodeCNM writes a message to the source of the frame that begins with
// sampled and was parsed into h, and returns its length. Its VLAN tag and its
// CN-TAG come back to it. No part of the frame is encapsulated
// (cpMinHeaderOctets 0, the default of the standard's MIB). It panics if the
// feedback has more than its six bits: 64 would be none.
func EncodeCNM(b, sampled []byte, h *wire.Header, src wire.MAC, m CNM) int {
	if m.QntzFb > mostFb {
		panic(fmt.Sprintf("a sample has QntzFb %d (it is %d at most)", m.QntzFb, mostFb))
	}
	b = b[:MaxCNMLen]
	clear(b)
	h.Src.Put(b)
	src.Put(b[6:])
	at := 12
	if h.Tagged {
		at += copy(b[at:], sampled[12:12+wire.VLANLen])
	}
	if h.CNTagged {
		binary.BigEndian.PutUint16(b[at:], wire.TypeCNTag)
		binary.BigEndian.PutUint16(b[at+2:], h.FlowID)
		at += wire.CNTagLen
	}
	binary.BigEndian.PutUint16(b[at:], wire.TypeCNM)
	p := b[at+2:]
	binary.BigEndian.PutUint16(p, uint16(m.QntzFb)) // version 0, reserved 0
	binary.BigEndian.PutUint64(p[2:], m.CPID)
	binary.BigEndian.PutUint16(p[10:], uint16(m.QOffset))
	binary.BigEndian.PutUint16(p[12:], uint16(m.QDelta))
	binary.BigEndian.PutUint16(p[14:], uint16(m.Priority)<<13)
	h.Dst.Put(p[16:])
	binary.BigEndian.PutUint16(p[22:], 0) // encapsulated MSDU length
	return max(at+2+cnmLen, wire.MinFrameLen)
}

// DecodeCNM reads a message out of a frame whose headers have been parsed.
// Errors: ErrOpcode if it is no CNM, ErrShort.
func DecodeCNM(b []byte, h *wire.Header) (m CNM, err error) {
	if h.EtherType != wire.TypeCNM {
		return m, ErrOpcode
	}
	if len(b) < h.Payload+cnmLen {
		return m, ErrShort
	}
	p := b[h.Payload:]
	return CNM{
		QntzFb: uint8(binary.BigEndian.Uint16(p) & mostFb), CPID: binary.BigEndian.Uint64(p[2:]),
		QOffset: int16(binary.BigEndian.Uint16(p[10:])), QDelta: int16(binary.BigEndian.Uint16(p[12:])),
		Priority: p[14] >> 5, Dst: wire.MACAt(p[16:]), Tagged: h.CNTagged, FlowID: h.FlowID,
	}, nil
}
