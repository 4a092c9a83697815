package dataplane

import (
	"testing"
	"unsafe"

	"photon/fabric"
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
	for name, size := range map[string]uintptr{"a block of frames": unsafe.Sizeof(block{}), "a place of actions": unsafe.Sizeof(cacheLine{})} {
		if size%64 != 0 {
			t.Errorf("%s has %d bytes", name, size)
		}
	}
}

// An action that leaves a frame what was read from it says that of its fields.
func TestActionOfFrame(t *testing.T) {
	f := fabric.Frame{In: 0x123, Prio: 5, Flag: fabric.Lossless | 14}
	if a := actionOf(&f); a.prio() != 5 || a>>32&0xFFFF != 0x123 || fabric.Flag(a>>56) != f.Flag {
		t.Errorf("%x", a)
	}
}
