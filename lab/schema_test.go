package lab

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// docs/experiment.schema.json is what the types say.
func TestSchemaIsUpToDate(t *testing.T) {
	want, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../docs/experiment.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/experiment.schema.json is old: photon check --schema > docs/experiment.schema.json")
	}
}

// docs/experiments.md names every kind of probe and metric.
func TestManualIsComplete(t *testing.T) {
	page, err := os.ReadFile("../docs/experiments.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range slices.Concat(slices.Collect(maps.Keys(probeKinds)), slices.Collect(maps.Keys(metricKinds))) {
		if !strings.Contains(string(page), "`"+kind+"`") {
			t.Errorf("docs/experiments.md does not mention %s", kind)
		}
	}
}
