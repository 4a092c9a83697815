package wire

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// AckLen is the length of an acknowledgement without extensions in IPv4, from the
// Ethernet header to the ICRC.
const AckLen = HeadersLen + AETHLen + ICRCLen

// AckHead is what the acknowledgements of a flow have in common: all up to the packet
// sequence number, but for the bits that echo marks. It is learned from one of them, and
// makes and checks others with a fraction of the work. It fills a line of the cache.
type AckHead struct {
	head  [ackTail]byte
	known bool
	crc   uint32 // the ICRC of the one that was made or found right last,
	tail  uint64 // and what is between head and it
}

// ackTail is where the eight bytes begin that differ: of the sequence number's word and of
// the acknowledge extended header.
const ackTail = HeadersLen - 4

const (
	ackEcho = HeadersLen - BTHLen + 4 // the byte of FECN and BECN
	ackICRC = AckLen - ICRCLen
)

// Learn takes the header of an acknowledgement whose ICRC is right. One with
// extensions, or that is not in IPv4 without options and tags, is not taken.
func (a *AckHead) Learn(b []byte) {
	if len(b) < AckLen || !(*Headers)(b).Plain() || b[42] != OpAcknowledge || BTH(b[42:]).Extensions() != 0 {
		return
	}
	copy(a.head[:], b)
	BTH(a.head[42:]).SetECNEcho(false, false)
	a.tail, a.crc = binary.LittleEndian.Uint64(b[ackTail:]), binary.LittleEndian.Uint32(b[ackICRC:])
	a.known = true
}

// Forget makes Learn start again.
func (a *AckHead) Forget() { a.known = false }

// Known reports whether Put can make acknowledgements.
func (a *AckHead) Known() bool { return a.known }

// Put writes a whole acknowledgement, AckLen bytes.
func (a *AckHead) Put(b []byte, psn uint32, syndrome uint8, msn uint32, fecn, becn bool) {
	_ = b[AckLen-1]
	h := &a.head
	put(b[0:8], word(h[0:8])) // word by word: a copy of so few bytes is mostly the call of it
	put(b[8:16], word(h[8:16]))
	put(b[16:24], word(h[16:24]))
	put(b[24:32], word(h[24:32]))
	put(b[32:40], word(h[32:40]))
	binary.LittleEndian.PutUint16(b[40:42], binary.LittleEndian.Uint16(h[40:42]))
	start := word(h[42:50]) // of the BTH
	if fecn {
		start |= 0x80 << 32
	}
	if becn {
		start |= 0x40 << 32
	}
	put(b[42:50], start)
	tail := uint64(bits.ReverseBytes32(psn&0xFFFFFF)) | uint64(bits.ReverseBytes32(uint32(syndrome)<<24|msn&0xFFFFFF))<<32
	crc := a.icrc(tail)
	a.tail, a.crc = tail, crc
	put(b[ackTail:ackICRC], tail)
	binary.LittleEndian.PutUint32(b[ackICRC:AckLen], crc)
}

// icrc is that of an acknowledgement with the eight bytes of tail. Mostly one of them,
// the last of the sequence number, differs from those before.
func (a *AckHead) icrc(tail uint64) uint32 {
	differs := tail ^ a.tail
	if differs&^(0xFF<<24) == 0 {
		return a.crc ^ icrcTail[3][uint8(differs>>24)]
	}
	return a.crc ^ icrcOfTail(differs)
}

func word(b []byte) uint64   { return binary.LittleEndian.Uint64(b) }
func put(b []byte, w uint64) { binary.LittleEndian.PutUint64(b, w) }

// OK reports whether an acknowledgement has the header that was learned, but for what
// the ICRC does not cover, and the right ICRC. If not it may be right nonetheless.
func (a *AckHead) OK(b []byte) bool {
	if len(b) < AckLen || !a.known {
		return false
	}
	h := &a.head
	// Service, time to live and checksum; the checksum of UDP; FECN and BECN, beside
	// which are the bits of extensions: they must be as they were.
	differs := (word(b[14:22])^word(h[14:22]))&^0xFF00 | (word(b[22:30])^word(h[22:30]))&^0xFFFF00FF | (word(b[30:38]) ^ word(h[30:38])) |
		(word(b[38:46])^word(h[38:46]))&^0xFFFF0000 | (word(b[42:50])^word(h[42:50]))&^0xC0_0000_0000
	tail, crc := word(b[ackTail:ackICRC]), binary.LittleEndian.Uint32(b[ackICRC:AckLen])
	if differs != 0 || crc != a.icrc(tail) {
		return false
	}
	a.tail, a.crc = tail, crc
	return true
}

// icrcTail has what each byte of the last eight contributes to a CRC, which is linear:
// the first row is that of the first.
var icrcTail = func() (t [8][256]uint32) {
	t[7] = *crc32.IEEETable
	for i := 6; i >= 0; i-- {
		for b, c := range t[i+1] {
			t[i][b] = c>>8 ^ t[7][c&0xFF]
		}
	}
	return t
}()

// icrcOfTail is what eight bytes at the end, the first of which is the lowest here, add
// to the CRC of a packet that has zeros there; or what the CRC changes by if they do.
func icrcOfTail(tail uint64) uint32 {
	t := &icrcTail
	return t[0][tail&0xFF] ^ t[1][tail>>8&0xFF] ^ t[2][tail>>16&0xFF] ^ t[3][tail>>24&0xFF] ^
		t[4][tail>>32&0xFF] ^ t[5][tail>>40&0xFF] ^ t[6][tail>>48&0xFF] ^ t[7][tail>>56]
}
