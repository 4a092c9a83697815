package experiment

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// docs/experiments.md names every kind of probe and metric.
func TestManualIsComplete(t *testing.T) {
	page, err := os.ReadFile("../../docs/experiments.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range slices.Concat(slices.Collect(maps.Keys(ProbeKinds)), slices.Collect(maps.Keys(MetricKinds))) {
		if !strings.Contains(string(page), "`"+kind+"`") {
			t.Errorf("docs/experiments.md does not mention %s", kind)
		}
	}
}
