package report

import (
	"os"
	"path/filepath"
	"photon/lab/claim"
	"strings"
	"testing"
)

// A committed table sees a verdict and a trace that are others, and what was not run.
func TestCompare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "kept.json")
	table := func(verdict, trace string) map[string]Kept {
		return map[string]Kept{"pcn/fig11": {Quick: true, Verdicts: map[string]claim.Verdict{"rate": claim.Verdict(verdict)}, Traces: map[string]string{"pcn": trace}}}
	}
	if err := WriteKept(file, table("holds", "aa")); err != nil {
		t.Fatal(err)
	}
	full := table("holds", "aa")
	full["pcn/fig11"] = Kept{Verdicts: full["pcn/fig11"].Verdicts, Traces: full["pcn/fig11"].Traces}
	more := table("holds", "aa")
	more["pcn/fig12"] = Kept{}
	for _, c := range []struct {
		name string
		now  map[string]Kept
		want []string
	}{
		{"the same", table("holds", "aa"), nil},
		{"a verdict", table("contradicted", "aa"), []string{"pcn/fig11: claim rate is contradicted, was holds"}},
		{"a trace", table("holds", "bb"), []string{"pcn/fig11: the trace of pcn is bb, was aa"}},
		{"both", table("", ""), []string{"claim rate is not there, was holds", "the trace of pcn is not there, was aa"}},
		{"nothing", map[string]Kept{}, []string{"pcn/fig11 was not run"}},
		{"more", more, []string{"pcn/fig12 is not in"}},
		{"a full run", full, []string{"one of the two is of a run with --quick"}},
	} {
		got, err := Compare(file, c.now)
		if err != nil || len(got) != len(c.want) {
			t.Errorf("%s: %v %v", c.name, got, err)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q lacks %q", c.name, got[i], want)
			}
		}
	}
	if err := os.WriteFile(file, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Compare(file, nil); err == nil || !strings.Contains(err.Error(), "kept.json") {
		t.Error(err)
	}
}
