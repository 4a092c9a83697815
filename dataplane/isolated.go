package dataplane

import "unsafe"

// isolated makes a slice that one worker writes and no other reads: nothing of another worker's is in the same
// lines of the cache, which would go back and forth between the two cores with each write.
func isolated[T any](n int) []T {
	var of T
	apart := (line + int(unsafe.Sizeof(of)) - 1) / int(unsafe.Sizeof(of))
	return make([]T, apart+n+apart)[apart : apart+n : apart+n]
}
