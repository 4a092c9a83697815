package run

import (
	"context"
	"maps"
	"os"
	"photon/lab/experiment"
	"photon/lab/measure"
	"slices"
	"testing"
)

// replayed runs an experiment in virtual time and returns its metrics by scheme.
func replayed(t *testing.T, e *experiment.Experiment) map[string]measure.Metrics {
	t.Helper()
	r, err := Replay(context.Background(), e, Options{World: "sim", Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]measure.Metrics{}
	for _, run := range r.Runs {
		if run.Invariants.LostFrames != 0 || !run.Invariants.ConservationOK {
			t.Errorf("%s: %+v", run.Scheme, run.Invariants)
		}
		m[run.Scheme] = run.Metrics
		for _, k := range slices.Sorted(maps.Keys(run.Metrics)) {
			t.Logf("%s %s %s", run.Scheme, k, experiment.Number(run.Metrics[k], e.Unit(k)))
		}
	}
	return m
}

// known is a result that is known beforehand, from a paper's analysis or its text.
func known(t *testing.T, name string) map[string]measure.Metrics {
	t.Helper()
	file := "testdata/known/" + name + ".yaml"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	e, err := experiment.Parse(file, b)
	if err != nil {
		t.Fatal(err)
	}
	return replayed(t, e)
}

// between checks that a metric lies in a range.
func between(t *testing.T, m measure.Metrics, name string, low, high float64) {
	t.Helper()
	if v := m[name]; v == nil || *v < low || *v > high {
		t.Errorf("%s is %s, not from %.4g to %.4g", name, experiment.Number(v, ""), low, high)
	}
}

// QCN fills the link and holds its queue at the set point of 26 KB.
func TestKnownQCN(t *testing.T) {
	m := known(t, "qcn")
	for _, scheme := range []string{"qcn", "af-qcn"} {
		between(t, m[scheme], "goodput_bps", 9.5e9, 10.01e9)
		between(t, m[scheme], "queue_bytes", 13e3, 39e3)
		between(t, m[scheme], "jain", 0.9, 1)
	}
	if *m["af-qcn"]["jain"] < *m["qcn"]["jain"] {
		t.Error("AF-QCN is less fair than QCN")
	}
}

// AF-QCN divides 10 Gbit/s by the weights 4, 3, 2, 1, and with a cap of 1 Gbit/s
// on the first by what is left: each within 10 %, mean over the last second.
func TestKnownAFQCN(t *testing.T) {
	e, err := experiment.Get("af-qcn/fig9")
	if err != nil {
		t.Fatal(err)
	}
	e.Schemes = e.Schemes[:1]
	m := replayed(t, e)["af-qcn"]
	for name, want := range map[string]float64{
		"f1_weighted_bps": 4e9, "f2_weighted_bps": 3e9, "f3_weighted_bps": 2e9, "f4_weighted_bps": 1e9,
		"f1_capped_bps": 1e9, "f2_capped_bps": 4.5e9, "f3_capped_bps": 3e9, "f4_capped_bps": 1.5e9,
	} {
		between(t, m, name, 0.9*want, 1.1*want)
	}
}

// PACC holds ten long flows at Qth plus what rounding down leaves: no flow gets
// a CNP until N_all reaches their number, which takes 1 KB/beta1 = 20 KB more for
// each. 125 KB + 10 x 20 KB, within 15 %.
func TestKnownPACC(t *testing.T) {
	m := known(t, "pacc")["pacc"]
	const want = 125e3 + 10*20e3
	between(t, m, "queue_bytes", 0.85*want, 1.15*want)
	between(t, m, "goodput_bps", 24.5e9, 25.01e9)
	between(t, m, "jain", 0.99, 1)
}

// DCQCN+ drains an incast of 720 flows at 10 Gbit/s to under 200 KB and keeps it
// there; DCQCN stays at the limit that PFC sets.
func TestKnownIncast(t *testing.T) {
	m := known(t, "incast")
	between(t, m["dcqcn+"], "queue_bytes", 0, 200e3)
	between(t, m["dcqcn+"], "drained_s", 0, 0.1)
	between(t, m["dcqcn+"], "goodput_bps", 8e9, 10.01e9)
	between(t, m["dcqcn"], "queue_bytes", 1e6, 5e6)
	if m["dcqcn"]["drained_s"] != nil {
		t.Error("DCQCN drains an incast of 720 flows")
	}
}

// HPCC uses a link to eta, 0.95, with nothing waiting, at every rate that its
// telemetry can name.
func TestKnownHPCC(t *testing.T) {
	m := known(t, "hpcc")["hpcc"]
	for _, gbps := range []string{"1", "10", "25", "40", "100"} {
		rate := gbps + "000000000"
		between(t, m, "utilisation@"+rate, 0.93, 0.975)
		between(t, m, "queue_bytes@"+rate, 0, 5e3)
		between(t, m, "jain@"+rate, 0.95, 1)
	}
}

// TIMELY's aggregate is within 10 % of the link over the last 50 ms, and the
// queue is bounded. Unequal shares are in its nature: they are reported.
func TestKnownTIMELY(t *testing.T) {
	m := known(t, "timely")
	for _, scheme := range []string{"timely", "timely-patched"} {
		between(t, m[scheme], "goodput_bps", 9e9, 10.01e9)
		between(t, m[scheme], "queue_bytes", 0, 500e3)
	}
	between(t, m["timely-patched"], "jain", 0.95, 1)
}

// TCD calls the victim's port, which pauses stop, undetermined, and the port
// where the bursts meet congested; the flow that only passes the first keeps its
// rate, which DCQCN takes from it.
func TestKnownTCD(t *testing.T) {
	m := known(t, "tcd")
	tcd := m["tcd+dcqcn"]
	if *tcd["victim_ue"] < 100 || *tcd["victim_ue"] < 10**tcd["victim_ce"] {
		t.Errorf("the victim's port: %.0f frames undetermined, %.0f congested", *tcd["victim_ue"], *tcd["victim_ce"])
	}
	if *tcd["root_ce"] < 1000 || *tcd["root_ue"] != 0 || *tcd["other_ce"] != 0 {
		t.Errorf("the root's port: %.0f frames congested, %.0f undetermined; the other receiver's: %.0f congested", *tcd["root_ce"], *tcd["root_ue"], *tcd["other_ce"])
	}
	if *tcd["f0_bps"] <= *m["dcqcn"]["f0_bps"] {
		t.Errorf("the victim gets %.4g bit/s, and %.4g with DCQCN alone", *tcd["f0_bps"], *m["dcqcn"]["f0_bps"])
	}
}
