package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the usual size of a huge page on 64-bit processors.
const hugePage = 2 << 20

// Huge asks the kernel to back a table by huge pages. It is a wish: a kernel
// that does not grant it changes nothing but the speed, and tables smaller than
// some huge pages are left alone.
func Huge[T any](table []T) {
	if len(table) == 0 {
		return
	}
	size := uintptr(len(table)) * unsafe.Sizeof(table[0])
	start := uintptr(unsafe.Pointer(&table[0]))
	from, to := (start+hugePage-1)&^(hugePage-1), (start+size)&^(hugePage-1)
	if to <= from {
		return
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&table[0])), size)
	if unix.Madvise(b[from-start:to-start], unix.MADV_HUGEPAGE) == nil {
		_ = unix.Madvise(b[from-start:to-start], unix.MADV_COLLAPSE) // what is there already, too
	}
}
