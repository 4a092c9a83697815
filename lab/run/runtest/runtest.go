// Package runtest has for tests what the traces of experiments were, and for how long.
package runtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"photon/lab/experiment"
	"photon/units"
)

// Golden are the hashes of traces by experiment and scheme.
func Golden(t testing.TB) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), "lab", "run", "testdata", "traces.json"))
	if err != nil {
		t.Fatal(err)
	}
	golden := map[string]string{}
	if err := json.Unmarshal(b, &golden); err != nil {
		t.Fatal(err)
	}
	return golden
}

// root is the folder of go.mod above the test's own, also in a build with -trimpath.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above this test")
		}
	}
	t.Fatal(err)
	return ""
}

// Shortest are all experiments, as long as their hashes are of.
func Shortest(t testing.TB) []*experiment.Experiment {
	t.Helper()
	all, err := experiment.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		plan, err := e.Plan()
		if err != nil {
			t.Fatal(err)
		}
		// Of a large network less will do: as much happens in it.
		e.Duration = min(e.Duration, 3*units.Millisecond*units.Time(min(32, len(plan.Hosts())))/units.Time(len(plan.Hosts())))
		e.Workloads = slices.DeleteFunc(e.Workloads, func(w experiment.Workload) bool { return w.Start.V >= e.Duration })
		e.Measure = experiment.Measure{Sample: e.Measure.Sample} // what it measures comes later
	}
	return all
}
