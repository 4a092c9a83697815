//go:build amd64 || arm64

package memory

import "unsafe"

// Prefetch asks for n cache lines of 64 bytes from the one that holds p on. What p
// points to is not read; any address will do.
//
//go:noescape
func Prefetch(p unsafe.Pointer, n int)

// PrefetchToWrite asks for n cache lines from the one that holds p on, so that no other
// core has them: one that is to be written, and that another core has, is waited for by all
// that is stored after it.
//
//go:noescape
func PrefetchToWrite(p unsafe.Pointer, n int)
