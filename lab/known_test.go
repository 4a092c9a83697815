package lab

import (
	"context"
	"os"
	"testing"
)

// known replays an experiment of testdata in virtual time: metrics by scheme.
func known(t *testing.T, name string) map[string]Metrics {
	t.Helper()
	file := "testdata/known/" + name + ".yaml"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Parse(file, b)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Replay(context.Background(), Options{World: "sim"})
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]Metrics{}
	for _, run := range r.Runs {
		if run.Invariants.LostFrames != 0 || !run.Invariants.ConservationOK {
			t.Errorf("%s: %+v", run.Scheme, run.Invariants)
		}
		m[run.Scheme] = run.Metrics
		for _, k := range sortedKeys(run.Metrics) {
			t.Logf("%s %s %s", run.Scheme, k, number(run.Metrics[k], unitOf(k)))
		}
	}
	return m
}
func TestKnownQCN(t *testing.T)    { known(t, "qcn") }
func TestKnownPACC(t *testing.T)   { known(t, "pacc") }
func TestKnownHPCC(t *testing.T)   { known(t, "hpcc") }
func TestKnownTIMELY(t *testing.T) { known(t, "timely") }
func TestKnownIncast(t *testing.T) { known(t, "incast") }
func TestKnownTCD(t *testing.T)    { known(t, "tcd") }
