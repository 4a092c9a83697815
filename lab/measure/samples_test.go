package measure

import (
	"strings"
	"testing"

	"photon/lab/build"
	"photon/lab/experiment"
	"photon/sim"
)

// Where nothing is made of samples there are none: each would end a window of the simulator.
func TestSamplesAreTakenWhereTheyAreUsed(t *testing.T) {
	const text = `
id: my/samples
title: samples
duration: 1ms
topology: {kind: star, hosts: 2}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B,
  priority: 3, xoff: 100KB, buffer: 12MB}
flows: [{name: f, from: H0, to: H1, size: 100KB}]
schemes: [dcqcn]
measure: {sample: 10us, MORE}
`
	for more, want := range map[string]int{
		"metrics: [{name: fct_s, do: fct}]":                                              0,
		"probes: [{name: q, kind: queue, at: ['S0>H1']}]":                                100,
		"metrics: [{name: stuck_s, do: deadlock, hold: 100us}]":                          100,
		"probes: [{name: q, kind: queue, at: ['*']}], metrics: [{name: fct_s, do: fct}]": 100,
		"metrics: [{name: fct_s, do: fct}, {name: done, do: completed, flows: [f]}]":     0,
	} {
		e, err := experiment.Parse("x.yaml", []byte(strings.Replace(text, "MORE", more, 1)))
		if err != nil {
			t.Fatal(more, err)
		}
		w := sim.New()
		n, err := build.Build(e, w, e.Schemes[0], 1, build.Observer{})
		if err != nil {
			t.Fatal(err)
		}
		look, err := Start(e, n)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(t.Context(), e.Duration); err != nil {
			t.Fatal(err)
		}
		look.Finish()
		if got := len(look.Series.Time); got != want {
			t.Errorf("%s: %d samples, not %d", more, got, want)
		}
		if m := look.Metrics(); strings.Contains(more, "fct_s") && (m["fct_s"] == nil || *m["fct_s"] < 80e-6) {
			t.Errorf("%s: %v", more, m)
		}
	}
}
