package memory

import "unsafe"

// Line is how many bytes a line of the cache has.
const Line = 64

// Isolated makes a slice that one goroutine writes and no other reads: it shares no cache line with data of another,
// which would move between two cores at each write.
func Isolated[T any](n int) []T {
	var of T
	apart := (Line + int(unsafe.Sizeof(of)) - 1) / int(unsafe.Sizeof(of))
	return make([]T, apart+n+apart)[apart : apart+n : apart+n]
}
