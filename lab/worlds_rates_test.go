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

// Schemes that go by times and by queues of a few packets do the same in both worlds at any rate of links: on DPDK
// nobody acts so late that they would notice. At 100 Gbit/s a packet of a kilobyte takes 88 ns.
func TestWorldsAgreeAtEveryRate(t *testing.T) {
	const text = `
id: test/rates
title: a flow over three bottlenecks
duration: 6ms
topology: {kind: parking-lot, lots: 3}
parameters:
  {link_rate: %s, host_delay: 1us, trunk_delay: 2us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 1MB, buffer: 64MB,
   ack_each: true}
schemes: [hpcc, timely, none]
flows:
  - {name: long, from: H0, to: R0}
  - {name: cross, from: H1..H3, to: R1..R3}
measure:
  sample: 5us
  probes:
    - {name: long, kind: received, flows: [long]}
    - {name: cross, kind: received, flows: [cross]}
  metrics:
    - {name: long_bps, do: rate, of: long, from: 2ms}
    - {name: cross_bps, do: rate, of: cross, from: 2ms}
`
	const tolerance = 0.1 // seeds differ by some percent in either world
	for _, rate := range []string{"25Gbps", "100Gbps"} {
		t.Log(rate)
		worldsAgreeWithin(t, tolerance, fmt.Sprintf(text, rate))
	}
}

// worldsAgreeWithin runs an experiment in both worlds, whose metrics are to differ by a part at most.
func worldsAgreeWithin(t *testing.T, tolerance float64, text string) {
	e, err := experiment.Parse("worlds.yaml", []byte(text))
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
			t.Logf("%s: %s is %s in virtual time and %s on DPDK", sim.Scheme, name,
				experiment.Number(v, e.Unit(name)), experiment.Number(got, e.Unit(name)))
			if v == nil || got == nil || math.Abs(*got / *v - 1) > tolerance {
				t.Errorf("which differs by more than %v", tolerance)
			}
		}
	}
}
