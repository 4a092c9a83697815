package sim

import (
	"testing"
	"unsafe"
)

// Ports and frames on their way lie in whole lines of the cache, or halves.
func TestSizes(t *testing.T) {
	if size, rest := unsafe.Sizeof(port{}), unsafe.Offsetof(port{}.link); size%128 != 64 || rest != 64 {
		t.Errorf("a port has %d bytes, which is not an odd number of lines, or what is needed often has %d", size, rest)
	}
	if size := unsafe.Sizeof(arrivals{}); size != 64 {
		t.Errorf("the frames of a day have %d bytes", size)
	}
	if size := unsafe.Sizeof(entry{}); size != 16 {
		t.Errorf("an entry has %d bytes", size)
	}
}
