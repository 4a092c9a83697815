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
	if at, in := unsafe.Offsetof(p.queues), unsafe.Offsetof(p.in); at%64 != 0 || in != 56 {
		t.Errorf("queues are at %d, and what comes in at %d", at, in)
	}
	if size := unsafe.Sizeof(p.queues[0]); size != 128 {
		t.Errorf("a priority has %d bytes", size)
	}
}

// What is read from a frame is written as one word: that is the fields' order, and
// the machine's.
func TestFrameIsTwoWords(t *testing.T) {
	f := Frame{Ref: 1, Len: 2, Off: 3}
	f.set(newRead(0x123, 5, Lossless|14) | 0x89ABCDEF)
	if want := (Frame{1, 2, 3, 0x89ABCDEF, 0x123, 5, Lossless | 14}); f != want || unsafe.Sizeof(f) != 16 {
		t.Errorf("%+v of %d bytes, want %+v", f, unsafe.Sizeof(f), want)
	}
}

// A frame as a world hands it over is made in two halves, and nothing is known of it.
func TestFramesBegin(t *testing.T) {
	f := Frame{9, 9, 9, 9, 9, 9, 9}
	if f.Begin(0x89ABCDEF, 0x1234, 0xFEDC); f != (Frame{Ref: 0x89ABCDEF, Len: 0x1234, Off: 0xFEDC}) {
		t.Errorf("%+v", f)
	}
}

// All headers of most frames, a new one's first 64 bytes, are one line of the cache, in
// every chunk; and that is the line that is fetched ahead.
func TestHeadersAreALine(t *testing.T) {
	for _, p := range []*Pool{NewHeaderPool(), NewHeaderPoolOf(4 * HeaderLen)} {
		for range 2*chunkSlots + 1 {
			f, _ := p.Alloc(1000)
			b := p.Header(f)
			if at := uintptr(unsafe.Pointer(&b[0])); at%line != 0 || unsafe.Pointer(p.head(f.Ref)) != unsafe.Pointer(&b[0]) {
				t.Fatalf("frame %d begins at %x, the line is at %x", f.Ref, at, p.head(f.Ref))
			}
			if want := int(p.slot) - headerOff; len(b) != want {
				t.Fatalf("%d bytes of headers, want %d", len(b), want)
			}
		}
	}
}

// Rings that were reserved do not begin at the same few places of the caches.
func TestReservedRingsAreSpread(t *testing.T) {
	r := newRig(t, config(8))
	r.sw.Reserve(256)
	const places = 64 // of the first-level cache, each a line of 64 bytes
	var used [places]int
	for i := range r.sw.ports {
		for q := range r.sw.ports[i].queues {
			ring := r.sw.ports[i].queues[q].ring
			if len(ring) != 256 || cap(ring) != 256 {
				t.Fatalf("a ring of %d frames, %d with what follows", len(ring), cap(ring))
			}
			used[uintptr(unsafe.Pointer(&ring[0]))/64%places]++
		}
	}
	for at, n := range used {
		if n > 2 { // 64 rings
			t.Errorf("%d rings begin at place %d", n, at)
		}
	}
}
