package memory

import (
	"bytes"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// HugeHeap is Huge of the Go heap as it stands: for one who has made all that he
// will use for long, in tables too small for Huge. Where little of a huge page is in
// use it is left alone, since what is free would be resident, too, from then on.
func HugeHeap() {
	from, to := heap()
	from, to = (from+hugePage-1)&^(hugePage-1), to&^(hugePage-1)
	if from >= to {
		return
	}
	if _, _, errno := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_HUGEPAGE); errno != 0 {
		return
	}
	resident := make([]byte, (to-from)>>pageShift)
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, from, to-from, uintptr(unsafe.Pointer(&resident[0]))); errno != 0 {
		return
	}
	// The kernel stops at the first page that it cannot make, as where there is none, and
	// looks through all processors' lists each time it is called.
	begin := from
	for at := from; at < to; at += hugePage {
		pages := resident[(at-from)>>pageShift:][:hugePage>>pageShift]
		if dense(pages) {
			continue
		}
		collapse(begin, at)
		begin = at + hugePage
	}
	collapse(begin, to)
}

// pageShift is log2 of the usual size of a page.
const pageShift = 12

// dense reports whether a quarter of the pages are resident.
func dense(pages []byte) bool {
	n := 0
	for _, p := range pages {
		n += int(p & 1)
	}
	return n >= len(pages)/4
}

// collapse puts what is in a range into huge pages now.
func collapse(from, to uintptr) {
	if from < to {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_COLLAPSE)
	}
}

// heap is the mapping in which the Go heap is; zero if it is not to be found.
func heap() (from, to uintptr) {
	x := make([]byte, 1<<16) // it is in the heap
	at := uintptr(unsafe.Pointer(&x[0]))
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, 0
	}
	for line := range bytes.Lines(maps) {
		if _, err := fmt.Sscanf(string(line), "%x-%x", &from, &to); err == nil && from <= at && at < to {
			return from, to
		}
	}
	return 0, 0
}
