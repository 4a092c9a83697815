//go:build dpdk

package run

import (
	"context"
	"fmt"
	"testing"

	"photon/lab/experiment"
)

// Flows wait for flows on DPDK devices as in virtual time: what begins when is known by the same
// nodes, and the times are alike.
func TestWaitingFlowsInBothWorlds(t *testing.T) {
	const text = `
id: test/both
title: five hosts that work together
duration: 10ms
topology: {%s}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 12MB, start_phase: 0s}
schemes: [dcqcn]
collectives:
  - {name: grads, do: all-reduce, hosts: '*', size: 500KB, channels: 2, repeat: 2, gap: 50us}
  - {name: experts, do: all-to-all, hosts: '*', size: 250KB, window: 2, after: {flows: grads, all: true}}
flows:
  - {name: last, from: H0, to: H4, size: 100KB, after: {flows: experts, delay: 100us}, repeat: 2}
measure:
  sample: 1ms
  metrics:
    - {name: grads, do: step_time, flows: [grads]}
    - {name: experts, do: step_time, flows: [experts]}
    - {name: last, do: step_time, flows: [last]}
    - {name: all, do: job_time}
`
	for _, topology := range []string{"kind: star, hosts: 5", "kind: rail, hosts: 5, nics: 2"} {
		e, err := experiment.Parse("both.yaml", []byte(fmt.Sprintf(text, topology)))
		if err != nil {
			t.Fatal(err)
		}
		var m [2]map[string]*float64
		for i, world := range experiment.Worlds {
			r, err := Replay(context.Background(), e, Options{World: world, Dilation: 20})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Runs[0].Sound() {
				t.Errorf("%s, %s: %+v", topology, world, r.Runs[0].Invariants)
			}
			m[i] = r.Runs[0].Metrics
		}
		for name, v := range m[0] {
			if w := m[1][name]; v == nil || w == nil || *w < 0.9**v || *w > 1.25**v {
				t.Errorf("%s: %s: %s in virtual time, %s on DPDK", topology, name, experiment.Number(v, "s"), experiment.Number(w, "s"))
			}
		}
	}
}
