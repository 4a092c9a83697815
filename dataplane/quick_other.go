//go:build !amd64

package dataplane

import "unsafe"

// readAhead reads nothing: readHead does it all.
func readAhead(*heads, *Frame, *int32, int) int { return 0 }

// appendAhead appends nothing: appendRest does it all.
func appendAhead(_ *switchWorker, _ []switchPort, _ *Frame, i, _ uint) (end, began uint) { return i, 0 }

// takeAhead takes nothing: takeRest does it all.
func takeAhead(*leaving, []switchPort, *switchPort, uint, *Frame, uint) (queues, n, eased uint) {
	return 0, 0, 0
}

// markAhead marks nothing: markRest does it all.
func markAhead(_ unsafe.Pointer, _ Start, _ uint, _ *Frame, which uint64) (left uint64) { return which }
