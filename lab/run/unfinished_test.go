package run

import (
	"slices"
	"strings"
	"testing"

	"photon/lab/experiment"
)

// Completion times are of flows that ended. If others had begun and did not end, a note says how many: the best times may be
// those of a scheme that ended few.
func TestUnfinishedFlowsAreNoted(t *testing.T) {
	for _, c := range []struct{ flows, metric, want string }{
		{"{name: f, from: H0, to: H2, size: 1MB}, {name: f, from: H1, to: H2, size: 10KB}", "do: fct, flows: [f]", "1 of 2 flows"},
		{"{name: f, from: H0, to: H2, size: 1MB}, {name: f, from: H1, to: H2, size: 10KB}", "do: slowdown, stat: p99", "1 of 2 flows"},
		{"{name: f, from: H0, to: H2, size: 1MB}, {name: f, from: H1, to: H2, size: 10KB}", "do: unfinished", ""},
		{"{name: f, from: H0, to: H2, size: 10KB}, {name: long, from: H1, to: H2}, {name: other, from: H1, to: H2, size: 1MB}", "do: fct, flows: [f]", ""},
		{"{name: f, from: H0, to: H2, size: 10KB}, {name: f, from: H1, to: H2}", "do: fct, flows: [f]", ""},
		{"{name: f, from: H0, to: H2, size: 10KB}, {name: f, from: H1, to: H2, size: 1MB, start: 5ms}", "do: fct, flows: [f]", ""},
		{"{name: f, from: H0, to: H2, size: 10KB}, {name: f, from: H1, to: H2, size: 1MB}", "do: fct, sizes: [0B, 100KB]", ""},
	} {
		r := ran(t, `id: test/unfinished
title: unfinished
duration: 200us
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us,
  payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
flows: [`+c.flows+`]
schemes: [none]
measure: {sample: 10us, metrics: [{name: x, `+c.metric+`}]}
`)
		i := slices.IndexFunc(r.notes, func(n string) bool { return strings.Contains(n, "had not ended") })
		end := "are not in it"
		if strings.Contains(c.metric, "p99") {
			end = "are counted as longer than they had taken by then"
		}
		if i >= 0 && !strings.HasSuffix(r.notes[i], end) {
			t.Errorf("%s of %s: %q", c.metric, c.flows, r.notes[i])
		}
		if (i >= 0) != (c.want != "") || i >= 0 && !strings.HasPrefix(r.notes[i], c.want+" of x had not ended at") {
			t.Errorf("%s of %s: %q", c.metric, c.flows, r.notes)
		}
	}
}

// Nor is it silent that no flow of a metric began: a start behind the run's end, or something awaited that never comes.
func TestFlowsThatNeverBeganAreNoted(t *testing.T) {
	for _, c := range []struct{ flows, want string }{
		{"{name: f, from: H0, to: H2, size: 10KB, start: 5ms}",
			"x has no value: none of its flows, 1, began in the 200us of the run"},
		{"{name: f, from: H0, to: H2, size: 1KB, start: 200us, count: 2}",
			"x has no value: none of its flows, 2, began"},
		{"{name: a, from: H0, to: H2, size: 1MB}, {name: f, from: H0, to: H2, size: 1KB, after: a}",
			"none of its flows, 1, began"},
		{"{name: f, from: H0, to: H2, size: 10KB}, {name: f, from: H0, to: H2, size: 10KB, start: 5ms}", ""},
		{"{name: f, from: H0, to: H2, size: 1MB}", ""},
	} {
		r := ran(t, `id: test/never
title: never
duration: 200us
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, start_phase: 0s,
  payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
flows: [`+c.flows+`]
schemes: [none]
measure: {sample: 10us, metrics: [{name: x, do: fct, flows: [f]}]}
`)
		i := slices.IndexFunc(r.notes, func(n string) bool { return strings.Contains(n, "began in") })
		if (i >= 0) != (c.want != "") || i >= 0 && !strings.Contains(r.notes[i], c.want) {
			t.Errorf("%s: %q", c.flows, r.notes)
		}
	}
}

// A flow that was stopped is known to take longer than until then, and nothing more: a percentile of which it would
// take the place at the end of the run is that of flows that ended. Of a metric without flows a note says so.
func TestStoppedFlowsAreOpenUntilTheirStop(t *testing.T) {
	for _, c := range []struct {
		metric string
		value  bool
		note   string
	}{
		{"do: fct, flows: [f], stat: p99", true, "1 of 2 flows of x had not ended"},
		{"do: fct, flows: [long], stat: p99", false, "1 of 2 flows of x had not ended"},
		{"do: fct, sizes: [2MB, 3MB]", false, "x has no value: the run has no flows of it"},
	} {
		r := ran(t, `id: test/stopped
title: stopped
duration: 200us
topology: {kind: star, hosts: 5}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, start_phase: 0s,
  payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
flows:
- {name: f, from: H0, to: H2, size: 10KB}
- {name: f, from: H1, to: H2, size: 1MB, stop: 5us}
- {name: long, from: H3, to: H4, size: 10KB}
- {name: long, from: H4, to: H3, size: 1MB, stop: 150us}
schemes: [none]
measure: {sample: 10us, metrics: [{name: x, `+c.metric+`}]}
`)
		if got := r.metrics["x"]; (got != nil) != c.value || got != nil && *got > 20e-6 {
			t.Errorf("%s: %s", c.metric, experiment.Number(got, "s"))
		}
		if !strings.Contains(strings.Join(r.notes, "; "), c.note) {
			t.Errorf("%s: %q", c.metric, r.notes)
		}
	}
}
