//go:build dpdk

package run

import (
	"context"
	"math"
	"testing"
)

// A flow is stopped, and another gets another rate, when the file says so, in both worlds: not when the next sample is
// due.
func TestEventsAreInTimeInBothWorlds(t *testing.T) {
	const text = `id: test/events
title: events between two samples
duration: 500us
topology: {kind: star, hosts: 3}
parameters:
  {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 1MB, buffer: 9MB}
flows:
  - {name: stopped, from: H0, to: H2, stop: 120us}
  - {name: slowed, from: H1, to: H2}
events: [{at: 210us, flow: slowed, rate: 1Gbps}]
schemes: [none]
measure:
  sample: 100us
  probes:
    - {name: stopped, kind: sending, flows: [stopped]}
    - {name: slowed, kind: sending, flows: [slowed]}
  metrics:
    - {name: stopped_bytes, do: last, of: stopped}
    - {name: slowed_bytes, do: last, of: slowed}
`
	e := read(t, text)
	var bytes [2]map[string]*float64
	for i, world := range []string{"sim", "dpdk"} {
		r, err := Replay(context.Background(), e, Options{World: world, Dilation: 20})
		if err != nil {
			t.Fatal(err)
		}
		bytes[i] = r.Runs[0].Metrics
	}
	for name, want := range bytes[0] {
		if got := bytes[1][name]; want == nil || got == nil || math.Abs(*got / *want - 1) > 0.03 {
			t.Errorf("%s: %v in virtual time and %v on DPDK", name, *want, *got)
		}
	}
}
