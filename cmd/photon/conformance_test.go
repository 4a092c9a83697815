//go:build dpdk && conformance

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// conformanceRow is a case of a test plan that others wrote, in code of our own.
type conformanceRow struct {
	name    string // of the row, and of its subtest
	source  string // whose plan, and which case of it
	asserts string // what a receiver is to see
	apart   string // why it does not apply; empty: it does
	known   string // why it fails; empty: it is not known to
	check   func(t *testing.T)
}

// conformanceRows are all there are, in the order of the table.
func conformanceRows() []conformanceRow {
	return slices.Concat(pauseRows(), frameRows(), bufferRows(), classRows(), watchdogRows(), markingRows(),
		dropRows(), bridgeRows(), routerRows(), apartRows())
}

// verdict is what came of a row, as out/conformance.json has it.
type verdict struct {
	Case    string  `json:"case"`
	Source  string  `json:"source"`
	Command string  `json:"command"`
	Asserts string  `json:"asserts"`
	Verdict string  `json:"verdict"` // passes, fails, does not apply
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
}

const (
	passes = "passes"
	fails  = "fails"
	apart  = "does not apply"
)

// TestConformance runs every row, or those that -run names. Of all of them it writes out/conformance.md and
// out/conformance.json, and compares with the committed table; with UPDATE=1 it writes that.
func TestConformance(t *testing.T) {
	var all []verdict
	rows := conformanceRows()
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.name] || r.source == "" || r.asserts == "" || (r.apart == "") != (r.check != nil) {
			t.Fatalf("row %s: twice, or something is missing", r.name)
		}
		seen[r.name] = true
		v := verdict{Case: r.name, Source: r.source, Command: "make conformance CASE=" + r.name, Asserts: r.asserts, Verdict: apart, Why: r.apart}
		if r.check == nil {
			v.Command = ""
			all = append(all, v)
			continue
		}
		begin, ran := time.Now(), false
		good := t.Run(r.name, func(t *testing.T) {
			ran = true
			if r.known != "" && os.Getenv(beOneRow) == "" {
				v.Verdict = inProcess(t, r.name)
				return
			}
			r.check(t)
		})
		switch {
		case !ran:
			continue
		case !good:
			v.Verdict = fails
		case v.Verdict == fails:
			v.Why = r.known
		default:
			v.Verdict = passes
		}
		v.Seconds = float64(time.Since(begin).Round(100*time.Millisecond)) / float64(time.Second)
		all = append(all, v)
	}
	if len(all) < len(rows) { // some were asked for
		return
	}
	page := conformancePage(all)
	out := "../../out"
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"conformance.md": page, "conformance.json": string(b) + "\n"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const committed = "../../docs/conformance.md"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(committed, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(timeless(string(before)), "\n"), strings.Split(timeless(page), "\n")
	for _, line := range was {
		if !slices.Contains(is, line) {
			t.Errorf("docs/conformance.md says what this run did not find (UPDATE=1 writes it, for a change that is meant):\n%s", line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			t.Errorf("docs/conformance.md does not say what this run found:\n%s", line)
		}
	}
}

// beOneRow is set in a process that runs a row which is known to fail, so that its failure is not this test's.
const beOneRow = "PHOTON_TEST_BE_ONE_ROW"

// inProcess is the verdict of a row that is run in a process of its own.
func inProcess(t *testing.T, name string) string {
	t.Helper()
	c := exec.Command("/proc/self/exe", "-test.run", "^TestConformance$/^"+name+"$")
	c.Env = append(os.Environ(), beOneRow+"=1")
	out, err := c.CombinedOutput()
	switch {
	case err == nil:
		return passes
	case strings.Contains(string(out), "--- FAIL: TestConformance/"+name):
		t.Logf("it fails, as it is known to:\n%s", out)
		return fails
	}
	t.Fatalf("%v\n%s", err, out)
	return ""
}

// timeless is a page without the times that rows took.
func timeless(page string) string {
	return regexp.MustCompile(`\| [0-9.]+ s \|`).ReplaceAllString(page, "| |")
}

// conformancePage is docs/conformance.md.
func conformancePage(all []verdict) string {
	count := map[string]int{}
	for _, v := range all {
		count[v.Verdict]++
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Conformance

For those who ask whether photon behaves as a switch should. After this page you know how it does in the cases
of SONiC's test plans (repository sonic-net/sonic-mgmt), the Linux kernel's forwarding selftests
(tools/testing/selftests/net/forwarding), IEEE 802.1Q and IEEE 802.3; the code is our own. Each case runs
`+"`photon switch`"+` on veth ports between network namespaces, and judges by the frames that hosts receive, or by
what an operator can read, such as a watermark.

%d cases: %d pass, %d fail, %d do not apply.

`+"`make conformance`"+` runs all in some minutes, writes out/conformance.md (this page) and out/conformance.json,
and fails if a verdict differs from this page, which `+"`make conformance UPDATE=1`"+` updates. Each command below
runs one case. Times are of the run that wrote the page.

| command | source | what it asserts | verdict | time |
|---|---|---|---|---|
`, len(all), count[passes], count[fails], count[apart])
	for _, v := range all {
		said, took := v.Verdict, "| |"
		if v.Why != "" {
			said += ": " + v.Why
		}
		if v.Verdict != apart {
			took = fmt.Sprintf("| %.1f s |", v.Seconds)
		}
		command := v.Command
		if command == "" {
			command = v.Case
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s %s\n", command, v.Source, v.Asserts, said, took)
	}
	return b.String()
}
