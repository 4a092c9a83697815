package dataplane

import (
	"encoding/binary"
	"math/bits"
)

// digestLen is how many bytes of a frame its digest sees: as far as the sequence number of a
// RoCEv2 packet over IPv4, and four bytes of what follows.
const digestLen = 58

// What the digest multiplies is combined with one of these before: digits of pi behind the point.
var mixDigest = [8]uint64{
	0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89,
	0x452821E638D01377, 0xBE5466CF34E90C6C, 0xC0AC29B7C97C50DD, 0x3F84D5B5B5470917,
}

// Digest is a function of a frame's first bytes, never 0: two frames whose addresses, ports, queue
// pairs, sequence numbers or marks differ have two of them, but for one chance in 2^32. Shorter
// frames have all of their bytes in it.
func (p *Pool) Digest(f *Frame) uint32 {
	b := p.Bytes(f)
	if len(b) < digestLen {
		var whole [digestLen]byte
		copy(whole[:], b)
		b = whole[:]
	}
	sum := uint64(0)
	for i := range 4 {
		at := 16 * i
		hi, lo := bits.Mul64(binary.LittleEndian.Uint64(b[at:])^mixDigest[2*i], binary.LittleEndian.Uint64(b[min(at+8, digestLen-8):])^mixDigest[2*i+1])
		sum = bits.RotateLeft64(sum, 23) ^ hi ^ lo
	}
	return max(uint32(sum>>32)^uint32(sum), 1)
}
