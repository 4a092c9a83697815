package fabric

import (
	"encoding/binary"
	"math/bits"
)

// digestLen is how many bytes of a frame its digest sees: as far as the sequence number of a
// RoCEv2 packet over IPv4, and four bytes of what follows.
const digestLen = 58

// What the digest multiplies is combined with one of these before: digits of pi behind the point.
const (
	mixDigest0 = 0x243F6A8885A308D3
	mixDigest1 = 0x13198A2E03707344
	mixDigest2 = 0xA4093822299F31D0
	mixDigest3 = 0x082EFA98EC4E6C89
	mixDigest4 = 0x452821E638D01377
	mixDigest5 = 0xBE5466CF34E90C6C
	mixDigest6 = 0xC0AC29B7C97C50DD
	mixDigest7 = 0x3F84D5B5B5470917
)

// Digest is a hash of a frame's first bytes, never 0: two frames whose addresses, ports, queue pairs,
// sequence numbers or marks differ have different ones, but for one chance in 2^32. The hash of a shorter
// frame is of all of its bytes. Worlds with a trace hash call it for frames whose Frame.Digest is 0.
func (p *Pool) Digest(f *Frame) uint32 {
	b := p.Start(f)
	if b == nil || f.Len < digestLen {
		var whole [StartLen]byte
		copy(whole[:digestLen], p.Bytes(f))
		b = &whole
	}
	// Step by step: a loop would check and choose at each what is known here.
	sum := mixPair(b[0:8], b[8:16], mixDigest0, mixDigest1)
	sum = bits.RotateLeft64(sum, 23) ^ mixPair(b[16:24], b[24:32], mixDigest2, mixDigest3)
	sum = bits.RotateLeft64(sum, 23) ^ mixPair(b[32:40], b[40:48], mixDigest4, mixDigest5)
	sum = bits.RotateLeft64(sum, 23) ^ mixPair(b[48:56], b[digestLen-8:digestLen], mixDigest6, mixDigest7)
	return max(uint32(sum>>32)^uint32(sum), 1)
}

// mixPair multiplies two words of a frame and folds the product.
func mixPair(a, b []byte, mixA, mixB uint64) uint64 {
	hi, lo := bits.Mul64(binary.LittleEndian.Uint64(a)^mixA, binary.LittleEndian.Uint64(b)^mixB)
	return hi ^ lo
}
