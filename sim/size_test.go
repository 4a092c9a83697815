package sim

import (
	"testing"
	"unsafe"
)

// Ports and frames on their way lie in whole lines of the cache, or halves.
func TestSizes(t *testing.T) {
	var p port
	if size, flight, link := unsafe.Sizeof(p), unsafe.Offsetof(p.flight), unsafe.Offsetof(p.link); size%128 != 64 || flight != 64 || link != 128 {
		t.Errorf("a port has %d bytes, which is not an odd number of lines, or what is needed often has %d, and what is on its way %d", size, flight, link-flight)
	}
	if size := unsafe.Sizeof(flying{}); size != 24 {
		t.Errorf("a frame on its way has %d bytes", size)
	}
}
