//go:build !amd64

package dataplane

// readAhead reads nothing: readHead does it all.
func readAhead(*heads, *Frame, *int32, int) int { return 0 }

// appendAhead appends nothing: appendRest does it all.
func appendAhead(_ *switchWorker, _ []switchPort, _ *Frame, i, _ uint) (end, began uint) { return i, 0 }
