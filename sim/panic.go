package sim

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"photon/units"
)

// Panic is what Run panics with if the code of a node panicked while several parts ran in parallel. All of them have
// ended by then.
type Panic struct {
	Value any       // what it panicked with
	At    []uintptr // where, for runtime.CallersFrames
}

// Error is the value, and where that was, for a program that ends with it.
func (p *Panic) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v", p.Value)
	frames := runtime.CallersFrames(p.At)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		fmt.Fprintf(&b, "\n%s\n\t%s:%d", f.Function, f.File, f.Line)
	}
	return b.String()
}

// tryPart is runPart. If that panics, all other parts end as soon as they wait for it.
func (w *World) tryPart(ctx context.Context, p *part, until units.Time) verdict {
	defer func() {
		if why := recover(); why != nil {
			at := make([]uintptr, 64)
			at = at[:runtime.Callers(2, at)]
			w.parallel.barrier.broken.CompareAndSwap(nil, &Panic{why, at}) // the first one's is the cause
		}
	}()
	return w.runPart(ctx, p, until)
}
