package run

import (
	"context"
	"photon/lab/experiment"
	"photon/lab/measure"
	"strings"
	"testing"
)

// The delays of network cards are parameters of experiments: with them a pause
// acts later, the queue behind the bottleneck grows longer, and nothing is lost.
func TestDelaysOfCards(t *testing.T) {
	const text = `id: test/delays
title: delays
duration: 3ms
topology: {kind: star, hosts: 3}
parameters:
  link_rate: {value: 10Gbps, source: test}
  host_delay: {value: 1us, source: test}
  trunk_delay: {value: 1us, source: test}
  payload: {value: 1000B, source: test}
  mtu: {value: 1500B, source: test}
  priority: {value: 3, source: test}
  xoff: {value: 20KB, source: test}
  xon: {value: 15KB, source: test}
  buffer: {value: 4MB, source: test}
  EXTRA
flows:
  - {from: "H0,H1", to: H2}
schemes: [{name: none}, {name: dcqcn}]
measure:
  sample: 10us
  probes:
    - {name: queue, kind: queue, at: [S0>H2]}
    - {name: notified, kind: notified, flows: ["*"]}
  metrics:
    - {name: peak, do: max, of: queue}
    - {name: first, do: first_at_least, of: notified, value: 1}
`
	run := func(extra string) map[string]measure.Metrics {
		e, err := experiment.Parse("delays.yaml", []byte(strings.Replace(text, "EXTRA", extra, 1)))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Replay(context.Background(), e, Options{World: "sim"})
		if err != nil {
			t.Fatal(err)
		}
		m := map[string]measure.Metrics{}
		for _, run := range r.Runs {
			if run.Invariants.LostFrames > 0 || !run.Invariants.ConservationOK {
				t.Errorf("%s %s: %+v", extra, run.Scheme, run.Invariants)
			}
			m[run.Scheme] = run.Metrics
		}
		return m
	}
	none := run("")
	card := run("np_delay: {value: 500us, source: test}\n  pause_delay: {value: 50us, source: test}")
	// Two ports that go on for 50 us each bring 62.5 KB more each, of which the bottleneck takes half.
	if grown := *card["none"]["peak"] - *none["none"]["peak"]; grown < 50_000 || grown > 75_000 {
		t.Errorf("the queue is %.0f bytes longer with a delay of 50 us", grown)
	}
	if later := *card["dcqcn"]["first"] - *none["dcqcn"]["first"]; later < 499e-6 || later > 560e-6 {
		t.Errorf("the first CNP is %.6f s later with a delay of 500 us", later)
	}
	for _, bad := range []string{"np_delay: {value: 5us}", "pause_delay: {value: -5us, source: test}"} {
		if _, err := experiment.Parse("delays.yaml", []byte(strings.Replace(text, "EXTRA", bad, 1))); err == nil || !strings.Contains(err.Error(), "delays.yaml:15") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
