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
	Left       string `json:"left"` // what ran of it; "": all
	Seeds      int    `json:"seeds"`
	// Traces are the hashes of all that happened, by scheme; of runs that another version made there may be none.
	Traces map[string]string `json:"traces,omitempty"`
}

// CoverageOf is the coverage of a result.
func CoverageOf(e *experiment.Experiment, r *run.Result) Coverage {
	x := Coverage{Experiment: e.ID, Quick: r.Quick, Seeds: len(r.Seeds), Traces: r.Traces()}
	seeds := len(r.Seeds)
	if seeds == 0 || r.World != "sim" { // not known; one is usual
		seeds = e.Repeat
	}
	switch {
	case r.Quick:
		x.Left = left(e, seeds)
	case seeds < e.Repeat:
		x.Left = ofSeeds(e, seeds)
	}
	return x
}

func ofSeeds(e *experiment.Experiment, n int) string {
	return fmt.Sprintf("%d of %d seeds", n, e.Repeat)
}

// left is what --quick runs of an experiment with so many seeds, apart from what no claim is about.
func left(e *experiment.Experiment, seeds int) string {
	var parts []string
	if d := e.Quick.Duration; d > 0 {
		parts = append(parts, fmt.Sprintf("the first %v of %v", d, e.Duration))
	}
	if n := e.Quick.Flows; n > 0 {
		parts = append(parts, fmt.Sprintf("the first %d flows", n))
	}
	if seeds < e.Repeat {
		parts = append(parts, ofSeeds(e, seeds))
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
	switch {
	case x.Quick:
		return "quick: " + x.Left
	case x.Left != "":
		return x.Left
	}
	return "full"
}
