package run

import "testing"

// A flow whose rate an event raises is not faster than alone in the network: the event happens there, too. Its own
// limit is the highest that it ever has.
func TestSlowdownOfRaisedRates(t *testing.T) {
	for _, c := range []struct {
		event       string
		least, most float64
	}{
		{"{at: 100us, flow: f, rate: 1Gbps}", 1, 10}, // of 1 Gbit/s; it has 0.1 for 100 us
		{"{at: 0us, flow: f, rate: 1Gbps}", 1, 1.3},
		{"{at: 100us, flow: f, rate: 50Mbps}", 1, 2}, // of 0.1 Gbit/s
		{"{at: 100us, flow: other, rate: 1Gbps}", 0.999, 1.001},
		{"{at: 100us, flow: f, rate: 50Mbps}, {at: 150us, flow: f, rate: 5Gbps}, " +
			"{at: 160us, flow: f, rate: 1Gbps}", 1, 50},
	} {
		r := ran(t, `id: test/raised
title: raised
duration: 10ms
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, start_phase: 0s,
  payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
flows:
- {name: f, from: H0, to: H2, size: 10KB, rate: 100Mbps}
- {name: other, from: H2, to: H1, size: 10KB, rate: 100Mbps}
events: [`+c.event+`]
schemes: [none]
measure: {sample: 10us, metrics: [{name: x, do: slowdown, flows: [f]}]}
`)
		x := r.metrics["x"]
		if x == nil {
			t.Fatalf("%s: the flow did not end", c.event)
		}
		if *x < c.least || *x > c.most {
			t.Errorf("%s: %v, not from %v to %v", c.event, *x, c.least, c.most)
		}
		for f := range r.ended {
			if f.Slowdown() < c.least && f.Group == "f" {
				t.Errorf("%s: in the list of flows %v", c.event, f.Slowdown())
			}
		}
	}
}

// Nor is a flow faster than alone if links on its way are made faster, in either direction.
func TestSlowdownOfRaisedLinks(t *testing.T) {
	for _, events := range []string{
		"{at: 0us, link: S0>H2, rate: 40Gbps}, {at: 0us, link: H0>S0, rate: 40Gbps}",
		"{at: 0us, link: H2>S0, rate: 20Gbps}, {at: 10us, link: S0>H0, rate: 40Gbps}, " +
			"{at: 20us, link: H0>S0, rate: 1Gbps}",
		"{at: 5us, link: H0>S0, rate: 1Gbps}, {at: 6us, link: S0>H0, rate: 100Gbps}, " +
			"{at: 6us, link: S0>H2, rate: 100Gbps}",
	} {
		r := ran(t, `id: test/raisedlinks
title: raised
duration: 10ms
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, start_phase: 0s,
  payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
flows:
- {name: f, from: H0, to: H2, size: 100KB}
events: [`+events+`]
schemes: [none]
measure: {sample: 10us, metrics: [{name: x, do: slowdown, flows: [f]}]}
`)
		if x := r.metrics["x"]; x == nil {
			t.Fatalf("%s: the flow did not end", events)
		} else if *x < 1 {
			t.Errorf("%s: the flow is %v times as slow as alone", events, *x)
		}
		for f := range r.ended {
			if f.Slowdown() < 1 {
				t.Errorf("%s: in the list of flows %v", events, f.Slowdown())
			}
		}
	}
}
