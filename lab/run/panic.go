package run

import (
	"fmt"
	"runtime"
	"strings"

	"photon/sim"
)

// panicked is the error of a run whose code panicked: a point of a scheme that somebody writes, or photon. It says
// which run it was, and the other tasks of a sweep go on. Not so if one of DPDK's workers panicked: the program ends
// then, as Go programs do.
type panicked struct {
	why   any
	stack string
}

func (p *panicked) Error() string { return fmt.Sprintf("its code panicked: %v\n%s", p.why, p.stack) }

// panickedWith makes the error of what was recovered. A deferred function calls it.
func panickedWith(why any) *panicked {
	at := make([]uintptr, 64)
	at = at[:runtime.Callers(3, at)]
	if p, ok := why.(*sim.Panic); ok {
		why, at = p.Value, p.At
	}
	return &panicked{why, trace(at)}
}

// trace is where the code is that panicked, up to what has the world run.
func trace(at []uintptr) string {
	frames := runtime.CallersFrames(at)
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
