package main

import (
	"path/filepath"
	"testing"

	"photon/lab/experiment"
	"photon/lab/remote"
	"photon/lab/testbed"
)

// The files of PCN's testbed are right, and fit the experiments they are for.
func TestTestbedFiles(t *testing.T) {
	const dir = "../../deploy/testbed-82599"
	files, err := filepath.Glob(dir + "/*-*.yaml")
	if err != nil || len(files) != 8 {
		t.Fatalf("%v, %v", files, err)
	}
	if code := run(append([]string{"check", dir + "/testbed.yaml", dir + "/accept.yaml"}, files...)); code != 0 {
		t.Errorf("exit code %d", code)
	}
	nodes, err := testbed.Read(dir + "/testbed.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"pcn/fig11", "pcn/fig17"} {
		e, err := experiment.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Check(e, nodes); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}
