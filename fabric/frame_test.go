package fabric

import (
	"testing"
	"unsafe"

	"photon/internal/memory"
)

// Frames and exits are read and written in halves, and in whole lines of the cache.
func TestFramesHaveTheirSize(t *testing.T) {
	if size := unsafe.Sizeof(Frame{}); size != 16 {
		t.Errorf("a frame has %d bytes", size)
	}
	if size := unsafe.Sizeof(Exit{}); size%memory.Line != 0 {
		t.Errorf("an exit has %d bytes", size)
	}
}

// A frame as a world hands it over is made in two halves, in the order of its fields and of the machine,
// and nothing else is known of it.
func TestFramesBegin(t *testing.T) {
	f := Frame{9, 9, 9, 9, 9, 9, 9}
	if f.Begin(0xFEDC_1234_89ABCDEF, 0x76543210); f != (Frame{Ref: 0x89ABCDEF, Len: 0x1234, Off: 0xFEDC, Digest: 0x76543210}) {
		t.Errorf("%+v", f)
	}
	if f.Place() != 0xFEDC_1234_89ABCDEF {
		t.Errorf("%x", f.Place())
	}
}

// All headers of most frames, a new one's first 64 bytes, are one line of the cache, in
// every piece.
func TestHeadersAreALine(t *testing.T) {
	for _, p := range []*Pool{NewHeaderPool(), NewHeaderPoolOf(4 * HeaderLen)} {
		for range 2*p.slots() + 1 {
			f, _ := p.Alloc(1000)
			b := p.Header(f)
			if at := uintptr(unsafe.Pointer(&b[0])); at%memory.Line != 0 {
				t.Fatalf("frame %d begins at %x", f.Ref, at)
			}
			if want := int(p.slot) - headerOff; len(b) != want {
				t.Fatalf("%d bytes of headers, want %d", len(b), want)
			}
		}
	}
}
