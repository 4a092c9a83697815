package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ns-3 runs where the files are, with the libraries that waf built, and its flows are those that ended in this run.
func TestRunNS3(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "build", "scratch", "third")
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	script := func(text string) {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f := &foreignFiles[0]
	at, err := f.write(folder)
	if err != nil {
		t.Fatal(err)
	}
	script(`[ "$1" = config.txt ] && [ -f flow.txt ] && [ -d "$LD_LIBRARY_PATH/scratch" ] || exit 1
echo a flow > fct.txt; echo another >> fct.txt`)
	p, err := f.runNS3(program, folder)
	if err != nil || p.flows != 2 || p.wall <= 0 || p.rss <= 0 {
		t.Errorf("%+v, %v", p, err)
	}
	script("exit 0")
	if _, err := f.runNS3(program, folder); err == nil || !strings.Contains(err.Error(), filepath.Join(at, "fct.txt")) {
		t.Errorf("a run without a result: %v", err)
	}
	script("echo it is broken; exit 3")
	if _, err := f.runNS3(program, folder); err == nil || !strings.Contains(err.Error(), "it is broken") {
		t.Errorf("a run that failed: %v", err)
	}
}

// A ratio is of the same work only.
func TestBesideNS3(t *testing.T) {
	r := ran{Name: "x", Wall: 2}
	if err := r.beside(peer{wall: 30, rss: 7, flows: 5}, 5); err != nil || r.XNS3Here != 15 || r.NS3RSS != 7 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, flows := range []int{0, 4} {
		if err := r.beside(peer{wall: 30, flows: flows}, 5-flows); err == nil {
			t.Errorf("%d flows there: no error", flows)
		}
	}
	if err := r.beside(peer{wall: 30}, 0); err == nil {
		t.Error("no flow ended: no error")
	}
	runs := []ran{{XNS3Here: 12, NS3Wall: 3}, {XNS3Here: 10, NS3Wall: 1}, {XNS3Here: 11, NS3Wall: 2}}
	if m := medians(runs); m.XNS3Here != 11 || m.XNS3Least != 10 || m.XNS3Most != 12 || m.NS3Wall != 2 {
		t.Errorf("%+v", m)
	}
}
