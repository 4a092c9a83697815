//go:build dpdk

package dpdk

import (
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// allowed are the cores that this process may use, as it was started.
var allowed = sync.OnceValue(affinity)

// leaveTo has all threads that there are, and thereby those that they start
// later, leave some cores to the workers: what else the process does, the Go
// runtime's and DPDK's own threads included, is done on the others. Workers that
// want all cores share them.
func leaveTo(workers []int) {
	var others unix.CPUSet
	for _, c := range allowed() {
		if !slices.Contains(workers, c) {
			others.Set(c)
		}
	}
	threads, err := os.ReadDir("/proc/self/task")
	if others.Count() == 0 || err != nil {
		return
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.SchedSetaffinity(id, &others) // it may have ended meanwhile
		}
	}
}
