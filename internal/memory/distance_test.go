package memory

import (
	"runtime"
	"sync/atomic"
	"testing"

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
	pin := func(core int) {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		var set unix.CPUSet
		set.Set(core)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			b.Error(err)
		}
	}
	n := int64(b.N)
	done := make(chan struct{}, 2)
	go func() {
		pin(1)
		for i := int64(1); i <= n; i++ {
			for there.n.Load() < i {
			}
			back.n.Store(i)
		}
		done <- struct{}{}
	}()
	go func() {
		pin(0)
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
