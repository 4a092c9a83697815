package run

import (
	"fmt"
	"runtime"
	"strings"
)

// panicked is the error of a run whose code panicked: a point of a scheme that somebody writes, or photon. It says
// which run it was, and the other tasks of a sweep go on. Not so if the goroutine of another part of a world panicked,
// or one of DPDK's workers: the program ends then, as Go programs do.
type panicked struct {
	why   any
	stack string
}

func (p *panicked) Error() string { return fmt.Sprintf("its code panicked: %v\n%s", p.why, p.stack) }

// trace is where the code is that panicked, up to what has the world run. A deferred function calls it.
func trace() string {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	var lines []string
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function == "photon/lab/run.(*single).run" {
			break
		}
		if !strings.HasPrefix(f.Function, "runtime.") {
			lines = append(lines, fmt.Sprintf("  %s\n    %s:%d", f.Function, f.File, f.Line))
		}
	}
	return strings.Join(lines, "\n")
}
