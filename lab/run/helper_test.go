package run

import (
	"context"

	"photon/lab/experiment"
)

// runSingle runs one scheme once.
func runSingle(e *experiment.Experiment, o Options, use experiment.SchemeUse, seed uint64) (runResult, error) {
	s := single{e: e, o: o, use: use, seed: seed, progress: func(float64) {}}
	return s.run(context.Background())
}
