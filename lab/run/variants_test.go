package run

import (
	"context"
	"photon/lab/experiment"
	"slices"
	"strings"
	"testing"
)

// Two uses of one scheme are told apart, in results, by --schemes and in files, and
// have numbers of their own.
func TestVariantsOfOneScheme(t *testing.T) {
	e := parse(t, `
flows: [{name: F, from: H0..H1, to: H2}]
schemes:
  - pcn
  - {name: pcn, params: {wmin: 1/16}}
  - {name: pcn, label: slow, params: {wmin: 1/512}}
`+peak)
	r, err := Replay(context.Background(), e, Options{World: "sim"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"pcn", "pcn:wmin=1/16", "slow"}
	var names []string
	seen := map[string]bool{}
	for _, run := range r.Runs {
		names = append(names, run.Scheme)
		if seen[*run.TraceHash] {
			t.Errorf("%s is the run of another", run.Scheme)
		}
		seen[*run.TraceHash] = true
	}
	if !slices.Equal(names, want) {
		t.Errorf("schemes %v", names)
	}
	if r.Runs[1].Recipe != "pcn" || r.Runs[1].Params["wmin"] != "1/16" || r.Runs[0].Recipe != "" {
		t.Errorf("%+v", r.Runs[1])
	}
	for names, want := range map[string][]string{"slow": {"slow"}, "pcn": {"pcn"}, "pcn:wmin=1/16": {"pcn:wmin=1/16"}} {
		uses, err := chooseSchemes(e, Options{Schemes: []string{names}})
		if err != nil || len(uses) != 1 || uses[0].Key() != want[0] {
			t.Errorf("%s: %v %v", names, uses, err)
		}
	}
	if _, err := chooseSchemes(e, Options{Schemes: []string{"pcn", "pcn"}}); err == nil {
		t.Error("one scheme twice is no error")
	}
}

// A metric that says whether there was a deadlock needs none that says when.
func TestDeadlockedNeedsNoOther(t *testing.T) {
	b := `
id: test/deadlock
title: a ring in which all wait for all
duration: 30ms
topology: {kind: ring, switches: 5, hosts: 1}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 20KB, buffer: 12MB}
flows:
  - {from: H0-0, to: H2-0}
  - {from: H1-0, to: H3-0}
  - {from: H2-0, to: H4-0}
  - {from: H3-0, to: H0-0}
  - {from: H4-0, to: H1-0}
schemes: [none]
measure:
  sample: 100us
  metrics: [{name: stuck, do: deadlocked}]
`
	stuck := func(text string) float64 {
		e, err := experiment.Parse("ring.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Replay(context.Background(), e, Options{World: "sim"})
		if err != nil {
			t.Fatal(err)
		}
		return *r.Runs[0].Metrics["stuck"]
	}
	if alone, with := stuck(b), stuck(strings.Replace(b, "}]\n", "}, {name: when, do: deadlock}]\n", 1)); alone != with || alone != 1 {
		t.Errorf("alone it says %v, beside the other %v", alone, with)
	}
}
