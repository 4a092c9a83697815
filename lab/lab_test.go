package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"photon/config"
	"photon/dataplane"
	"photon/units"
)

func ptr(v float64) *float64 { return &v }

func fig11(t testing.TB) *Experiment {
	t.Helper()
	e, err := Get("pcn/fig11")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Every experiment that comes with photon is right, and every trace of its first
// milliseconds is the one it was: a change of behaviour is a change of this table.
func TestGoldenTraces(t *testing.T) {
	golden, got := goldenTraces(t), map[string]string{}
	for _, e := range shortest(t) {
		for _, use := range e.Schemes {
			got[e.ID+" "+use.Name.V] = traceOf(t, e, use, Options{World: "sim"})
		}
	}
	if !maps.Equal(got, golden) {
		b, _ := json.MarshalIndent(got, "", "  ")
		t.Errorf("testdata/traces.json is to be:\n%s", b)
	}
}

// A trace is of what frames say, not of what lay in their buffers before: every
// scheme's is the same when these are full of something else at the start, those of
// one part if there are several.
func TestTracesDoNotReadOldBuffers(t *testing.T) {
	golden, seen := goldenTraces(t), map[string]bool{}
	plain := wrap
	defer func() { wrap = plain }()
	for _, e := range shortest(t) {
		for _, use := range e.Schemes {
			if seen[use.Name.V] {
				continue
			}
			seen[use.Name.V] = true
			soiled := false
			wrap = func(_ string, node dataplane.Node, envs []*dataplane.Env) dataplane.Node {
				if !soiled {
					soil(envs[0])
				}
				soiled = true
				return node
			}
			for _, cores := range []int{1, 2} {
				soiled = false
				if name := e.ID + " " + use.Name.V; traceOf(t, e, use, Options{World: "sim", Cores: cores}) != golden[name] {
					t.Errorf("%s: another trace on %d processors", name, cores)
				}
			}
		}
	}
}

// soil fills many buffers of a world with ones.
func soil(env *dataplane.Env) {
	frames := make([]dataplane.Frame, 1<<14)
	for i := range frames {
		frames[i], _ = env.Alloc(1500)
		b := env.Header(frames[i])
		for k := range b {
			b[k] = 0xFF
		}
	}
	for _, f := range frames {
		env.Free(f)
	}
}

// goldenTraces are the hashes by experiment and scheme.
func goldenTraces(t *testing.T) map[string]string {
	t.Helper()
	golden := map[string]string{}
	b, err := os.ReadFile("testdata/traces.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &golden); err != nil {
		t.Fatal(err)
	}
	return golden
}

// shortest are all experiments, as long as their hashes are of.
func shortest(t *testing.T) []*Experiment {
	t.Helper()
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		plan, err := e.plan()
		if err != nil {
			t.Fatal(err)
		}
		// Of a large network less will do: as much happens in it.
		e.Duration = min(e.Duration, 3*units.Millisecond*units.Time(min(32, len(plan.Hosts())))/units.Time(len(plan.Hosts())))
		e.Workloads = slices.DeleteFunc(e.Workloads, func(w Workload) bool { return w.Start.V >= e.Duration })
		e.Measure = Measure{Sample: e.Measure.Sample} // what it measures comes later
	}
	return all
}

// traceOf runs a scheme and returns the hash of what happened.
func traceOf(t *testing.T, e *Experiment, use SchemeUse, o Options) string {
	t.Helper()
	r, err := e.run(context.Background(), o, use, e.Seed, func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	if r.invariants.LostFrames != 0 || !r.invariants.ConservationOK {
		t.Errorf("%s %s: %+v", e.ID, use.Name.V, r.invariants)
	}
	return r.hash
}

// What figure 11 must show of PCN: the bottleneck in use, no pause after the
// start, nothing lost, and the metrics that are promised.
func TestFigure11(t *testing.T) {
	e := fig11(t)
	r, err := e.Replay(context.Background(), Options{World: "sim", Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range r.Runs {
		names := slices.Sorted(maps.Keys(run.Metrics))
		want := slices.Sorted(slices.Values(dynamicsMetrics))
		if !slices.Equal(names, want) {
			t.Errorf("%s: metrics %v", run.Scheme, names)
		}
		for _, m := range names {
			if MetricDoc[m] == "" {
				t.Errorf("%s is not documented", m)
			}
		}
		if run.Scheme != "pcn" {
			continue
		}
		m := run.Metrics
		if *m["goodput_bps"] < 0.95*10e9 || *m["last_pause_s"] > 0.010 || run.Invariants.LostFrames != 0 {
			t.Errorf("goodput %.4g, last pause %.4g s, %d lost", *m["goodput_bps"], *m["last_pause_s"], run.Invariants.LostFrames)
		}
		if *m["aggregate_rate_converged_s"] > 0.002 || *m["queue_drained_s"] > 0.0075 {
			t.Errorf("converged after %.4g s, drained after %.4g s", *m["aggregate_rate_converged_s"], *m["queue_drained_s"])
		}
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	e := fig11(t)
	e.Duration, e.Measure.Queue.To, e.Measure.Steady, e.Measure.Plot = 30*units.Millisecond, 30*units.Millisecond, Span{10 * units.Millisecond, 20 * units.Millisecond}, 0
	write := func(seed uint64) (result, series []byte) {
		dir := t.TempDir()
		r, err := e.Replay(context.Background(), Options{World: "sim", Schemes: []string{"dcqcn"}, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Write(dir, r); err != nil {
			t.Fatal(err)
		}
		again, err := e.Load(dir, "sim")
		if err != nil || len(again.Runs) != 1 || !slices.Equal(again.series["dcqcn"].Column("queue_bytes"), r.series["dcqcn"].Column("queue_bytes")) || !slices.Equal(again.series["dcqcn"].Value[0], r.series["dcqcn"].Value[0]) {
			t.Fatalf("what was written is not what is read: %v", err)
		}
		result, err = os.ReadFile(filepath.Join(dir, "pcn-fig11", "sim", "result.json"))
		if err != nil {
			t.Fatal(err)
		}
		series, err = os.ReadFile(filepath.Join(dir, "pcn-fig11", "sim", "dcqcn.csv"))
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
	e := fig11(t)
	r, err := e.Replay(context.Background(), Options{World: "sim", Schemes: []string{"pcn"}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	keys := func(m any) string { return strings.Join(slices.Sorted(maps.Keys(m.(map[string]any))), " ") }
	run, claim := got["runs"].([]any)[0], got["claims"].([]any)[0]
	for where, pair := range map[string][2]string{
		"result":     {keys(got), "claims experiment quick runs seed world"},
		"run":        {keys(run), "invariants metrics packet_hops scheme trace_hash virtual_seconds"},
		"invariants": {keys(run.(map[string]any)["invariants"]), "conservation_ok lost_frames"},
		"claim":      {keys(claim), "id measured note paper schemes text unit verdict"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s has the keys %s, want %s", where, pair[0], pair[1])
		}
	}
}

func TestJudge(t *testing.T) {
	runs := map[string]Metrics{"a": {"x": ptr(10), "y": nil}, "b": {"x": ptr(4), "y": ptr(1)}, "c": {"x": ptr(99)}, "d": {"x": ptr(100)}, "z": {"x": ptr(0)}}
	for _, c := range []struct {
		name    string
		claim   Claim
		want    Verdict
		measure *float64
	}{
		{"within 25 %", Claim{Schemes: []string{"a"}, Metric: "x", Paper: ptr(12.5)}, Reproduced, ptr(10)},
		{"within a factor of 2", Claim{Schemes: []string{"a"}, Metric: "x", Paper: ptr(19)}, Direction, ptr(10)},
		{"beyond it", Claim{Schemes: []string{"a"}, Metric: "x", Paper: ptr(21)}, Differs, ptr(10)},
		{"at most", Claim{Schemes: []string{"a"}, Metric: "x", Paper: ptr(100), Holds: config.Set("at_most")}, Reproduced, ptr(10)},
		{"more than at most", Claim{Schemes: []string{"a"}, Metric: "x", Paper: ptr(6), Holds: config.Set("at_most")}, Direction, ptr(10)},
		{"at least", Claim{Schemes: []string{"a"}, Metric: "x", Paper: ptr(1), Holds: config.Set("at_least")}, Reproduced, ptr(10)},
		{"ratio", Claim{Schemes: []string{"a", "b"}, Metric: "x", Paper: ptr(2.5)}, Reproduced, ptr(2.5)},
		{"ratio, order", Claim{Schemes: []string{"a", "b"}, Metric: "x", Paper: ptr(25)}, Direction, ptr(2.5)},
		{"ratio, other order", Claim{Schemes: []string{"b", "a"}, Metric: "x", Paper: ptr(2)}, Differs, ptr(0.4)},
		{"ratio, near but other order", Claim{Schemes: []string{"c", "d"}, Metric: "x", Paper: ptr(1.09)}, Differs, ptr(0.99)},
		{"ratio, near and below as well", Claim{Schemes: []string{"c", "d"}, Metric: "x", Paper: ptr(0.9)}, Reproduced, ptr(0.99)},
		{"ratio of equals", Claim{Schemes: []string{"c", "d"}, Metric: "x", Paper: ptr(1)}, Reproduced, ptr(0.99)},
		{"no number printed", Claim{Schemes: []string{"a"}, Metric: "x"}, Shape, ptr(10)},
		{"scheme missing", Claim{Schemes: []string{"a", "e"}, Metric: "x", Paper: ptr(1)}, NotRun, nil},
		{"never happened", Claim{Schemes: []string{"a"}, Metric: "y", Paper: ptr(1)}, Differs, nil},
		{"divided by nothing", Claim{Schemes: []string{"b", "a"}, Metric: "y", Paper: ptr(1)}, Differs, nil},
		{"divided by zero", Claim{Schemes: []string{"a", "z"}, Metric: "x", Paper: ptr(1)}, Differs, nil},
		{"never, so later", Claim{Schemes: []string{"a", "b"}, Metric: "y", Paper: ptr(2)}, Direction, nil},
		{"never, so late enough", Claim{Schemes: []string{"a", "b"}, Metric: "y", Paper: ptr(2), Holds: config.Set("at_least")}, Reproduced, nil},
		{"never, so perhaps late enough", Claim{Schemes: []string{"a", "b"}, Metric: "y", Paper: ptr(4), Holds: config.Set("at_least")}, Direction, nil},
		{"never, but it should be sooner", Claim{Schemes: []string{"a", "b"}, Metric: "y", Paper: ptr(0.5)}, Differs, nil},
		{"never, but watched for less than the other", Claim{Schemes: []string{"a", "b"}, Metric: "y", Over: "x", Paper: ptr(2)}, Differs, nil},
		{"never, and no number printed", Claim{Schemes: []string{"a", "b"}, Metric: "y"}, Shape, nil},
		{"never, and no reduction", Claim{Schemes: []string{"a", "b"}, Metric: "y", As: config.Set("reduction"), Paper: ptr(2)}, Differs, nil},
	} {
		got := c.claim.judge(runs, 3)
		if got.Verdict != c.want || (got.Measured == nil) != (c.measure == nil) || got.Measured != nil && *got.Measured != *c.measure {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// What never came is printed as the least that it can be, where that is known.
func TestMeasuredText(t *testing.T) {
	runs := map[string]Metrics{"a": {"y": nil}, "b": {"y": ptr(2)}}
	for _, c := range []struct {
		claim   Claim
		watched float64
		want    string
	}{
		{Claim{Schemes: []string{"a", "b"}, Metric: "y"}, 5, "≥ 2.5"},
		{Claim{Schemes: []string{"a", "b"}, Metric: "y"}, 0, "–"}, // it is no time that could come
		{Claim{Schemes: []string{"a", "b"}, Metric: "y", As: config.Set("reduction")}, 5, "–"},
		{Claim{Schemes: []string{"b", "a"}, Metric: "y"}, 5, "–"},
		{Claim{Schemes: []string{"a"}, Metric: "y"}, 5, "–"},
		{Claim{Schemes: []string{"b"}, Metric: "y"}, 5, "2"},
	} {
		if r := c.claim.judge(runs, c.watched); r.measured() != c.want {
			t.Errorf("%+v: %s, want %s", c.claim, r.measured(), c.want)
		}
	}
}

// What a run can have missed: the end of its watch, less what must last.
func TestWatchedFor(t *testing.T) {
	for _, c := range []struct {
		experiment, metric string
		want               float64
	}{
		{"pcn/fig11-settled", "settled_s", 0.190}, // of 200 ms, 20 round-trip times less
		{"pcn/fig2", "loss_s", 0.119},             // 220 ms, from 100 ms on, held for 1 ms
		{"pcn/fig11", "goodput_bps", 0},           // no time
	} {
		e, err := Get(c.experiment)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.watchedFor(c.metric); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s %s: watched for %v s", c.experiment, c.metric, got)
		}
	}
}

func TestAgree(t *testing.T) {
	e := fig11(t)
	for _, c := range []struct {
		metric string
		a, b   *float64
		want   bool
	}{
		{"goodput_bps", ptr(10), ptr(8), true}, {"goodput_bps", ptr(10), ptr(7.9), false},
		{"pause_frames", ptr(1), ptr(3), true}, {"pause_frames", ptr(1), ptr(4), false},
		{"last_pause_s", ptr(0.001), ptr(0.0015), true}, {"last_pause_s", ptr(0.001), ptr(0.0016), false},
		{"steady_queue_bytes_mean", ptr(0), ptr(10580), true}, {"steady_queue_bytes_mean", ptr(0), ptr(10600), false},
		{"queue_drained_s", nil, nil, true}, {"queue_drained_s", nil, ptr(1), false},
	} {
		if e.Agree(c.metric, c.a, c.b) != c.want {
			t.Errorf("%+v", c)
		}
	}
}

func TestJain(t *testing.T) {
	if jain([]float64{3, 3, 3}) != 1 || math.Abs(jain([]float64{1, 0, 0, 0})-0.25) > 1e-12 || jain([]float64{0, 0}) != 0 {
		t.Fatal("Jain's index")
	}
}

// A sweep may change a scheme's parameter: each value runs with its own.
func TestSweepOfParameter(t *testing.T) {
	e, err := Get("pacc/fig5")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range e.variants {
		if got := v.e.own(e.Schemes[0]).Params["beta1"].Value.V; got != v.value {
			t.Errorf("at %s beta1 is %s", v.value, got)
		}
	}
	other := SchemeUse{Name: config.Set("pcn")}
	if e.own(other).Name.V != "pcn" {
		t.Error("a scheme that the experiment does not name is not run")
	}
}

func TestParseRefuses(t *testing.T) {
	good, err := embedded.ReadFile("experiments/pcn/fig11.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"kind: dumbbell", "kind: torus", `topology "torus"`}, {"pairs: 3", "pairs: 0", "pairs of a dumbbell: 1 to 4096, not 0"},
		{"to: R2", "to: R9", `there is no host "R9"`}, {"to: R0", "to: S0", `there is no host "S0"`}, {"from: H0, to: R0", "from: H0, to: H0", "to itself"},
		{"name: dcqcn", "name: warp", `there is no scheme "warp"`}, {"value: 509KB", "value: 600KB", "is above xoff"}, {"value: 3,", "value: 9,", "there are 0 to 7"},
		{"kind: dynamics", "kind: vibes", `measurement "vibes"`}, {"  to: S1", "  to: S9", `S0 has no link to "S9"`},
		{"metric: goodput_bps", "metric: karma", "claim pcn-steady-rate"}, {"holds: at_most", "holds: mostly", "near, at_most or at_least"},
		{"id: pcn/fig11", "id: PCN/fig11", "only a-z"}, {"duration: 200ms", "duration: 20ms", "must lie within the duration"},
		{", source: \"7: PFC with XOFF = 512 KB in all experiments\"", "", "parameter xoff has no value or no source"}, {"seed: 1", "sead: 1", `unknown key "sead"`},
	} {
		text := strings.Replace(string(good), c.from, c.to, 1)
		if text == string(good) {
			t.Errorf("%q is not in the file", c.from)
		}
		if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.yaml:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.to, err)
		}
	}
}

// Times and sizes that stand in the file as they are have their lines too.
func TestParseRefusesWithLine(t *testing.T) {
	good, err := embedded.ReadFile("experiments/pcn/fig11.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"duration: 200ms", "duration: 200mx", `time "200mx": unknown unit (write it like 10ms)`},
		{"duration: 200ms", "duration: 0ms", "duration must be there, and positive"},
		{"  sample: 10us", "  sample: 0us", "sample must be there, and positive"},
		{"  steady: {from: 20ms, to: 60ms}", "  steady: {from: 20ms, to: 201ms}", "the span from 20ms to 201ms must lie within the duration and begin and end at a sample"},
	} {
		before, after, ok := strings.Cut(string(good), "\n"+c.from)
		if !ok {
			t.Fatalf("%q is not in the file", c.from)
		}
		want := fmt.Sprintf("x.yaml:%d: %s", strings.Count(before, "\n")+2, c.want)
		if _, err := Parse("x.yaml", []byte(before+"\n"+c.to+after)); err == nil || err.Error() != want {
			t.Errorf("%s: %v; want %s", c.to, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	good, _ := embedded.ReadFile("experiments/pcn/fig11.yaml")
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := Parse("x.yaml", b); err == nil && e.ID == "" {
			t.Fatal("an experiment without a name")
		}
	})
}
