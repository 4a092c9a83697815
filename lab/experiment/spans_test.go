package experiment

import (
	"strings"
	"testing"
)

// parsed is an experiment with these metrics and claims.
func parsed(metrics, claims string) error {
	_, err := Parse("x.yaml", []byte(`id: test/spans
title: spans
duration: 3ms
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
flows: [{name: f, from: H0, to: H1, size: 1MB}]
schemes: [none, pcn]
measure:
  sample: 100us
  probes: [{name: q, kind: queue, at: [S0]}, {name: r, kind: received, flows: [f], each: true}]
  metrics:
    - {name: ok, do: mean, of: q}
`+metrics+claims))
	return err
}

// A span that no sample is in measures nothing, and what must last longer than its span never comes.
func TestSpansMeetSamples(t *testing.T) {
	for text, want := range map[string]string{
		"{name: x, do: mean, of: q, from: 100us, to: 200us}":                "",
		"{name: x, do: mean, of: q, from: 150us, to: 200us}":                "",
		"{name: x, do: fct, flows: [f], from: 110us, to: 150us}":            "",
		"{name: x, do: mean, of: q, from: 2900us}":                          "",
		"{name: x, do: mean, of: q, from: 100us, to: 199us}":                "no sample",
		"{name: x, do: jain, of: r, from: 110us, to: 150us}":                "no sample",
		"{name: x, do: mean, of: q, to: 50us}":                              "no sample",
		"{name: x, do: first_at_most, of: q, hold: 3ms}":                    "",
		"{name: x, do: first_at_most, of: q, hold: 3001us}":                 "hold",
		"{name: x, do: first_within, of: q, from: 1ms, to: 2ms, hold: 2ms}": "hold",
	} {
		err := parsed("    - "+text+"\n", "")
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.yaml:13: ")) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A run in short has samples in every span, too.
func TestShortSpansMeetSamples(t *testing.T) {
	for quick, want := range map[string]string{"2901us": "", "2850us": "metric x"} {
		err := parsed("    - {name: x, do: mean, of: q, from: 2800us}\n", "quick: {duration: "+quick+"}\n")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", quick, err)
		}
	}
}

// A claim about what is no number, or about a quotient that cannot be, is refused where it stands.
func TestClaimsAreOfNumbers(t *testing.T) {
	const loop = "    - {name: margin, do: phase_margin, loop: {beta1: 1, beta2: 1, period: 1us, alpha: 1, unit: 1KB}}\n"
	for text, want := range map[string]string{
		"schemes: [pcn], metric: ok, paper: 0, bound: at_most":                       "",
		"schemes: [pcn], metric: margin, paper: -3":                                  "",
		"schemes: [pcn, none], metric: ok, as: reduction, paper: -0.5":               "",
		"schemes: [pcn, none], metric: ok, as: reduction, limit: 0, bound: at_least": "",
		"schemes: [pcn, none], metric: ok, as: reduction, paper: 0":                  "no effect",
		"schemes: [pcn, none], metric: ok, as: reduction, paper: 1.5":                "reduction",
		"schemes: [pcn, none], metric: ok, paper: -2":                                "ratio",
		"schemes: [pcn], metric: ok, paper: .nan":                                    "number",
		"schemes: [pcn], metric: ok, limit: .inf, bound: at_most":                    "number",
		"schemes: [pcn], metric: ok, limit: 1, within: .inf":                         "number",
		"schemes: [pcn], metric: ok, as: fraction, limit: 1.5, bound: at_most":       "fraction",
	} {
		err := parsed(loop, "claims:\n- {id: c, text: t, "+text+"}\n")
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.yaml:15: ")) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
