package run

import (
	"context"
	"math"
	"testing"

	"photon/lab/experiment"
)

// A ring of four at 100 Gbit/s: steps take what the books say, and the bus bandwidth is what a link
// carries of payload. One host whose link is slow makes all wait.
func TestStepsAreMeasured(t *testing.T) {
	const text = `
id: test/steps
title: a ring
duration: 50ms
topology: {kind: star, hosts: 4}
parameters: {link_rate: 100Gbps, host_delay: 1us, trunk_delay: 1us, payload: 4000B, mtu: 4200B, priority: 3, xoff: 200KB, buffer: 32MB, start_phase: 0s}
schemes: [none]
collectives: [{name: grads, do: all-reduce, hosts: '*', size: 16MB, repeat: 3, gap: 1ms}]
flows:
- {name: f, from: H0, to: H1, size: 1MB, start: 20ms, repeat: 2}
- {name: other, from: H2, to: H3, rate: 1Mbps, start: 30ms}
measure:
  sample: 1ms
  metrics:
    - {name: step, do: step_time, flows: [grads]}
    - {name: job, do: job_time, flows: [grads]}
    - {name: alg, do: algbw, flows: [grads]}
    - {name: bus, do: busbw, flows: [grads], stat: min}
    - {name: straggler, do: straggler, flows: [grads], stat: max}
    - {name: flow, do: step_time, flows: [f]}
    - {name: never, do: job_time, flows: ['*']}
    - {name: all, do: job_time}
`
	e, err := experiment.Parse("steps.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, cores := range []int{1, 2} {
		r, err := Replay(context.Background(), e, Options{World: "sim", Cores: cores})
		if err != nil {
			t.Fatal(err)
		}
		m := r.Runs[0].Metrics
		packet := 8 * (4000.0 + 82) / 100e9
		message := 1000 * packet
		flow := 250*packet + 2e-6 + packet
		step := 6 * (message + 2e-6 + packet)
		for name, want := range map[string]float64{
			"step": step, "job": 3*step + 2e-3, "alg": 8 * 16e6 / step, "bus": 1.5 * 8 * 16e6 / step, "straggler": 1, "flow": flow,
			"all": 20e-3 + 2*flow, // what never ends is no step
		} {
			if got := m[name]; got == nil || math.Abs(*got/want-1) > 0.01 {
				t.Errorf("%s is %v, by the books %v", name, experiment.Number(got, ""), want)
			}
		}
		if m["never"] != nil {
			t.Errorf("flows that do not end are a job of %v", *m["never"])
		}
	}
}
