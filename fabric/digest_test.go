package fabric

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// The digest is what a loop over the first bytes makes of them, however short the frame is, and nothing behind its end
// is in it.
func TestDigest(t *testing.T) {
	p := NewHeaderPool()
	mix := []uint64{mixDigest0, mixDigest1, mixDigest2, mixDigest3, mixDigest4, mixDigest5, mixDigest6, mixDigest7}
	r := rand.New(rand.NewPCG(1, 1))
	for length := range 200 {
		f, _ := p.Alloc(length)
		slot := p.Start(&f)
		for i := range slot {
			slot[i] = byte(r.Uint32())
		}
		var b [digestLen]byte
		copy(b[:], p.Bytes(&f))
		sum := uint64(0)
		for i := 0; i < len(mix); i += 2 {
			first, second := 8*i, min(8*i+8, digestLen-8)
			hi, lo := bits.Mul64(binary.LittleEndian.Uint64(b[first:])^mix[i], binary.LittleEndian.Uint64(b[second:])^mix[i+1])
			sum = bits.RotateLeft64(sum, 23) ^ hi ^ lo
		}
		if got, want := p.Digest(&f), max(uint32(sum>>32)^uint32(sum), 1); got != want {
			t.Errorf("%d bytes: %#x, want %#x", length, got, want)
		}
	}
}
