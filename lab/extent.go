package lab

import (
	"fmt"
	"strings"
)

// Extent is whether all of an experiment ran, and how long that took.
type Extent struct {
	Experiment string  `json:"experiment"`
	Quick      bool    `json:"quick"`
	Left       string  `json:"left"`            // what --quick left; "" of a full run
	Seconds    float64 `json:"wall_seconds"`    // the sum of its runs
	Elapsed    float64 `json:"elapsed_seconds"` // from begin to end, with what was run beside the schemes
	Parallel   int     `json:"parallel"`        // runs side by side, at most
	Cores      int     `json:"cores"`           // of the machine
}

// extent says it of a result; the times are 0 where timing.json is not there.
func (e *Experiment) extent(r *Result) Extent {
	t := &r.timing
	x := Extent{Experiment: e.ID, Quick: r.Quick, Seconds: t.Sum(), Elapsed: t.Elapsed, Parallel: t.Parallel, Cores: t.Cores}
	if r.Quick {
		x.Left = e.left()
	}
	return x
}

// left is what --quick leaves of an experiment, apart from what no claim speaks of.
func (e *Experiment) left() string {
	var parts []string
	if n := e.Quick.Flows; n > 0 {
		parts = append(parts, fmt.Sprintf("the first %d flows", n))
	}
	if n := e.Quick.Repeat; n > 0 && n < e.Repeat {
		parts = append(parts, fmt.Sprintf("%d of %d seeds", n, e.Repeat))
	}
	if s := e.Sweep; s != nil && s.Quick != nil && len(s.Quick) < len(s.Values) {
		parts = append(parts, fmt.Sprintf("%d of %d values of %s", len(s.Quick), len(s.Values), s.Name))
	}
	if e.Quick.Schemes != nil {
		parts = append(parts, "only "+strings.Join(e.Quick.Schemes, ", "))
	}
	if parts == nil {
		return "all that claims need"
	}
	return strings.Join(parts, ", ")
}

// ran says in words what ran.
func (x Extent) ran() string {
	if x.Quick {
		return "quick: " + x.Left
	}
	return "full"
}

// time says how long it took; nothing where that is not known.
func (x Extent) time() string {
	if x.Cores == 0 {
		return ""
	}
	return fmt.Sprintf("; %.1f s on %d cores, %d at once", x.Elapsed, x.Cores, x.Parallel)
}

// extents says it of the results of all worlds.
func (e *Experiment) extents(results []*Result) string {
	var parts []string
	for _, r := range results {
		x := e.extent(r)
		part := x.ran() + x.time()
		if len(results) > 1 {
			part = r.World + ": " + part
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}
