package report

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"photon/lab/claim"
	"photon/lab/experiment"
)

// A committed table sees a verdict and a trace that are others, and what was not run.
func TestCompare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "kept.json")
	table := func(verdict, trace string) map[string]Baseline {
		return map[string]Baseline{"pcn/fig11": {Quick: true, Verdicts: map[string]claim.Verdict{"rate": claim.Verdict(verdict)}, Traces: map[string]string{"pcn": trace}}}
	}
	if err := WriteBaseline(file, table("holds", "aa")); err != nil {
		t.Fatal(err)
	}
	full := table("holds", "aa")
	full["pcn/fig11"] = Baseline{Verdicts: full["pcn/fig11"].Verdicts, Traces: full["pcn/fig11"].Traces}
	more := table("holds", "aa")
	more["pcn/fig12"] = Baseline{}
	for _, c := range []struct {
		name string
		now  map[string]Baseline
		want []string
	}{
		{"the same", table("holds", "aa"), nil},
		{"a verdict", table("contradicted", "aa"), []string{"pcn/fig11: claim rate is contradicted, was holds"}},
		{"a trace", table("holds", "bb"), []string{"pcn/fig11: the trace of pcn is bb, was aa"}},
		{"both", table("", ""), []string{"claim rate is not there, was holds", "the trace of pcn is not there, was aa"}},
		{"nothing", map[string]Baseline{}, []string{"pcn/fig11 was not run"}},
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

// The table of all claims is compared with whole runs, claim by claim and trace by trace. Of experiments whose traces
// it does not have the verdicts are, and it is said.
func TestCompareTally(t *testing.T) {
	dir := t.TempDir()
	result := func(id string, v claim.Verdict) claim.Tallied {
		r := claim.Result{ID: "rate"}
		r.Verdict = v
		return claim.Tallied{Experiment: id, Result: r}
	}
	table := claim.Tally{
		Claims: []claim.Tallied{result("pcn/fig11", claim.Holds), result("pcn/fig12", claim.Differs)},
		Experiments: []claim.Coverage{
			{Experiment: "pcn/fig11", Traces: map[string]string{"pcn": "aa", "dcqcn": "cc"}}, {Experiment: "pcn/fig12"},
		},
	}
	b, err := table.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(claim.File(dir), b, 0o644); err != nil {
		t.Fatal(err)
	}
	kept := func(v claim.Verdict, traces map[string]string) Baseline {
		return Baseline{Verdicts: map[string]claim.Verdict{"rate": v}, Traces: traces}
	}
	fig11 := kept(claim.Holds, map[string]string{"pcn": "aa", "dcqcn": "cc"})
	fig12 := kept(claim.Differs, map[string]string{"pcn": "ee"})
	quick := fig11
	quick.Quick = true
	for _, c := range []struct {
		name     string
		now      map[string]Baseline
		some     bool
		want     []string
		untraced []string
	}{
		{"the same", map[string]Baseline{"pcn/fig11": fig11, "pcn/fig12": fig12}, false, nil, []string{"pcn/fig12"}},
		{"one was not run", map[string]Baseline{"pcn/fig11": fig11}, false, []string{"pcn/fig12 was not run"}, nil},
		{"one of them", map[string]Baseline{"pcn/fig11": fig11}, true, nil, nil},
		{"a verdict", map[string]Baseline{"pcn/fig12": kept(claim.Reproduced, nil)}, true, []string{"pcn/fig12: claim rate is reproduced, was differs"}, []string{"pcn/fig12"}},
		{"a trace", map[string]Baseline{"pcn/fig11": kept(claim.Holds, map[string]string{"pcn": "ab", "dcqcn": "cc"})}, true, []string{"pcn/fig11: the trace of pcn is ab, was aa"}, nil},
		{"a scheme less", map[string]Baseline{"pcn/fig11": kept(claim.Holds, map[string]string{"pcn": "aa"})}, true, []string{"the trace of dcqcn is not there, was cc"}, nil},
		{"a short run", map[string]Baseline{"pcn/fig11": quick}, true, []string{"one of the two is of a run with --quick"}, nil},
		{"one that the table does not have", map[string]Baseline{"pcn/fig11": fig11, "pcn/fig2": fig11}, true, []string{"pcn/fig2 is not in"}, nil},
	} {
		got, untraced, err := CompareTally(dir, c.now, c.some)
		if err != nil || len(got) != len(c.want) || !slices.Equal(untraced, c.untraced) {
			t.Errorf("%s: %q, without traces %q, %v", c.name, got, untraced, err)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q lacks %q", c.name, got[i], want)
			}
		}
	}
	if _, _, err := CompareTally(t.TempDir(), nil, false); err == nil {
		t.Error("no table, no error")
	}
}

// The committed table is one that results can be compared with: every experiment of the catalogue is in it, and every
// claim has one of the verdicts that are counted.
func TestCommittedTallyIsWhole(t *testing.T) {
	differences, _, err := CompareTally("../../docs", map[string]Baseline{}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differences {
		if !strings.HasSuffix(d, "was not run") {
			t.Error(d)
		}
	}
	ids, err := experiment.IDs()
	if err != nil || len(differences) != len(ids) {
		t.Errorf("%d of %d experiments, %v", len(differences), len(ids), err)
	}
}
