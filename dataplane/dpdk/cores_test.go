//go:build dpdk

package dpdk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"photon/dataplane"
	"photon/units"
)

// While a world runs, its worker alone may use its core: every other thread of
// the process is kept off it.
func TestThreadsLeaveTheWorkersCore(t *testing.T) {
	if len(allowed()) < 2 {
		t.Fatalf("this test needs two cores, there are %v", allowed())
	}
	w := newWorld(t, Options{})
	link := dataplane.Link{Rate: rate, Delay: units.Microsecond}
	_, a := addHost(t, w, 1, link)
	_, b := addHost(t, w, 2, link)
	if err := w.Connect(dataplane.End{Node: a}, dataplane.End{Node: b}, link); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, units.Never) }()
	worker := allowed()[len(allowed())-1]
	for begun := false; !begun; { // until a worker has it
		w.Do(func(now units.Time) { begun = now > 0 })
	}
	if there := threadsOn(t, worker); len(there) != 1 {
		t.Errorf("core %d may be used by %d threads: %q", worker, len(there), there)
	}
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// threadsOn are the threads of this process that may use a core, by name.
func threadsOn(t *testing.T, core int) (names []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(b)) {
			if list, ok := strings.CutPrefix(line, "Cpus_allowed:\t"); ok && inMask(strings.TrimSpace(list), core) {
				names = append(names, f)
			}
		}
	}
	return names
}

// inMask reports whether a core is in a mask as the kernel prints it: words of
// 32 bits in hexadecimal, the last ones first.
func inMask(mask string, core int) bool {
	digits := strings.ReplaceAll(mask, ",", "")
	at := len(digits) - 1 - core/4
	return at >= 0 && strings.IndexByte("0123456789abcdef", digits[at])>>(core%4)&1 != 0
}
