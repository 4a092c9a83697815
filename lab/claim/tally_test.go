package claim

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"photon/lab/experiment"
	"photon/lab/run"
)

// kept is what a folder's reproduction.json has of an experiment that ran whole.
func kept(t *testing.T, id string) (dir string, e *experiment.Experiment, whole Finished) {
	t.Helper()
	e, err := experiment.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	whole = Finished{Experiment: e, Coverage: Coverage{Experiment: id, Seeds: e.Repeat, Traces: map[string]string{}}}
	r := &run.Result{World: "sim"}
	for _, s := range e.SchemeKeys() {
		one := run.Run{Scheme: s, Invariants: run.Invariants{ConservationOK: true}}
		for _, m := range e.MetricNames() {
			one.SetSamples(m, slices.Repeat([]*float64{ptr(1)}, e.Repeat))
		}
		r.Runs = append(r.Runs, one)
		whole.Coverage.Traces[s] = "whole"
	}
	whole.Claims = Judge(e, r).Claims
	b, err := Sum([]Finished{whole}).JSON()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(File(dir), b, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, e, whole
}

// part is a result of one of an experiment's schemes.
func part(e *experiment.Experiment, scheme string, x Coverage) Finished {
	one := run.Run{Scheme: scheme, Invariants: run.Invariants{ConservationOK: true}}
	for _, m := range e.MetricNames() {
		one.SetSamples(m, slices.Repeat([]*float64{ptr(1)}, x.Seeds))
	}
	x.Experiment, x.Traces = e.ID, map[string]string{scheme: "now"}
	return Finished{Experiment: e, Coverage: x, Claims: Judge(e, &run.Result{World: "sim", Runs: []run.Run{one}}).Claims}
}

// Of an experiment of which some schemes ran again, the table keeps the traces of the others with their claims.
func TestMergedTallyKeepsTraces(t *testing.T) {
	dir, e, whole := kept(t, "tcd/b")
	all, err := MergeTally([]Finished{part(e, "tcd+dcqcn", Coverage{Seeds: e.Repeat})}, dir)
	if err != nil {
		t.Fatal(err)
	}
	want := maps.Clone(whole.Coverage.Traces)
	want["tcd+dcqcn"] = "now"
	if got := all[0].Coverage.Traces; !maps.Equal(got, want) {
		t.Errorf("traces %v, want %v", got, want)
	}
	for k, c := range all[0].Claims {
		if c.Verdict != whole.Claims[k].Verdict || c.Verdict == NotRun {
			t.Errorf("%s is %s, and was %s", c.ID, c.Verdict, whole.Claims[k].Verdict)
		}
	}
}

// A table says once of an experiment with how many seeds it ran, and whether quickly: claims of a run that was another
// are not kept beside new ones.
func TestMergedTallyOfOneKind(t *testing.T) {
	dir, e, whole := kept(t, "tcd/b")
	for _, x := range []Coverage{{Seeds: 2}, {Seeds: e.Repeat, Quick: true}} {
		_, err := MergeTally([]Finished{part(e, "tcd+dcqcn", x)}, dir)
		if err == nil || !strings.Contains(err.Error(), "tcd/b") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v", x, err)
		}
	}
	// All of it ran: nothing is kept, and nothing is mixed.
	whole.Coverage.Seeds, whole.Coverage.Traces = 2, map[string]string{"dcqcn": "now"}
	all, err := MergeTally([]Finished{whole}, dir)
	if err != nil || all[0].Coverage.Seeds != 2 || len(all[0].Coverage.Traces) != 1 {
		t.Errorf("%v: %+v", err, all)
	}
}

// That something never comes is claimed of all runs: a median says it as well of a scheme that does it in two fifths of
// them.
func TestNoneIsNoneInAnyRun(t *testing.T) {
	all, err := experiment.All()
	if err != nil {
		t.Fatal(err)
	}
	none := 0
	for _, e := range all {
		for i := range e.Claims {
			for _, p := range e.Claims[i].Parts() {
				at := cmp.Or(p.Limit, p.Paper)
				if at == nil || *at != 0 || p.Kind() != experiment.Value || p.Bound == experiment.AtLeast {
					continue
				}
				if none++; p.Statistic() != "max" {
					t.Errorf("%s %s %s: none by the %s of the runs", e.ID, e.Claims[i].ID, p.Name, p.Statistic())
				}
			}
		}
	}
	if none < 20 {
		t.Errorf("%d claims of none", none)
	}
}
