package memory

import (
	"bytes"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// HugeHeap is Huge of the Go heap as it stands: for one who has made all that he
// will use for long, in tables too small for Huge. What is free between them is
// resident, too, from then on.
func HugeHeap() {
	x := make([]byte, 1<<16) // it is in the heap
	at := uintptr(unsafe.Pointer(&x[0]))
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range bytes.Lines(maps) {
		var from, to uintptr
		if _, err := fmt.Sscanf(string(line), "%x-%x", &from, &to); err != nil || at < from || at >= to {
			continue
		}
		from, to = (from+hugePage-1)&^(hugePage-1), to&^(hugePage-1)
		if from >= to {
			return
		}
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_HUGEPAGE); errno == 0 {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_COLLAPSE)
		}
		return
	}
}
