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
// makes and checks others with a fraction of the work. They may bring telemetry back, which
// no ICRC covers, and no other extension. It fills a line of the cache.
type AckHead struct {
	head  [ackTail]byte
	known bool
	with  uint8  // 1: telemetry, 0: nothing
	crc   uint32 // the ICRC of the one that was made or found right last,
	tail  uint64 // and the bytes from head to the end of the acknowledge extended header
}

// ackTail is where the eight bytes begin that differ: of the sequence number's word and of
// the acknowledge extended header.
const ackTail = HeadersLen - 4

// ackICRC is where the ICRC begins.
const ackICRC = AckLen - ICRCLen

// Learn takes the header of an acknowledgement whose ICRC is right. One with other extensions
// than telemetry, or that is not in IPv4 without options and tags, is not taken.
func (a *AckHead) Learn(b []byte) {
	if len(b) < AckLen || !(*Headers)(b).Plain() || b[42] != OpAcknowledge {
		return
	}
	ext := BTH(b[42:]).Extensions()
	end := AckLen + ExtensionsLen(ext)
	if ext&^ExtINT != 0 || len(b) < end {
		return
	}
	copy(a.head[:], b)
	BTH(a.head[42:]).SetECNEcho(false, false)
	a.tail, a.crc = binary.LittleEndian.Uint64(b[ackTail:]), binary.LittleEndian.Uint32(b[end-ICRCLen:])
	a.known, a.with = true, ext/ExtINT
}

// Forget makes Learn start again.
func (a *AckHead) Forget() { a.known = false }

// Known reports whether Put can make acknowledgements with these extensions.
func (a *AckHead) Known(ext uint8) bool { return a.known && ext == a.with*ExtINT }

// Put writes a whole acknowledgement, AckLen bytes and those of the telemetry, if the one that was learned has some.
func (a *AckHead) Put(b []byte, psn uint32, syndrome uint8, msn uint32, fecn, becn bool, telemetry *[INTLen]byte) {
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
	end := b[ackICRC:]
	if a.with != 0 {
		end = end[copy(end, telemetry[:]):]
	}
	binary.LittleEndian.PutUint32(end, crc)
}

// icrc is that of an acknowledgement with the eight bytes of tail. Mostly one of them,
// the last of the sequence number, differs from those before.
func (a *AckHead) icrc(tail uint64) uint32 {
	differs := tail ^ a.tail
	if differs&^(0xFF<<24) == 0 {
		return a.crc ^ icrcTails[a.with&1][3][uint8(differs>>24)]
	}
	return a.crc ^ icrcOfTail(&icrcTails[a.with&1], differs)
}

func word(b []byte) uint64   { return binary.LittleEndian.Uint64(b) }
func put(b []byte, w uint64) { binary.LittleEndian.PutUint64(b, w) }

// OK reports whether an acknowledgement has the header that was learned, but for what
// the ICRC does not cover, and the right ICRC. If not it may be right nonetheless.
func (a *AckHead) OK(b []byte) bool {
	if len(b) < AckLen || !a.known {
		return false
	}
	h, end := &a.head, AckLen
	if a.with != 0 {
		if end += INTLen; len(b) < end {
			return false
		}
	}
	// Service, time to live and checksum; the checksum of UDP; FECN and BECN, beside
	// which are the bits of extensions: they must be as they were.
	differs := (word(b[14:22])^word(h[14:22]))&^0xFF00 | (word(b[22:30])^word(h[22:30]))&^0xFFFF00FF | (word(b[30:38]) ^ word(h[30:38])) |
		(word(b[38:46])^word(h[38:46]))&^0xFFFF0000 | (word(b[42:50])^word(h[42:50]))&^0xC0_0000_0000
	tail, crc := word(b[ackTail:ackICRC]), binary.LittleEndian.Uint32(b[end-ICRCLen:end])
	if differs != 0 || crc != a.icrc(tail) {
		return false
	}
	a.tail, a.crc = tail, crc
	return true
}

// icrcTails have what each of eight bytes contributes to a CRC, which is linear, if they are the last, and if
// telemetry follows; the first row is that of the first of them.
var icrcTails = func() (t [2][8][256]uint32) {
	for with := range t {
		rows := &t[with]
		rows[7] = *crc32.IEEETable
		for range with * INTLen {
			for b, c := range rows[7] {
				rows[7][b] = behind(c)
			}
		}
		for i := 6; i >= 0; i-- {
			for b, c := range rows[i+1] {
				rows[i][b] = behind(c)
			}
		}
	}
	return t
}()

// behind is the remainder that c has become when a byte of zeros has followed.
func behind(c uint32) uint32 { return c>>8 ^ crc32.IEEETable[c&0xFF] }

// icrcOfTail is what eight bytes, the first of which is the lowest here, add to the CRC of a packet that has zeros
// there; or what the CRC changes by if they do.
func icrcOfTail(t *[8][256]uint32, tail uint64) uint32 {
	return t[0][tail&0xFF] ^ t[1][tail>>8&0xFF] ^ t[2][tail>>16&0xFF] ^ t[3][tail>>24&0xFF] ^
		t[4][tail>>32&0xFF] ^ t[5][tail>>40&0xFF] ^ t[6][tail>>48&0xFF] ^ t[7][tail>>56]
}
