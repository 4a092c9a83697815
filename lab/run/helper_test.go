package run

import (
	"context"
	"testing"

	"photon/lab/experiment"
)

// read is the experiment that a text describes.
func read(t *testing.T, text string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// ran is the outcome of an experiment's first scheme with one seed, in virtual time.
func ran(t *testing.T, text string) runResult {
	t.Helper()
	e := read(t, text)
	r, err := runSingle(e, Options{World: "sim"}, e.Schemes[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// runSingle runs one scheme once.
func runSingle(e *experiment.Experiment, o Options, use experiment.SchemeUse, seed uint64) (runResult, error) {
	s := single{e: e, o: o, use: use, seed: seed, progress: func(float64) {}}
	return s.run(context.Background())
}
