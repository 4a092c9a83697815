package dataplane

import (
	"testing"
	"unsafe"
)

// What a frame touches of a port is in whole lines of the cache.
func TestPortsAreWholeLines(t *testing.T) {
	var p switchPort
	if size := unsafe.Sizeof(p); size%64 != 0 {
		t.Errorf("a port has %d bytes: change portPad by %d", size, 64-size%64)
	}
	if at, in := unsafe.Offsetof(p.queues), unsafe.Offsetof(p.in); at != 64 || in%64 != 0 {
		t.Errorf("queues are at %d, and what comes in at %d", at, in)
	}
	if size := unsafe.Sizeof(p.queues[0]); size != 128 {
		t.Errorf("a priority has %d bytes", size)
	}
}
