package ratelimit

import (
	"testing"
	"unsafe"
)

// A timer is half a cache line, and what lies beside it is no more than it says.
func TestTimersAreHalfALine(t *testing.T) {
	if size := unsafe.Sizeof(entry[struct{}]{}); size != 32 {
		t.Errorf("a timer is %d bytes", size)
	}
	if size := unsafe.Sizeof(entry[[96]byte]{}); size != 128 {
		t.Errorf("a timer and 96 bytes are %d", size)
	}
}
