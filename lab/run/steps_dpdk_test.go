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

// What hosts and switches make of several paths is the same on DPDK devices: source ports by packet, and links of unequal
// rates that are chosen by what they can carry.
func TestPathsInBothWorlds(t *testing.T) {
	const text = `
id: test/paths
title: two spines, one of which has a slow link to the receivers
duration: 10ms
topology:
  kind: free
  nodes: [{name: T0}, {name: T1}, {name: C0}, {name: C1}, {name: A, host: true}, {name: B, host: true}, {name: X, host: true}, {name: Y, host: true}]
  links:
  - {a: A, b: T0, rate: 7.5Gbps, delay: 1us}
  - {a: B, b: T0, rate: 7.5Gbps, delay: 1us}
  - {a: X, b: T1, rate: 7.5Gbps, delay: 1us}
  - {a: Y, b: T1, rate: 7.5Gbps, delay: 1us}
  - {a: T0, b: C0, rate: 10Gbps, delay: 1us}
  - {a: T0, b: C1, rate: 10Gbps, delay: 1us}
  - {a: C0, b: T1, rate: 5Gbps, delay: 1us}
  - {a: C1, b: T1, rate: 10Gbps, delay: 1us}
parameters: {link_rate: 7.5Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 64KB, buffer: 16MB, recovery: selective, window: 2000, entropy: packet, path_weights: capacity}
flows: [{name: all, from: "A,B", to: "X,Y", size: 200KB}]
schemes: [none]
measure:
  sample: 100us
  probes: [{name: slow, kind: sent, at: [C0>T1]}, {name: fast, kind: sent, at: [C1>T1]}]
  metrics: [{name: slow_bytes, do: last, of: slow}, {name: fast_bytes, do: last, of: fast}, {name: unfinished, do: unfinished, flows: [all]}]
`
	e, err := experiment.Parse("paths.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, world := range experiment.Worlds {
		r, err := Replay(context.Background(), e, Options{World: world, Dilation: 20})
		if err != nil {
			t.Fatal(err)
		}
		m := r.Runs[0].Metrics
		if share := *m["fast_bytes"] / *m["slow_bytes"]; !r.Runs[0].Sound() || *m["unfinished"] != 0 || share < 1.8 || share > 2.2 {
			t.Errorf("%s: %.2f times as much by the fast link, %v flows not ended, %+v", world, share, *m["unfinished"], r.Runs[0].Invariants)
		}
	}
}
