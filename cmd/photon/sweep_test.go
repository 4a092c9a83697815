package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeSweep writes a sweep over the schemes of manyRuns, and returns its path.
func writeSweep(t *testing.T, seeds string) string {
	t.Helper()
	dir := t.TempDir()
	spec := filepath.Join(dir, "many-sweep.yaml")
	for file, text := range map[string]string{
		filepath.Join(dir, "many.yaml"): manyRuns,
		spec:                            "name: many\nexperiments: [many.yaml]\nseeds: " + seeds + "\nvary: {parameters.xoff: [300KB]}\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return spec
}

// sameTables compares what two sweeps were collected into.
func sameTables(t *testing.T, a, b string) {
	t.Helper()
	for _, name := range []string{"results.csv", "results.parquet"} {
		one, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		other, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, other) {
			t.Errorf("%s differs", name)
		}
	}
}

// A sweep that is killed in the middle goes on where it was: every task is there
// once, and the tables are those of workers that each did a part, a task on two cores.
func TestKilledSweepGoesOn(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	spec := writeSweep(t, "1..6")
	out, parts := t.TempDir(), t.TempDir()
	folder := filepath.Join(out, "sweeps", "many")
	first, said := photon(ctx, nil, "sweep", spec, "--out", out, "--jobs", "1")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, filepath.Join(folder, "tasks", "*.json"))
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil {
		t.Fatalf("it was not killed\n%s", said)
	}
	done := len(until(ctx, t, filepath.Join(folder, "tasks", "*.json")))
	if done == 12 {
		t.Fatal("it was done before it was killed")
	}
	if code := run([]string{"sweep", "collect", folder}); code != exitFailed {
		t.Errorf("collecting what is not whole: exit code %d", code)
	}
	second, said := photon(ctx, nil, "sweep", spec, "--out", out)
	if err := second.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if want := fmt.Sprintf("%d of 12 tasks were done before", done); !strings.Contains(said.String(), want) {
		t.Errorf("%s\nwant %s", said, want)
	}
	for k := range 3 {
		worker, said := photon(ctx, nil, "sweep", spec, "--out", parts, "--worker", fmt.Sprintf("%d/3", k), "--cores", "2")
		if err := worker.Run(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	if code := run([]string{"sweep", "collect", folder}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if code := run([]string{"sweep", "collect", spec, "--out", parts}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	sameTables(t, folder, filepath.Join(parts, "sweeps", "many"))
	b, err := os.ReadFile(filepath.Join(folder, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil || len(rows) != 13 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if got := strings.Join(rows[0], " "); got != "task experiment scheme seed parameters.xoff packet_hops virtual_seconds trace_hash jain mean never" {
		t.Error(got)
	}
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		seen[row[2]+row[3]] = true
		if row[4] != "300000" || row[9] == "" || row[10] != "inf" {
			t.Error(row)
		}
	}
	if len(seen) != 12 {
		t.Errorf("%d tasks", len(seen))
	}
}

func TestSweepRefusesCores(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	spec := writeSweep(t, "1..3")
	for want, flags := range map[string][]string{
		"--jobs, --cores, --workers and --cpus must be at least 1": {"--cores", "0"},
		"--cores 4: a worker has --cpus 3":                         {"--slurm", "--cpus", "3", "--cores", "4"},
	} {
		c, said := photon(ctx, nil, append([]string{"sweep", spec, "--out", t.TempDir()}, flags...)...)
		if err := c.Run(); c.ProcessState.ExitCode() != exitBadInput || !strings.Contains(said.String(), want) {
			t.Errorf("%q: %v\n%s", flags, err, said)
		}
	}
}

// Where there is no sbatch, the script is there to be submitted elsewhere.
func TestSlurmScriptWithoutSlurm(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	out := t.TempDir()
	c, said := photon(ctx, []string{"PATH="}, "sweep", writeSweep(t, "1..3"), "--out", out, "--slurm", "--workers", "4")
	script := filepath.Join(out, "sweeps", "many", "slurm.sh")
	if err := c.Run(); c.ProcessState.ExitCode() != exitFailed || !strings.HasSuffix(said.String(), "there is no sbatch on this machine; submit "+script+" where there is one\n") {
		t.Errorf("%v\n%s", err, said)
	}
	b, err := os.ReadFile(script)
	if err != nil || !strings.Contains(string(b), "#SBATCH --array=0-3\n") || !strings.Contains(string(b), " --worker \"$SLURM_ARRAY_TASK_ID/4\" ") {
		t.Errorf("%v\n%s", err, b)
	}
}
