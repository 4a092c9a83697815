package claim

import (
	"fmt"
	"strings"

	"photon/lab/experiment"
	"photon/lab/run"
)

// Coverage says how much of an experiment ran.
type Coverage struct {
	Experiment string `json:"experiment"`
	Quick      bool   `json:"quick"`
	Left       string `json:"left"` // what --quick left; "" of a full run
	Seeds      int    `json:"seeds"`
	// Traces are the hashes of all that happened, by scheme; of runs that another version made there may be none.
	Traces map[string]string `json:"traces,omitempty"`
}

// CoverageOf is the coverage of a result.
func CoverageOf(e *experiment.Experiment, r *run.Result) Coverage {
	x := Coverage{Experiment: e.ID, Quick: r.Quick, Seeds: len(r.Seeds), Traces: r.Traces()}
	if r.Quick {
		x.Left = left(e)
	}
	return x
}

// left is what --quick runs of an experiment, apart from what no claim is about.
func left(e *experiment.Experiment) string {
	var parts []string
	if d := e.Quick.Duration; d > 0 {
		parts = append(parts, fmt.Sprintf("the first %v of %v", d, e.Duration))
	}
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

// Ran says in words what ran.
func (x Coverage) Ran() string {
	if x.Quick {
		return "quick: " + x.Left
	}
	return "full"
}
