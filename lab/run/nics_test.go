package run

import (
	"context"
	"fmt"
	"math"
	"testing"

	"photon/lab/experiment"
)

// A ring of hosts with several NICs takes a channel on each rail: with two it takes half as long as with one. Nothing is
// lost, and the same happens on any number of cores.
func TestRingsOnRails(t *testing.T) {
	const text = `
id: test/rails
title: a ring on rails
duration: 50ms
topology: {%s}
parameters: {link_rate: 100Gbps, host_delay: 1us, trunk_delay: 1us, payload: 4000B, mtu: 4200B, priority: 3, xoff: 200KB, buffer: 32MB, start_phase: 0s}
schemes: [none]
collectives: [{name: grads, do: all-reduce, hosts: %q, size: 16MB, channels: %d}]
flows: [{name: f, from: H0, to: H1, size: 4KB, count: 2, after: {flows: grads}}]
measure:
  sample: 1ms
  metrics:
    - {name: step, do: step_time, flows: [grads]}
    - {name: flow, do: step_time, flows: [f]}
`
	packet := 8 * (4000.0 + 82) / 100e9
	hop := 2e-6 + packet
	for _, c := range []struct {
		topology, hosts string
		channels        int
		packets         float64 // of a message
	}{
		{"kind: rail, hosts: 4, nics: 2", "*", 1, 1000},
		{"kind: rail, hosts: 4, nics: 2", "*", 2, 500},
		{"kind: rail, hosts: 4, nics: 4", "*", 4, 250},
		{"kind: rail, hosts: 4, nics: 2", "*.1", 2, 1000}, // both channels share a NIC
		{"kind: planes, tors: 1, hosts: 4, nics: 2", "*", 2, 500},
	} {
		e, err := experiment.Parse("rails.yaml", []byte(fmt.Sprintf(text, c.topology, c.hosts, c.channels)))
		if err != nil {
			t.Fatal(err)
		}
		var hash string
		for cores := 1; cores <= 3; cores++ {
			r, err := Replay(context.Background(), e, Options{World: "sim", Cores: cores})
			if err != nil {
				t.Fatal(err)
			}
			run := r.Runs[0]
			if !run.Sound() || hash != "" && hash != *run.TraceHash {
				t.Errorf("%+v, %d cores: %+v, trace %s and %s", c, cores, run.Invariants, hash, *run.TraceHash)
			}
			hash = *run.TraceHash
			want := 6 * (c.packets*packet + hop)
			if got := run.Metrics["step"]; got == nil || math.Abs(*got/want-1) > 0.02 {
				t.Errorf("%+v: a step of %v, by the books %v", c, experiment.Number(got, "s"), want)
			}
			if run.Metrics["flow"] == nil {
				t.Errorf("%+v: flows after the ring never came", c)
			}
		}
	}
}
