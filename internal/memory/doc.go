// Package memory advises the processor and the kernel how large tables will be
// used. It is a package of its own because prefetching needs assembly, which cannot share
// a package with cgo; the compiler's own prefetch is for the runtime only.
//
// A hundred thousand flows do not fit into a core's caches, nor their pages into
// its translation buffer, and each frame is of another flow: without this a host
// waits for memory most of the time.
package memory
