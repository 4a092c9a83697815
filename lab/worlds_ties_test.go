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
  {link_rate: 50Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1300B, mtu: 1500B, priority: 3, xoff: 1MB,
   buffer: 16MB, start_phase: %s}
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
	for _, phase := range []string{"0s", "1us"} {
		worldsAgreeWithin(t, 0.02, fmt.Sprintf(text, phase))
	}
}

// A port that passes on frame after frame, none of which waits, also does what is due: here it lets delayed frames of
// its peer go on, which the senders would repeat if they came later.
func TestWorldsAgreeAboutWhatIsDueAtABusyPort(t *testing.T) {
	worldsAgreeWithin(t, 0.02, `
id: test/due
title: delayed frames behind a port that is busy with those of one sender
duration: 1ms
topology: {kind: dumbbell, pairs: 1}
parameters:
  {link_rate: 25Gbps, trunk_rate: 40Gbps, host_delay: 1us, trunk_delay: 5us, payload: 8192B, mtu: 9000B, priority: 3,
   xoff: 500KB, buffer: 16MB}
schemes: [none]
flows:
  - {name: two, from: H0, to: R0, size: 1MB, start: 20us, count: 2}
  - {name: back, from: R0, to: H0}
impair: [{link: H0>S0, rules: [{do: delay, rate: 0.1, by: 3us}]}]
measure:
  sample: 1us
  probes: [{name: got, kind: received, flows: [two]}, {name: again, kind: sending, flows: [two]}]
  metrics:
    - {name: got_bytes, do: delta, of: got}
    - {name: sent_bytes, do: delta, of: again}
`)
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
