package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// manyRuns is an experiment of eight short runs of each of two schemes, and five of a choice made otherwise.
const manyRuns = `
id: test/many
title: eight runs of two schemes
duration: 25ms
repeat: 8
topology: {kind: star, hosts: 11}
parameters:
  link_rate: {value: 25Gbps, source: the test}
  host_delay: {value: 1us, source: the test}
  trunk_delay: {value: 1us, source: the test}
  payload: {value: 1000B, source: the test}
  mtu: {value: 1500B, source: the test}
  priority: {value: 3, source: the test}
  xoff: {value: 256KB, source: the test}
  xon: {value: 253KB, source: the test}
  buffer: {value: 16MB, source: the test}
flows: [{name: F, from: H0..H9, to: H10, spread: 1ms}]
schemes: [{name: pcn}, {name: dcqcn}]
alternatives: [{name: pcn, params: {wmin: {value: 0.1/10, source: the test}}}]
measure:
  sample: 100us
  probes: [{name: queue, kind: queue, at: [S0>H10]}, {name: got, kind: received, flows: [F], each: true}]
  metrics: [{name: mean, do: mean, of: queue}, {name: never, do: first_at_least, of: queue, value: 1e12}, {name: jain, do: jain, of: got}]
plots: [{title: queue, lines: [queue]}]
`

// photon is the test binary as photon, in a process of its own.
func photon(ctx context.Context, env []string, args ...string) (c *exec.Cmd, said *bytes.Buffer) {
	c = exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(append(os.Environ(), beMain+"=1"), env...)
	said = &bytes.Buffer{}
	c.Stdout, c.Stderr = said, said
	return c, said
}

// patience is how long a test waits for what happens at once on an idle machine.
const patience = 3 * time.Minute

// until waits for files that match a pattern and returns them.
func until(ctx context.Context, t *testing.T, pattern string) []string {
	t.Helper()
	for {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) > 0 {
			return files
		}
		select {
		case <-ctx.Done():
			t.Fatalf("there is no %s", pattern)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// contents are the files below a folder, without the two that tell how long it took.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "timing.json" || d.Name() == "report.html" {
			return err
		}
		b, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A replay that is interrupted says how to go on, and going on runs nothing twice
// and yields the bytes of one that was not, on one processor.
func TestInterruptedReplayGoesOn(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	dir := t.TempDir()
	file := filepath.Join(dir, "many.yaml")
	if err := os.WriteFile(file, []byte(manyRuns), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	first, said := photon(ctx, nil, "run", file, "--out", out)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, filepath.Join(out, "test-many", "sim", "runs", "*.run"))
	if err := first.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil || first.ProcessState.ExitCode() != exitFailed {
		t.Fatalf("%v\n%s", err, said)
	}
	kept := len(until(ctx, t, filepath.Join(out, "test-many", "sim", "runs", "*.run")))
	if want := fmt.Sprintf("interrupted: 0 of 1 experiments are done, and %d of 21 runs of the others; the same command goes on from there\n", kept); !strings.HasSuffix(said.String(), want) {
		t.Fatalf("%s\nwant %s", said, want)
	}
	second, said := photon(ctx, nil, "run", file, "--out", out)
	if err := second.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if want := fmt.Sprintf("%d runs had ended before and were not run again\n", kept); !strings.Contains(said.String(), want) {
		t.Errorf("%s\nwant %s", said, want)
	}
	whole, said := photon(ctx, []string{"GOMAXPROCS=1"}, "run", file, "--out", filepath.Join(dir, "whole"))
	if err := whole.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	got, want := contents(t, out), contents(t, filepath.Join(dir, "whole"))
	if len(got) != len(want) || len(want) < 6 {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	for name, b := range want {
		if got[name] != b {
			t.Errorf("%s differs", name)
		}
	}
}
