package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The worked example of docs/add-a-scheme.md compiles and runs: its files are
// laid over the sources.
func TestAddAScheme(t *testing.T) {
	page, err := os.ReadFile("../../docs/add-a-scheme.md")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay := map[string]map[string]string{"Replace": {}}
	lines := 0
	for _, m := range regexp.MustCompile("(?s)```go\n// file: (\\S+)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		file := filepath.Join(dir, filepath.Base(filepath.Dir(m[1]))+"-"+filepath.Base(m[1]))
		if err := os.WriteFile(file, []byte(m[2]), 0o644); err != nil {
			t.Fatal(err)
		}
		overlay["Replace"][filepath.Join(root, m[1])] = file
		lines += strings.Count(m[2], "\n")
	}
	if len(overlay["Replace"]) != 2 || lines > 90 {
		t.Fatalf("the page has %d files of %d lines in all", len(overlay["Replace"]), lines)
	}
	// What the page says to name among the spans, named there.
	const spans = "../../internal/rebase/fields_test.go"
	span := regexp.MustCompile("that are no instants \\(`(\\S+)`\\)").FindSubmatch(page)
	list, err := os.ReadFile(spans)
	if err != nil || span == nil {
		t.Fatal(err, "the page names no span")
	}
	named := bytes.Replace(list, []byte("var spans = []string{"), fmt.Appendf(nil, "var spans = []string{%q,", span[1]), 1)
	file := filepath.Join(dir, "spans_test.go")
	if err := os.WriteFile(file, named, 0o644); err != nil {
		t.Fatal(err)
	}
	overlay["Replace"][filepath.Join(root, "internal/rebase/fields_test.go")] = file
	b, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	files := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(files, b, 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		c := exec.Command("go", append([]string{"run", "-overlay", files, "."}, args...)...)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("photon %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if out := run("explain", "aimd"); !strings.Contains(out, "step = 40Mbps") {
		t.Errorf("explain says\n%s", out)
	}
	// Those that go over all schemes, but for what they write: recipes, the ends of parameters, clocks set back.
	tests := exec.Command("go", "test", "-overlay", files, "../../scheme", "../../internal/rebase", "-timeout", "3m",
		"-run", "TestEveryRecipe|TestEndsOfRanges|TestExplain|TestNoInstantIsForgotten")
	tests.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := tests.CombinedOutput(); err != nil {
		t.Errorf("the tests of recipes: %v\n%s", err, out)
	}
	run("replay", "pcn/fig11", "--schemes", "aimd", "--quick", "--out", dir)
	result, err := os.ReadFile(filepath.Join(dir, "pcn-fig11", "sim", "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Runs []struct {
			Scheme     string
			Metrics    map[string]*float64
			Invariants struct {
				Lost uint64 `json:"lost_frames"`
				OK   bool   `json:"conservation_ok"`
			}
		}
	}
	if err := json.Unmarshal(result, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 1 || r.Runs[0].Scheme != "aimd" || r.Runs[0].Invariants.Lost != 0 || !r.Runs[0].Invariants.OK || *r.Runs[0].Metrics["goodput_bps"] < 1e9 {
		t.Errorf("%+v", r)
	}
}

// The example of docs/experiments.md runs as it stands.
func TestExperimentsManual(t *testing.T) {
	page, err := os.ReadFile("../../docs/experiments.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```yaml\n# file: (\\S+)\n(.*?)```").FindSubmatch(page)
	if m == nil {
		t.Fatal("there is no example")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, string(m[1]))
	if err := os.WriteFile(file, m[2], 0o644); err != nil {
		t.Fatal(err)
	}
	if code := run([]string{"run", file, "--out", dir}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	result, err := os.ReadFile(filepath.Join(dir, "my-first", "sim", "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"short_p99_s": 0.`, `"jain": `, `"lost_frames": 0`} {
		if !strings.Contains(string(result), want) {
			t.Errorf("the result lacks %s", want)
		}
	}
}

// The specs of docs/examples are right, docs/sweeps.md shows one of them as it
// is, and a part of it runs.
func TestSweepsManual(t *testing.T) {
	specs, err := filepath.Glob("../../docs/examples/*-sweep.yaml")
	if err != nil || len(specs) < 2 {
		t.Fatal(specs, err)
	}
	if code := run(append([]string{"check"}, specs...)); code != 0 {
		t.Errorf("exit code %d", code)
	}
	page, err := os.ReadFile("../../docs/sweeps.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```yaml\n# file: (\\S+)\n(.*?)```").FindSubmatch(page)
	if m == nil {
		t.Fatal("there is no example")
	}
	spec := filepath.Join("../..", string(m[1]))
	if b, err := os.ReadFile(spec); err != nil || string(b) != string(m[2]) {
		t.Errorf("%s is not what the page shows (%v)", m[1], err)
	}
	dir := t.TempDir()
	if code := run([]string{"sweep", spec, "--out", dir, "--worker", "0/8"}); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if code := run([]string{"sweep", "collect", spec, "--out", dir, "--allow-missing"}); code != 0 {
		t.Errorf("exit code %d", code)
	}
	table, err := os.ReadFile(filepath.Join(dir, "sweeps", "incast", "results.csv"))
	if err != nil || strings.Count(string(table), "\n") != 9 {
		t.Errorf("%v\n%s", err, table)
	}
}
