package pfc

import (
	"encoding/binary"
	"errors"

	"photon/units"
	"photon/wire"
)

// FrameLen is the length of a MAC control frame without its FCS.
const FrameLen = wire.MinFrameLen

// Destination is the address of all MAC control frames (IEEE 802.3 annex 31B).
const Destination wire.MAC = 0x0180_C200_0001

// Addressed reports whether a MAC control frame counts for who receives it: it is to their group address, from a station (IEEE
// 802.1Q clause 36.1.3.3, IEEE 802.3 annex 31B.3.3). With any other a host could pause ports that are not its own.
func Addressed(h *wire.Header) bool { return h.Dst == Destination && !h.Src.Multicast() }

const (
	opcodePause = 0x0001 // IEEE 802.3 annex 31B
	opcodePFC   = 0x0101 // IEEE 802.1Q clause 36
)

// MaxQuanta is the longest pause a frame can ask for: 3.36 ms at 10 Gbit/s.
const MaxQuanta = 65535

// Errors of Decode.
var (
	ErrShort  = errors.New("pfc: MAC control frame too short")
	ErrOpcode = errors.New("pfc: MAC control opcode is neither PAUSE nor PFC")
)

// Frame is a PFC frame, or an 802.3x PAUSE frame, which stops all priorities.
type Frame struct {
	Global bool            // an 802.3x PAUSE; Quanta[0] is its pause time
	Enable uint8           // bit n: Quanta[n] applies to priority n
	Quanta [Classes]uint16 // pause times in units of 512 bit times; 0 is XON
}

// Encode writes the frame, FrameLen bytes padded with zeros, to b.
func (f *Frame) Encode(b []byte, src wire.MAC) {
	b = b[:FrameLen]
	clear(b)
	Destination.Put(b)
	src.Put(b[6:])
	binary.BigEndian.PutUint16(b[12:], wire.TypeMACControl)
	if f.Global {
		binary.BigEndian.PutUint16(b[14:], opcodePause)
		binary.BigEndian.PutUint16(b[16:], f.Quanta[0])
		return
	}
	binary.BigEndian.PutUint16(b[14:], opcodePFC)
	binary.BigEndian.PutUint16(b[16:], uint16(f.Enable))
	for i, q := range f.Quanta {
		binary.BigEndian.PutUint16(b[18+2*i:], q)
	}
}

// Decode reads a MAC control frame from its Ethernet header on. A PAUSE comes
// out with all priorities enabled. Errors: ErrShort, ErrOpcode.
func (f *Frame) Decode(b []byte) error {
	*f = Frame{}
	if len(b) < FrameLen { // a MAC takes no shorter one (IEEE 802.3 clauses 4.2.4.1.2 and 31.4); a virtual device does
		return ErrShort
	}
	switch binary.BigEndian.Uint16(b[14:]) {
	case opcodePause:
		f.Global, f.Enable = true, 0xFF
		for i := range f.Quanta {
			f.Quanta[i] = binary.BigEndian.Uint16(b[16:])
		}
	case opcodePFC:
		f.Enable = b[17] // the high byte is reserved and ignored
		for i := range f.Quanta {
			f.Quanta[i] = binary.BigEndian.Uint16(b[18+2*i:])
		}
	default:
		return ErrOpcode
	}
	return nil
}

// Duration returns how long q quanta are at rate r. One quantum is 512 bit
// times of the link (IEEE 802.3 annex 31B.2).
func Duration(q uint16, r units.Rate) units.Time { return r.Serialize(64 * units.Size(q)) }

// Quanta returns the fewest quanta that pause for d at rate r, at most MaxQuanta.
func Quanta(d units.Time, r units.Rate) uint16 {
	q := (r.Bytes(d) + 63) / 64
	if q < MaxQuanta && Duration(uint16(q), r) < d {
		q++ // Bytes rounds down
	}
	return uint16(min(q, MaxQuanta))
}
