package dataplane

import "unsafe"

// readAhead reads the headers of n frames from burst on, as readHead does, up to the first of
// which more is to be done than of most: of one that is no plain packet or may be a CNP, or whose
// pair is not known. It returns how many it read, and adds their bytes to those of h. Nothing is checked
// of burst, to and n, which is not 0: they are one burst's.
//
// It is in assembly since Go keeps half of what it needs in memory.
//
//go:noescape
func readAhead(h *heads, burst *Frame, to *int32, n int) (done int)

// appendAhead is appendEach of the frames of a burst from the i-th on and before the n-th, which
// is not the same, and returns the same.
//
//go:noescape
func appendAhead(w *switchWorker, ports []switchPort, burst *Frame, i, n uint) (end, began uint)

// takeAhead is takeRest of a burst with room for a multiple of four frames, at most quickBurst, and of
// one queue at least. Where it finds a frame of no port it takes none.
//
//go:noescape
func takeAhead(l *leaving, ports []switchPort, p *switchPort, ready uint, burst *Frame, room uint) (queues, n, eased uint)

// markAhead marks frames as markRest does, up to one that is not in the pool: most is the last place
// there for an IP header. There is one frame at least. It returns those that are left.
//
//go:noescape
func markAhead(base unsafe.Pointer, most Start, unit uint, burst *Frame, which uint64) (left uint64)
