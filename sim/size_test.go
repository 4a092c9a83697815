package sim

import (
	"testing"
	"unsafe"
)

// Ports and frames on their way lie in whole lines of the cache, or halves.
func TestSizes(t *testing.T) {
	if size := unsafe.Sizeof(port{}); size != 128 {
		t.Errorf("a port has %d bytes", size)
	}
	if size := unsafe.Sizeof(arrivals{}); size != 64 {
		t.Errorf("the frames of a day have %d bytes", size)
	}
	if size := unsafe.Sizeof(entry{}); size != 16 {
		t.Errorf("an entry has %d bytes", size)
	}
}
