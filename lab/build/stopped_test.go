package build

import (
	"strings"
	"testing"

	"photon/agent"
	"photon/sim"
	"photon/units"
)

// stopped has a flow that is stopped, and after that many others of the same sender.
const stopped = `
id: my/stopped
title: a flow that is stopped
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B,
  priority: 3, xoff: 64KB, buffer: 8MB, start_phase: 0s}
flows: [{name: g, from: H0, to: H1, lasts: 100us}]
workloads: [{name: w, from: H0, to: H2, cdf: {32B: 0, 30KB: 1}, load: 0.5, capacity: 10Gbps, start: 150us}]
schemes: [none]
duration: 2ms
measure: {sample: 100us}
`

// A flow that was stopped stays as it was then, whoever has its place at its sender later.
func TestStoppedFlowStaysAsItWas(t *testing.T) {
	run := func(text string) (hash uint64) {
		e := parsed(t, text)
		w := sim.New()
		n, err := Build(e, w, e.Schemes[0], 1, Observer{})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Schedule(e); err != nil {
			t.Fatal(err)
		}
		var was agent.FlowState
		looks := 0
		w.Every(20*units.Microsecond, func(now units.Time) {
			n.Collect()
			s := n.Flow(now, 0)
			switch {
			case now < 100*units.Microsecond:
				if !s.Active || s.Bytes == 0 {
					t.Fatalf("at %v it is %+v", now, s)
				}
			case now == 120*units.Microsecond:
				was = s
			case now > 120*units.Microsecond:
				if looks++; s.Active || s.Rate != 0 || s.FlowCounts != was.FlowCounts {
					t.Fatalf("at %v it is %+v, and was %+v when it was stopped", now, s, was)
				}
			}
		})
		if err := w.Run(t.Context(), e.Duration); err != nil {
			t.Fatal(err)
		}
		if looks < 50 || was.Bytes < 100_000 {
			t.Errorf("%d looks at %+v", looks, was)
		}
		hash, _ = w.Hash()
		return hash
	}
	event := strings.Replace(stopped, "schemes:", "events: [{at: 1ms, flow: g, rate: 1Mbps}]\nschemes:", 1)
	if run(stopped) != run(event) {
		t.Error("an event of a group that was stopped changes other flows")
	}
}
