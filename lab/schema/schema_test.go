package schema

import (
	"bytes"
	"os"
	"testing"
)

// docs/experiment.schema.json is what the types say.
func TestSchemaIsUpToDate(t *testing.T) {
	want, err := Experiment()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/experiment.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/experiment.schema.json is old: photon check --schema > docs/experiment.schema.json")
	}
}
