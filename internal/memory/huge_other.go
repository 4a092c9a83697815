//go:build !linux

package memory

// Huge does nothing on this system.
func Huge[T any]([]T) {}

// HugeHeap does nothing on this system.
func HugeHeap() {}
