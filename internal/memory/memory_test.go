package memory_test

import (
	"testing"
	"unsafe"

	"photon/internal/memory"
)

// Nothing is read or written, wherever the lines are: at the end of memory that
// is ours, beyond it, and nowhere.
func TestAnyAddressWillDo(t *testing.T) {
	b := make([]byte, 4096)
	for i := range b {
		b[i] = byte(i)
	}
	memory.Prefetch(unsafe.Pointer(&b[0]), 64)
	memory.Prefetch(unsafe.Pointer(&b[4095]), 64)
	memory.Prefetch(nil, 1)
	for i := range b {
		if b[i] != byte(i) {
			t.Fatal("memory has changed")
		}
	}
}

// Tables of any size and place keep what is in them.
func TestHugeTables(t *testing.T) {
	all := make([]uint64, 1<<20)
	for i := range all {
		all[i] = uint64(i)
	}
	for _, table := range [][]uint64{nil, all[:1], all[:100_000], all, all[12_345:], all[1 : 1<<19]} {
		memory.Huge(table)
	}
	for i, v := range all {
		if v != uint64(i) {
			t.Fatal("memory has changed")
		}
	}
}

// The heap keeps what is in it, whatever of it becomes huge pages.
func TestHugeHeap(t *testing.T) {
	kept := make([][]uint64, 0, 1000)
	for i := range cap(kept) {
		x := make([]uint64, 1024)
		for k := range x {
			x[k] = uint64(i*len(x) + k)
		}
		kept = append(kept, x)
	}
	for range 2 {
		memory.HugeHeap()
		for i, x := range kept {
			for k, v := range x {
				if v != uint64(i*len(x)+k) {
					t.Fatal("memory has changed")
				}
			}
		}
	}
}
