//go:build dpdk

package lab

import (
	"context"
	"photon/lab/experiment"
	"photon/lab/report"
	"photon/lab/run"
	"slices"
	"strings"
	"testing"
)

// The one idea: the same nodes in both worlds. Every metric of every scheme of the figure
// agrees between virtual time and DPDK, and nothing is lost in either. Clocks of hosts have
// a random phase in both worlds, and some schemes sample: so the run on DPDK is one draw
// more, and has to be like those of virtual time, of which there are ten.
func TestWorldsAgree(t *testing.T) {
	e := get(t, "pcn/fig11")
	replay := func(world string, seed uint64) *run.Result {
		r, err := run.Replay(context.Background(), e, run.Options{World: world, Seed: seed, Dilation: 20, Quick: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range r.Runs {
			if one.Invariants.LostFrames != 0 || !one.Invariants.ConservationOK {
				t.Errorf("%s, %s, seed %d: %+v", one.Scheme, world, seed, one.Invariants)
			}
			if (one.TraceHash != nil) != (world == "sim") {
				t.Errorf("%s, %s: trace hash %v", one.Scheme, world, one.TraceHash)
			}
		}
		return r
	}
	var draws []*run.Result
	for k := range uint64(10) {
		draws = append(draws, replay("sim", e.Seed+k))
	}
	dpdk := replay("dpdk", e.Seed)
	for i, one := range dpdk.Runs {
		for _, m := range experiment.DynamicsMetrics {
			var drawn []*float64
			var text []string
			for _, d := range draws {
				drawn = append(drawn, d.Runs[i].Metrics[m])
				text = append(text, experiment.Number(d.Runs[i].Metrics[m], e.Unit(m)))
			}
			if !likeOneOf(e, m, one.Metrics[m], drawn) {
				t.Errorf("%s: %s is %s on DPDK and in virtual time %s", one.Scheme, m, experiment.Number(one.Metrics[m], e.Unit(m)), strings.Join(text, ", "))
			}
		}
	}
	t.Logf("clock: %+v", dpdk.Timing)
}

// likeOneOf reports whether a value is between two of those drawn, or agrees with one.
func likeOneOf(e *experiment.Experiment, metric string, v *float64, drawn []*float64) bool {
	if slices.ContainsFunc(drawn, func(d *float64) bool { return report.Agree(e, metric, v, d) }) {
		return true
	}
	above := func(d *float64) bool { return v != nil && d != nil && *d > *v }
	below := func(d *float64) bool { return v != nil && d != nil && *d < *v }
	return slices.ContainsFunc(drawn, above) && slices.ContainsFunc(drawn, below)
}
