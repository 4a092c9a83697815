package hpccfiles

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"photon/lab/run"
)

// read reads a case of the test data.
func read(t testing.TB, folder, scheme string) Files {
	t.Helper()
	get := func(name string) (string, []byte) {
		file := filepath.Join("testdata", folder, name)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return file, b
	}
	var f Files
	var err error
	if f.Topology, err = ReadTopology(get("topology.txt")); err != nil {
		t.Fatal(err)
	}
	var b []byte
	f.FlowFile, b = get("flow.txt")
	if f.Flows, err = ReadFlows(f.FlowFile, b, f.Topology); err != nil {
		t.Fatal(err)
	}
	if f.Config, err = ReadConfig(get("config_" + scheme + ".txt")); err != nil {
		t.Fatal(err)
	}
	return f
}

// runCase runs a case and returns what we and the other simulator have of it.
func runCase(t *testing.T, folder, scheme string) (ours, theirs []Finished) {
	t.Helper()
	p, err := Prepare(read(t, folder, scheme), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Warnings)+len(p.Notes) > 0 {
		t.Errorf("%v %v", p.Warnings, p.Notes)
	}
	out := t.TempDir()
	if _, err := p.Run(t.Context(), run.Options{World: "sim"}, out); err != nil {
		t.Fatal(err)
	}
	parse := func(file string) []Finished {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list, err := ReadFCT(file, b)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	ours, theirs = parse(filepath.Join(out, "fct.txt")), parse(filepath.Join("testdata", folder, "fct_"+scheme+".txt"))
	sameFlows(t, ours, theirs)
	return ours, theirs
}

// sameFlows compares all columns but the completion time.
func sameFlows(t *testing.T, ours, theirs []Finished) {
	t.Helper()
	seen := map[Finished]int{}
	for _, f := range theirs {
		f.FCT = 0
		seen[f]++
	}
	for _, f := range ours {
		f.FCT = 0
		if seen[f]--; seen[f] < 0 {
			t.Errorf("the other simulator has no such flow: %+v", f)
		}
	}
	if len(ours) != len(theirs) {
		t.Errorf("%d flows, want %d", len(ours), len(theirs))
	}
}

// One flow at a time: completion times to the other simulator's rounding of
// every transmission to whole nanoseconds, which is up to 0.2 %.
func TestSingleFlowsAgainstTheOtherSimulator(t *testing.T) {
	for _, c := range [][2]string{{"single25", "dcqcn"}, {"single25", "timely"}, {"single25", "hpcc"}, {"single40", "dcqcn"}, {"single40", "timely"}} {
		t.Run(c[0]+"_"+c[1], func(t *testing.T) {
			t.Parallel()
			ours, theirs := runCase(t, c[0], c[1])
			for i := range ours {
				if off := float64(ours[i].FCT)/float64(theirs[i].FCT) - 1; math.Abs(off) > 0.003 {
					t.Errorf("%d bytes: %d ns, want %d: off by %.2f %%", ours[i].Size, ours[i].FCT, theirs[i].FCT, 100*off)
				}
			}
		})
	}
}

// 64 hosts with web search at half load. The choice among equal paths and the
// marks are random, so only slowdowns of all flows are compared. Twenty per cent
// is what is promised; that they are much closer is in docs/hpcc-files.md.
func TestSlowdownsAgainstTheOtherSimulator(t *testing.T) {
	page, err := os.ReadFile("../../docs/hpcc-files.md")
	if err != nil {
		t.Fatal(err)
	}
	for scheme, name := range map[string]string{"dcqcn": "DCQCN (mode 1)", "timely": "TIMELY (mode 7)", "hpcc": "HPCC (mode 3)"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			a, b := runCase(t, "ls64", scheme)
			ours, theirs := Summarise(a), Summarise(b)
			for what, v := range map[string][2]float64{
				"avg": {ours.Avg, theirs.Avg}, "p50": {ours.P50, theirs.P50}, "p95": {ours.P95, theirs.P95}, "p99": {ours.P99, theirs.P99},
			} {
				if off := v[0]/v[1] - 1; math.Abs(off) > 0.2 {
					t.Errorf("%s: %.3f, want %.3f", what, v[0], v[1])
				}
			}
			row := fmt.Sprintf("| %s | %.3f / %.3f | %.3f / %.3f | %.3f / %.3f | %.3f / %.3f |\n", name, ours.Avg, theirs.Avg, ours.P50, theirs.P50, ours.P95, theirs.P95, ours.P99, theirs.P99)
			if !bytes.Contains(page, []byte(row)) {
				t.Errorf("docs/hpcc-files.md is to have\n%s", row)
			}
		})
	}
}

// Slowdowns of two files are only worth comparing if they are of the same flows: of others in a file it is known how
// many there are, a flow that is there more often than it runs among them.
func TestStrangersOfAFile(t *testing.T) {
	f := read(t, "single25", "hpcc")
	for _, c := range []struct {
		file   string
		extra  string
		others int
	}{
		{"single25/fct_hpcc.txt", "", 0}, {"single25/fct_timely.txt", "", 0}, {"ls64/fct_hpcc.txt", "", 614},
		{"single25/fct_hpcc.txt", "0b000001 0b000101 10000 100 77 0 9 9\n", 1},
	} {
		b, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		list, err := ReadFCT(c.file, append(b, c.extra...))
		if err != nil {
			t.Fatal(err)
		}
		if n := Strangers(list, f.Flows); n != c.others {
			t.Errorf("%s %s: %d of %d are others, not %d", c.file, c.extra, n, len(list), c.others)
		}
		if n := Strangers(append(list, list...), f.Flows); n < len(list) {
			t.Errorf("%s: twice the same flows are %d others", c.file, n)
		}
	}
}
