package dataplane

import "unsafe"

// isolated makes a slice that one worker writes and no other reads: it shares no cache line
// with data of another worker, which would move between the two cores at each write.
func isolated[T any](n int) []T {
	var of T
	apart := (line + int(unsafe.Sizeof(of)) - 1) / int(unsafe.Sizeof(of))
	return make([]T, apart+n+apart)[apart : apart+n : apart+n]
}
