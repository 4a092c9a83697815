package dataplane

import (
	"testing"
	"unsafe"
)

// What a frame touches of a port is in whole lines of the cache.
func TestPortsAreWholeLines(t *testing.T) {
	var p switchPort
	if size := unsafe.Sizeof(p); size%128 != 64 {
		t.Errorf("a port has %d bytes, %d more than an odd number of lines", size, (size+64)%128)
	}
	if in := unsafe.Offsetof(p.ingress); in > 56 {
		t.Errorf("what comes in is at %d", in)
	}
	for name, size := range map[string]uintptr{"a block of frames": unsafe.Sizeof(block{}), "a place of actions": unsafe.Sizeof(cacheLine{}), "an exit": unsafe.Sizeof(Exit{})} {
		if size%64 != 0 {
			t.Errorf("%s has %d bytes", name, size)
		}
	}
	if size := unsafe.Sizeof(Frame{}); size != 16 {
		t.Errorf("a frame has %d bytes", size)
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
	f = Frame{In: 0x123, Prio: 5, Flag: Lossless | 14}
	if a := f.action(); a.prio() != 5 || a>>32&0xFFFF != 0x123 || Flag(a>>56) != f.Flag {
		t.Errorf("%x", a)
	}
}

// All headers of most frames, a new one's first 64 bytes, are one line of the cache, in
// every piece.
func TestHeadersAreALine(t *testing.T) {
	for _, p := range []*Pool{NewHeaderPool(), NewHeaderPoolOf(4 * HeaderLen)} {
		for range 2*p.slots() + 1 {
			f, _ := p.Alloc(1000)
			b := p.Header(f)
			if at := uintptr(unsafe.Pointer(&b[0])); at%line != 0 {
				t.Fatalf("frame %d begins at %x", f.Ref, at)
			}
			if want := int(p.slot) - headerOff; len(b) != want {
				t.Fatalf("%d bytes of headers, want %d", len(b), want)
			}
		}
	}
}
