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
