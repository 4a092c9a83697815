package experiment

import (
	"fmt"
	"testing"

	"photon/units"
)

// What a flow waits for before it begins is as many delays as the file says, each behind what it is of: the longest way
// through what it waits for, without the time that flows take.
func TestDelaysOfFlowsThatWait(t *testing.T) {
	const text = `id: test/delays
title: flows that wait
duration: 1ms
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3,
  xoff: 100KB, buffer: 9MB}
flows:
  - {name: one, from: H0, to: H2, size: 10KB}
  - {name: two, from: H0, to: H2, size: 10KB, after: %s}
schemes: [none]
`
	for after, want := range map[string]units.Time{
		"one":                                       0,
		"{flows: one, delay: 50us}":                 50 * units.Microsecond,
		"{flows: one, at: start, delay: 7us}":       7 * units.Microsecond,
		"[{flows: one, delay: 3us}, one]":           3 * units.Microsecond,
		"[one, {flows: one, at: 5KB, delay: 20us}]": 20 * units.Microsecond,
	} {
		e, err := Parse("delays.yaml", fmt.Appendf(nil, text, after))
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Plan()
		if err != nil {
			t.Fatal(err)
		}
		all, err := e.Sends(p, 1)
		if err != nil {
			t.Fatal(err)
		}
		flows := all.List()
		var longest func(w *Wait) units.Time
		longest = func(w *Wait) (most units.Time) {
			for i := range w.After {
				if c := w.After[i].Wait; c != nil {
					most = max(most, longest(c))
				}
			}
			return most + w.Delay
		}
		if len(flows) != 2 || flows[1].Wait == nil {
			t.Fatalf("after %s: %d flows", after, len(flows))
		}
		if got := longest(flows[1].Wait); got != want {
			t.Errorf("after %s: it waits for %v, not %v", after, got, want)
		}
	}
}
