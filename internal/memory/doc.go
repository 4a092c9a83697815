// Package memory advises the processor and the kernel how large tables will be
// used. It is a package of its own because prefetching needs assembly, which cannot share
// a package with cgo; the compiler's own prefetch is for the runtime only.
//
// A hundred thousand flows do not fit into a core's caches, nor their pages into
// its translation buffer, and each frame is of another flow: without this a host
// waits for memory most of the time.
//
// The files, in the order in which they build on each other:
//
//	asm.go, none.go                                   Prefetch, where there is assembly for it and elsewhere
//	huge_linux.go, huge_heap_linux.go, huge_other.go  huge pages for a table, for the heap, and where there are none
//	garbage.go                                        how much garbage there may be
//	publish.go, publish_amd64.go                      a store that is seen after those before it
//	alone.go, isolated.go                             a value, and a slice, in cache lines of their own
package memory
