package memory

import (
	"runtime"
	"runtime/debug"
	"sync"
)

var frugal struct {
	sync.Mutex
	runs    int // that are frugal
	percent int // what was in force before the first
}

// Frugal has the garbage collector run whenever there is so much garbage, in bytes, instead of as much as there is in
// use, where that is more: for one whose tables are large, and who allocates little. The function that it returns ends
// that, when the tables are garbage themselves.
func Frugal(most uint64) (end func()) {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	f := &frugal
	f.Lock()
	defer f.Unlock()
	percent := debug.SetGCPercent(-1)
	if f.runs++; f.runs == 1 {
		f.percent = percent
	}
	large := percent > 0 && s.HeapAlloc*uint64(percent) > 100*most
	if large {
		percent = max(1, int(100*most/s.HeapAlloc))
	}
	debug.SetGCPercent(percent)
	return func() {
		if large {
			runtime.GC()
		}
		f.Lock()
		defer f.Unlock()
		if f.runs--; f.runs == 0 {
			debug.SetGCPercent(f.percent)
		}
	}
}
