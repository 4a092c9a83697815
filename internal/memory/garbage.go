package memory

import (
	"runtime"
	"runtime/debug"
	"sync"
)

var frugal struct {
	sync.Mutex
	runs    int    // that are frugal
	percent int    // what was in force before the first
	most    uint64 // the least that one of them asked for
}

// Frugal has the garbage collector run whenever there is so much garbage, in bytes, instead of as much as there is in
// use, where that is more: for one whose tables are large, and who allocates little. The function that it returns ends
// that, when the tables are garbage themselves. Of several at a time the least holds, and what is in use is looked at
// whenever one begins or ends: those that follow a large one are not frugal because of it.
func Frugal(most uint64) (end func()) {
	f := &frugal
	f.Lock()
	defer f.Unlock()
	if f.runs++; f.runs == 1 {
		f.percent, f.most = debug.SetGCPercent(-1), most
	}
	f.most = min(f.most, most)
	large := adapt()
	return func() {
		if large {
			runtime.GC()
		}
		f.Lock()
		defer f.Unlock()
		if f.runs--; f.runs == 0 {
			debug.SetGCPercent(f.percent)
			return
		}
		adapt()
	}
}

// adapt goes by what is in use now, and reports whether that is large. One that runs is frugal.
func adapt() (large bool) {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	percent, most := frugal.percent, 100*frugal.most
	if large = percent > 0 && s.HeapAlloc*uint64(percent) > most; large {
		percent = max(1, int(most/s.HeapAlloc))
	}
	debug.SetGCPercent(percent)
	return large
}
