package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"photon/config"
	"photon/lab/experiment"
	"photon/lab/report"
	"photon/lab/run"
	"photon/units"
)

// replayed is an experiment in virtual time, with its files in a folder.
func replayed(t *testing.T, e *experiment.Experiment, o run.Options) (x *Replayed, folder string) {
	t.Helper()
	out := t.TempDir()
	x, err := Replay(context.Background(), e, []string{"sim"}, o, out, func(string, run.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return x, filepath.Join(report.Folder(e, out), "sim")
}

func get(t *testing.T, id string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Runs of one replay side by side on several processors yield, byte for byte and
// in the same order, what they yield one after the other on one.
func TestCoresDoNotMatter(t *testing.T) {
	files := func(cores int) (all []byte) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		e := get(t, "pcn/fig14-w2")
		e.Duration, e.Measure.Sample = units.Millisecond, units.Millisecond/10
		e.Topology.Pods, e.Topology.ToRs, e.Topology.Hosts, e.Topology.Spines = config.Set(1), config.Set(2), config.Set(8), config.Set(2)
		w := &e.Workloads[0]
		w.End, w.Flows, w.Capacity, w.Load = config.Set(e.Duration), config.Value[int]{}, config.Set(160*units.Gbps), config.Set(0.4)
		e.ID, e.Repeat, e.Claims, e.Alternatives = "cores", 3, nil, nil
		_, folder := replayed(t, e, run.Options{Schemes: []string{"dcqcn", "pcn"}})
		list, err := filepath.Glob(filepath.Join(folder, "*.*"))
		if err != nil || len(list) < 3 {
			t.Fatal(list, err)
		}
		for _, file := range list {
			if filepath.Base(file) == "timing.json" { // wall times
				continue
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(append(all, filepath.Base(file)...), b...)
		}
		return all
	}
	if one, four := files(1), files(4); !bytes.Equal(one, four) {
		t.Error("one core and four yield different files")
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	e := get(t, "pcn/fig11")
	e.Duration, e.Measure.Queue.To, e.Measure.Steady, e.Measure.Plot = 30*units.Millisecond, 30*units.Millisecond, experiment.Span{From: 10 * units.Millisecond, To: 20 * units.Millisecond}, 0
	e.Repeat, e.Alternatives = 2, nil
	write := func(seed uint64) (result, series []byte) {
		x, folder := replayed(t, e, run.Options{Schemes: []string{"dcqcn"}, Seed: seed})
		again, err := report.Load(e, filepath.Dir(filepath.Dir(folder)), "sim")
		if err != nil || len(again.Runs) != 1 {
			t.Fatal(err)
		}
		is, was := again.Series("dcqcn", ""), x.Results[0].Series("dcqcn", "")
		if !slices.Equal(is.Column("queue_bytes"), was.Column("queue_bytes")) || !slices.Equal(is.Value[0], was.Value[0]) {
			t.Fatal("what was written is not what is read")
		}
		result, err = os.ReadFile(filepath.Join(folder, "result.json"))
		if err != nil {
			t.Fatal(err)
		}
		series, err = os.ReadFile(filepath.Join(folder, "dcqcn.csv"))
		if err != nil {
			t.Fatal(err)
		}
		return result, series
	}
	r1, s1 := write(1)
	r2, s2 := write(1)
	r3, s3 := write(2)
	if !bytes.Equal(r1, r2) || !bytes.Equal(s1, s2) {
		t.Error("one seed, two results")
	}
	if bytes.Equal(r1, r3) || bytes.Equal(s1, s3) {
		t.Error("two seeds, one result")
	}
}

func TestResultFormat(t *testing.T) {
	e := get(t, "pcn/fig11")
	e.Alternatives = nil
	x, _ := replayed(t, e, run.Options{Schemes: []string{"pcn"}, Quick: true})
	b, err := json.Marshal(x.Results[0])
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	manual, err := os.ReadFile("../docs/experiments.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(manual), "### What is in result.json")
	keys := func(m any) string { return strings.Join(slices.Sorted(maps.Keys(m.(map[string]any))), " ") }
	one, claim := got["runs"].([]any)[0], got["claims"].([]any)[0]
	for where, pair := range map[string][2]string{
		"result":     {keys(got), "claims command commit duration experiment experiment_sha256 parameters quick runs seed seeds topology version world"},
		"run":        {keys(one), "invariants metrics packet_hops per_seed scheme settings statistics trace_hash virtual_seconds"},
		"invariants": {keys(one.(map[string]any)["invariants"]), "conservation_ok lost_frames"},
		"claim":      {keys(claim), "as bound id interval measured metric n never note of paper schemes text unit verdict"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s has the keys %s, want %s", where, pair[0], pair[1])
		}
		for _, key := range strings.Fields(pair[0]) {
			if where != "claim" && !strings.Contains(page, "`"+key+"`") {
				t.Errorf("docs/experiments.md does not say what %s of a %s is", key, where)
			}
		}
	}
}
