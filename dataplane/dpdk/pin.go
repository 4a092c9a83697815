//go:build dpdk

package dpdk

import "unsafe"

// A worker must never wait for another thread: on a busy machine that thread
// waits for a core, and then so does the worker, for as long as a scheduler's
// turn. Go's scheduler has a goroutine that is locked to its thread wait in two
// cases. Its monitor asks a goroutine that ran for 10 ms to make room; one that is
// locked then hands its P (the right to run Go code) to another thread, which finds
// it in the queue, hands the P back and wakes it. And a goroutine that is in C loses
// its P to the monitor, and when it comes back has to wait for one.
//
// So a worker pins itself to its P: it runs like the runtime's own critical sections
// (m.locks), from which the P cannot be taken, and it calls C as they do, without
// telling the scheduler. Such code must not wait for a lock, a channel, or a timer: the
// runtime ends a process that tries. Allocating is allowed.
//
// The world must still stop now and then, for a garbage collection or a profile. So
// every offerEvery a worker makes an ordinary cgo call. If the world is to stop, the
// worker stops there, and the collector scans its stack. If the monitor takes the P at
// that instant, the worker takes a free one, which reserve provides. Before
// World.SeldomStop, and in World.AllowStops, all calls are ordinary ones.
//
// The functions of the runtime are those that it keeps for others in their present
// form (go.dev/issue/67401). asmcgocall is how cgo itself gets to C.

// offerEvery is how often a worker lets the world stop: in microseconds.
const offerEvery = 1000

// pin makes the calling goroutine, which is locked to its thread, uninterruptible
// until unpin.
//
//go:linkname pin runtime.procPin
func pin() int

// unpin ends that.
//
//go:linkname unpin runtime.procUnpin
func unpin()

// call calls a C function that never waits, with one argument. The garbage
// collector may not look at the goroutine meanwhile, nor the world stop.
//
//go:linkname call runtime.asmcgocall
//go:noescape
func call(fn, arg unsafe.Pointer) int32

//go:linkname cgocall runtime.cgocall
func cgocall(fn, arg unsafe.Pointer) int32

// wait calls a C function that may wait, or that the world may stop at. Nothing in
// here may look whether the goroutine is to make room, as the beginnings of functions
// do: hence nosplit.
//
//go:nosplit
func wait(fn, arg unsafe.Pointer) {
	unpin()
	cgocall(fn, arg)
	pin()
}
