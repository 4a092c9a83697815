//go:build dpdk

package lab

import (
	"context"
	"fmt"
	"math"
	"testing"

	"photon/lab/experiment"
	"photon/lab/run"
)

// Packets of hosts whose links are as fast as the bottleneck's arrive when it has just sent one. In both worlds they are
// in its queue then, and what leaves it is judged with them: as many packets are marked, and the queue is as long.
func TestWorldsAgreeAboutWhatComesAtOnce(t *testing.T) {
	const text = `
id: test/ties
title: hosts at the rate of the bottleneck
duration: 200us
topology: {kind: star, hosts: 5}
parameters:
  {link_rate: 50Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1300B, mtu: 1500B, priority: 3, xoff: 1MB, buffer: 16MB,
   start_phase: %s}
schemes: [ibcc, pcn]
flows: [{name: all, from: H0..H3, to: H4, start: 5us}]
measure:
  sample: 1us
  probes:
    - {name: queue, kind: queue, at: [S0>H4]}
    - {name: marked, kind: marked, at: [S0>H4]}
  metrics:
    - {name: queue_bytes, do: mean, of: queue}
    - {name: marks, do: delta, of: marked}
`
	const tolerance = 0.02
	for _, phase := range []string{"0s", "1us"} {
		e, err := experiment.Parse("ties.yaml", fmt.Appendf(nil, text, phase))
		if err != nil {
			t.Fatal(err)
		}
		var runs [2][]run.Run
		for i, world := range experiment.Worlds {
			r, err := run.Replay(context.Background(), e, run.Options{World: world, Dilation: 20})
			if err != nil {
				t.Fatal(err)
			}
			runs[i] = r.Runs
		}
		for i, sim := range runs[0] {
			for name, v := range sim.Metrics {
				got := runs[1][i].Metrics[name]
				t.Logf("%s, within %s: %s is %s in virtual time and %s on DPDK", sim.Scheme, phase, name,
					experiment.Number(v, e.Unit(name)), experiment.Number(got, e.Unit(name)))
				if v == nil || got == nil || math.Abs(*got / *v - 1) > tolerance {
					t.Errorf("which differs by more than %v", tolerance)
				}
			}
		}
	}
}
