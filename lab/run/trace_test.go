package run

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"photon/config"
	"photon/fabric"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/run/runtest"
)

func fig11(t testing.TB) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Get("pcn/fig11")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Every experiment that comes with photon is right, and every trace of its first
// milliseconds is the one it was: a change of behaviour is a change of this table.
func TestGoldenTraces(t *testing.T) {
	golden, got := runtest.Golden(t), map[string]string{}
	for _, e := range runtest.Shortest(t) {
		for _, use := range e.Schemes {
			got[e.ID+" "+use.Key()] = traceOf(t, e, use, Options{World: "sim"})
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
	golden, seen := runtest.Golden(t), map[string]bool{}
	plain := build.Wrap
	defer func() { build.Wrap = plain }()
	for _, e := range runtest.Shortest(t) {
		for _, use := range e.Schemes {
			if seen[use.Name.V] {
				continue
			}
			seen[use.Name.V] = true
			soiled := false
			build.Wrap = func(_ string, node fabric.Node, envs []*fabric.Env) fabric.Node {
				if !soiled {
					soil(envs[0])
				}
				soiled = true
				return node
			}
			for _, cores := range []int{1, 2} {
				soiled = false
				if name := e.ID + " " + use.Key(); traceOf(t, e, use, Options{World: "sim", Cores: cores}) != golden[name] {
					t.Errorf("%s: another trace on %d processors", name, cores)
				}
			}
		}
	}
}

// soil fills many buffers of a world with ones.
func soil(env *fabric.Env) {
	frames := make([]fabric.Frame, 1<<14)
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

// traceOf runs a scheme and returns the hash of what happened.
func traceOf(t *testing.T, e *experiment.Experiment, use experiment.SchemeUse, o Options) string {
	t.Helper()
	r, err := runSingle(e, o, use, e.Seed)
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
	r, err := Replay(context.Background(), e, Options{World: "sim", Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range r.Runs {
		names := slices.Sorted(maps.Keys(run.Metrics))
		want := slices.Sorted(slices.Values(e.MetricNames()))
		if !slices.Equal(names, want) {
			t.Errorf("%s: metrics %v", run.Scheme, names)
		}
		for _, m := range names {
			if e.MetricDoc(m) == "" {
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
		if *m["settled_s"] > 0.0025 || *m["held_s"] > 0.05 {
			t.Errorf("settled after %.4g s, held after %.4g s", *m["settled_s"], *m["held_s"])
		}
	}
}

// A sweep may change a scheme's parameter: each value runs with its own.
func TestSweepOfParameter(t *testing.T) {
	e, err := experiment.Get("pacc/fig5")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range e.Variants() {
		if got := swept(e, v, e.Schemes[0]).Params["beta1"].Value.V; got != v.Value {
			t.Errorf("at %s beta1 is %s", v.Value, got)
		}
	}
	other := experiment.SchemeUse{Name: config.Set("pcn")}
	if swept(e, e.Variants()[0], other).Name.V != "pcn" {
		t.Error("a scheme that the experiment does not name is not run")
	}
}
