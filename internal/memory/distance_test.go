package memory

import (
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// BenchmarkDistance is how long a line of the cache takes from one processor to another and back: what two workers
// that hand over frames wait for.
func BenchmarkDistance(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("this machine has one processor")
	}
	var there, back struct {
		_ [64]byte
		n atomic.Int64
		_ [64]byte
	}
	n := int64(b.N)
	done := make(chan struct{}, 2)
	go func() {
		pin(b, 1)
		for i := int64(1); i <= n; i++ {
			for there.n.Load() < i {
			}
			back.n.Store(i)
		}
		done <- struct{}{}
	}()
	go func() {
		pin(b, 0)
		for i := int64(1); i <= n; i++ {
			there.n.Store(i)
			for back.n.Load() < i {
			}
		}
		done <- struct{}{}
	}()
	<-done
	<-done
}

// pin keeps the goroutine on a processor until it ends, and its thread with it.
func pin(b *testing.B, core int) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		b.Error(err)
	}
}

const (
	burst    = 64
	frames   = 512 // of each processor at first
	ringLen  = 2048
	perFrame = 16 // bytes in the ring
)

// hand is one processor's end: the frames that it has, and the ring into which it puts those for the other.
type hand struct {
	local       []uint64 // a ring of frames
	first, last uint64
	put, seen   uint64
	sent        uint64
	_           [64]byte
	ready       atomic.Uint64
	_           [64]byte
	taken       atomic.Uint64
	_           [64]byte
	ring        [ringLen][perFrame / 8]uint64
}

func (h *hand) keep(frame uint64) {
	h.local[h.last%uint64(len(h.local))] = frame
	h.last++
}

// BenchmarkHandOver is the least that a frame costs each of two workers when two of three are handed over. Nothing is looked
// up, counted or queued: a frame has a place in a ring, and who sends it writes its line, as DPDK's drivers want it.
func BenchmarkHandOver(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("this machine has one processor")
	}
	lines := make([][8]uint64, 2*frames)
	var hands [2]hand
	for i := range hands {
		hands[i].local = make([]uint64, 4*frames)
		for k := range frames {
			hands[i].keep(uint64(i*frames + k))
		}
	}
	var finished atomic.Int32
	done := make(chan struct{}, 2)
	for i := range hands {
		go func() {
			pin(b, i)
			mine, others := &hands[i], &hands[1-i]
			counted := false
			for finished.Load() < 2 {
				mine.turn(others, lines)
				if !counted && mine.sent >= uint64(b.N) {
					counted = true
					finished.Add(1)
				}
			}
			done <- struct{}{}
		}()
	}
	<-done
	<-done
}

// turn takes a burst of the hand's own frames, and what the other has for it.
func (h *hand) turn(other *hand, lines [][8]uint64) {
	for n := 0; n < burst && h.first < h.last; n++ {
		frame := h.local[h.first%uint64(len(h.local))]
		if h.first++; h.first%3 == 0 {
			lines[frame][0]++
			h.keep(frame)
			h.sent++
			continue
		}
		h.ring[h.put%ringLen] = [2]uint64{frame, h.put} // it has room for all frames
		h.put++
	}
	if h.put != h.seen {
		h.seen = h.put
		Publish(&h.ready, h.put)
		PrefetchToWrite(unsafe.Pointer(&h.ring[h.put%ringLen]), int(min(2*burst, ringLen-h.put%ringLen))*perFrame/64)
	}
	at := other.taken.Load()
	end := min(other.ready.Load(), at+2*burst)
	for i := at; i < end; i++ {
		PrefetchToWrite(unsafe.Pointer(&lines[other.ring[i%ringLen][0]]), 1)
	}
	for ; at < end; at++ {
		frame := other.ring[at%ringLen][0]
		lines[frame][0]++
		h.keep(frame)
		h.sent++
	}
	if at != other.taken.Load() {
		Publish(&other.taken, at)
	}
}
