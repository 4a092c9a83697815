package main

import (
	"os"
	"testing"
)

// An answer that cannot be written is a failure, whoever prints it: a script that keeps it must not go on with a part.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	before := os.Stdout
	os.Stdout = full
	defer func() { os.Stdout = before }()
	for _, args := range [][]string{
		{"version"}, {"--version"}, {"--help"}, {"help", "run"}, {"list"}, {"list", "--json"},
		{"list", "metrics", "--markdown"}, {"explain", "pcn"}, {"explain", "--markdown"},
		{"check", "../../deploy/switch.yaml"}, {"check", "../../docs/examples/incast.yaml"}, {"check", "--schema"},
		{"completion", "bash"}, {"__complete", "show", ""},
	} {
		if got := run(args); got != exitFailed {
			t.Errorf("photon %v: exit code %d, want %d", args, got, exitFailed)
		}
	}
}
