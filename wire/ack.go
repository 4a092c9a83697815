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
// makes and checks others with the same extensions with a fraction of the work. It fills a
// line of the cache.
type AckHead struct {
	head [ackTail]byte
	with uint8  // the extensions, and learned
	more uint8  // bytes that they take
	crc  uint32 // the ICRC of the one that was made or found right last, with zeros for extensions that it covers,
	tail uint64 // and the bytes from head to the end of the acknowledge extended header
}

// learned is beside the extensions of an AckHead that has been learned.
const learned = 0x80

// ackTail is where the eight bytes begin that differ: of the sequence number's word and of
// the acknowledge extended header.
const ackTail = HeadersLen - 4

// ackICRC is where the ICRC begins.
const ackICRC = AckLen - ICRCLen

// Learn takes the header of an acknowledgement whose ICRC is right. One that is not in IPv4
// without options and tags is not taken.
func (a *AckHead) Learn(b []byte) {
	if len(b) < AckLen || !(*Headers)(b).Plain() || b[42] != OpAcknowledge {
		return
	}
	ext := BTH(b[42:]).Extensions()
	more := ExtensionsLen(ext)
	if len(b) < AckLen+more {
		return
	}
	copy(a.head[:], b)
	BTH(a.head[42:]).SetECNEcho(false, false)
	a.with, a.more, a.tail = ext|learned, uint8(more), word(b[ackTail:ackICRC])
	a.crc = binary.LittleEndian.Uint32(b[ackICRC+more:]) ^ a.icrcOfExtensions(b)
}

// Forget makes Learn start again.
func (a *AckHead) Forget() { a.with = 0 }

// Known reports whether Put can make acknowledgements with these extensions.
func (a *AckHead) Known(ext uint8) bool { return a.with == ext|learned }

// Put writes a whole acknowledgement, AckLen bytes and those of the extensions of the one that was learned. Of
// telemetry, a cause and a stamp it takes those that are among them.
func (a *AckHead) Put(
	b []byte, psn uint32, syndrome uint8, msn uint32, fecn, becn bool,
	telemetry *[INTLen]byte, cause uint32, stamp *[StampLen]byte,
) {
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
	if end := b[ackICRC:]; a.more != 0 {
		if a.with&ExtINT != 0 {
			end = end[copy(end, telemetry[:]):]
		}
		if a.with&ExtPlace != 0 {
			binary.BigEndian.PutUint32(end, PlaceMark<<24|cause&0xFFFFFF)
			end = end[PlaceLen:]
		}
		if a.with&ExtStamp != 0 {
			copy(end, stamp[:])
		}
		crc ^= a.icrcOfExtensions(b)
	}
	binary.LittleEndian.PutUint32(b[ackICRC+int(a.more):], crc)
}

// icrc is that of an acknowledgement with the eight bytes of tail, and zeros for extensions. Mostly one of the eight,
// the last of the sequence number, differs from those before.
func (a *AckHead) icrc(tail uint64) uint32 {
	differs, rows := tail^a.tail, icrcRows(int(a.more))
	if differs&^(0xFF<<24) == 0 {
		return a.crc ^ rows[4][uint8(differs>>24)]
	}
	return a.crc ^ icrcOfWord(rows, differs)
}

// icrcOfExtensions is what the extensions of an acknowledgement add to its ICRC, which does not cover telemetry.
func (a *AckHead) icrcOfExtensions(b []byte) (crc uint32) {
	if a.with&(ExtPlace|ExtStamp) == 0 {
		return 0
	}
	end := ackICRC + int(a.more)
	if a.with&ExtStamp != 0 {
		end -= StampLen
		crc = icrcOfWord(icrcRows(0), word(b[end:]))
	}
	if a.with&ExtPlace != 0 {
		place := uint64(binary.LittleEndian.Uint32(b[end-PlaceLen:]))
		crc ^= icrcOfWord(icrcRows(ackICRC+int(a.more)-end), place<<32)
	}
	return crc
}

func word(b []byte) uint64   { return binary.LittleEndian.Uint64(b) }
func put(b []byte, w uint64) { binary.LittleEndian.PutUint64(b, w) }

// OK reports whether an acknowledgement has the header that was learned, but for what
// the ICRC does not cover, and the right ICRC. If not it may be right nonetheless.
func (a *AckHead) OK(b []byte) bool {
	h, end := &a.head, AckLen+int(a.more)
	if len(b) < end || a.with == 0 {
		return false
	}
	// Service, time to live and checksum; the checksum of UDP; FECN and BECN, beside
	// which are the bits of extensions: they must be as they were.
	differs := (word(b[14:22])^word(h[14:22]))&^0xFF00 | (word(b[22:30])^word(h[22:30]))&^0xFFFF00FF | (word(b[30:38]) ^ word(h[30:38])) |
		(word(b[38:46])^word(h[38:46]))&^0xFFFF0000 | (word(b[42:50])^word(h[42:50]))&^0xC0_0000_0000
	tail, crc := word(b[ackTail:ackICRC]), binary.LittleEndian.Uint32(b[end-ICRCLen:end])
	if a.more != 0 {
		crc ^= a.icrcOfExtensions(b)
	}
	if differs != 0 || crc != a.icrc(tail) {
		return false
	}
	a.tail, a.crc = tail, crc
	return true
}

// icrcOfByte has what a byte contributes to a CRC, which is linear, by how many bytes follow it.
var icrcOfByte = func() (t [8 + INTLen + PlaceLen + StampLen][256]uint32) {
	t[0] = *crc32.IEEETable
	for i := 1; i < len(t); i++ {
		for b, c := range t[i-1] {
			t[i][b] = behind(c)
		}
	}
	return t
}()

// icrcRows are the rows of eight bytes that so many follow, the last of them first.
func icrcRows(follow int) *[8][256]uint32 { return (*[8][256]uint32)(icrcOfByte[follow:]) }

// behind is the remainder that c has become when a byte of zeros has followed.
func behind(c uint32) uint32 { return c>>8 ^ crc32.IEEETable[c&0xFF] }

// icrcOfWord is what eight bytes, the first of which is the lowest here, add to the CRC of a packet that has zeros
// there; or what the CRC changes by if they do.
func icrcOfWord(rows *[8][256]uint32, w uint64) uint32 {
	return rows[7][w&0xFF] ^ rows[6][w>>8&0xFF] ^ rows[5][w>>16&0xFF] ^ rows[4][w>>24&0xFF] ^
		rows[3][w>>32&0xFF] ^ rows[2][w>>40&0xFF] ^ rows[1][w>>48&0xFF] ^ rows[0][w>>56]
}
