package build

import (
	"fmt"
	"runtime"
	"strings"

	"photon/sim"
)

// panicked is the error of a network whose code panicked: a point of a scheme that somebody writes, or photon. A file
// is refused then, or a run fails, and the other tasks of a sweep go on. Not so if one of DPDK's workers panicked: the
// program ends then, as Go programs do.
type panicked struct {
	why   any
	stack string
}

func (p *panicked) Error() string { return fmt.Sprintf("its code panicked: %v\n%s", p.why, p.stack) }

// Recovered is the error of what was recovered: what was said, and the functions in which that was, up to one, which is
// of photon and has called them. A deferred function calls it.
func Recovered(why any, upTo string) error {
	at := make([]uintptr, 64)
	at = at[:runtime.Callers(3, at)]
	if p, ok := why.(*sim.Panic); ok {
		why, at = p.Value, p.At
	}
	return &panicked{why, trace(at, upTo)}
}

func trace(at []uintptr, upTo string) string {
	frames := runtime.CallersFrames(at)
	var lines []string
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function == upTo {
			break
		}
		if !strings.HasPrefix(f.Function, "runtime.") {
			lines = append(lines, fmt.Sprintf("  %s\n    %s:%d", f.Function, f.File, f.Line))
		}
	}
	return strings.Join(lines, "\n")
}
