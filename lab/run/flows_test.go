package run

import (
	"context"
	"strings"
	"testing"

	"photon/lab/experiment"
	"photon/units"
)

// star is three hosts on a switch, for 2 ms; what flows and what is measured is
// the rest of a file.
const star = `
id: test/small
title: a few flows
duration: 2ms
topology: {kind: star, hosts: 3}
parameters:
  link_rate: {value: 10Gbps, source: the test}
  host_delay: {value: 1us, source: the test}
  trunk_delay: {value: 1us, source: the test}
  payload: {value: 1000B, source: the test}
  mtu: {value: 1500B, source: the test}
  priority: {value: 3, source: the test}
  lossless: {value: [3, 4], source: the test}
  xoff: {value: 512KB, source: the test}
  xon: {value: 509KB, source: the test}
  buffer: {value: 12MB, source: the test}
`

// parse reads an experiment on the star.
func parse(t *testing.T, rest string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("small.yaml", []byte(star+rest))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// small has two schemes of which one is swept.
const small = `
flows:
  - {name: slow, from: H0, to: H2, begin: 2Gbps, dscp: 34}
  - {name: bursts, from: H1, to: H2, lasts: 100us, gap: 300us, start: 200us}
schemes:
  - {name: none}
  - {name: pcn, params: {wmin: {value: 1/$w, source: the test}}}
measure:
  sample: 20us
  probes:
    - {name: slow, kind: allowed, flows: [slow]}
    - {name: sent, kind: sending, flows: [slow]}
    - {name: bursts, kind: active, flows: [bursts]}
    - {name: frames, kind: frames, at: ["S0>H2"]}
    - {name: frames3, kind: frames, at: ["S0>H2"], priority: 3}
    - {name: frames4, kind: frames, at: ["S0>H2"], priority: 4}
  metrics:
    - {name: slow_first_bps, do: last, of: slow, to: 20us}
    - {name: slow_bps, do: mean, of: slow}
    - {name: slow_sent_bps, do: rate, of: sent}
    - {name: bursts_s, do: time_above, of: bursts, value: 0.5}
    - {name: frames, do: delta, of: frames}
    - {name: frames3, do: delta, of: frames3}
    - {name: frames4, do: delta, of: frames4}
sweep: {name: w, values: ["128", "16"]}
`

func TestFlowsThatBeginSlowlyAndComeAgain(t *testing.T) {
	m := replayed(t, parse(t, small))
	// Without congestion control a flow stays at the rate at which it began.
	between(t, m["none"], "slow_bps@128", 2e9, 2e9)
	between(t, m["none"], "slow_sent_bps@128", 1.98e9, 2.02e9)
	between(t, m["pcn"], "slow_first_bps@128", 2e9, 2e9)
	between(t, m["none"], "bursts_s@128", 0.49e-3, 0.61e-3) // 5 of 100 us, and a sample each
	for _, scheme := range []string{"none", "pcn"} {
		v := func(name string) float64 { return *m[scheme][name+"@128"] }
		if v("frames3") == 0 || v("frames4") == 0 || v("frames3")+v("frames4") != v("frames") {
			t.Errorf("%s: %v frames are not %v and %v", scheme, v("frames"), v("frames3"), v("frames4"))
		}
	}
	// What is swept may be a parameter of a scheme.
	if *m["pcn"]["slow_bps@128"] >= *m["pcn"]["slow_bps@16"] {
		t.Error("a larger weight made no difference")
	}
}

func TestBadFlows(t *testing.T) {
	for _, c := range []struct{ old, with, want string }{
		{"gap: 300us", "gap: 300us, every: 1ms", "gap"},
		{"lasts: 100us, gap: 300us", "gap: 300us", "gap"},
		{"lasts: 100us, gap: 300us", "every: 300us", "size"},
		{"lasts: 100us", "lasts: 100us, stop: 1ms", "last for a time"},
		{"begin: 2Gbps", "begin: -2Gbps", "negative"},
		{"priority: 4}", "priority: 5}", "priority 5"},
	} {
		_, err := experiment.Parse("small.yaml", []byte(strings.Replace(star+small, c.old, c.with, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.with, err)
		}
	}
}

// A scheme that the experiment does not name is used as it is, at every value.
func TestSweepOfAnotherScheme(t *testing.T) {
	e := parse(t, small)
	for _, v := range e.Variants() {
		v.Duration = units.Millisecond
	}
	r, err := Replay(context.Background(), e, Options{World: "sim", Schemes: []string{"dcqcn"}})
	if err != nil || r.Runs[0].Metrics["slow_bps@16"] == nil {
		t.Errorf("%v: %v", r, err)
	}
}
