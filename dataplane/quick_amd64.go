package dataplane

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
