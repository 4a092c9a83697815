package run

import (
	"slices"
	"strings"
	"testing"

	"photon/lab/experiment"
)

// If no reaction point was notified, a note says whether congestion points were silent or not heard: a long queue is
// no answer to why a switch that sends notifications itself was not obeyed.
func TestUnheardNotificationsAreNoted(t *testing.T) {
	const lost = "impair: [{link: S0>H0, rules: [{do: lose, frames: %}]}, {link: S0>H1, rules: [{do: lose, frames: %}]}]"
	for _, c := range []struct{ scheme, impair, want, not string }{
		{"qcn", strings.ReplaceAll(lost, "%", "all"), "CNMs", "egress queue"},
		{"pacc", strings.ReplaceAll(lost, "%", "cnp"), "CNPs", "egress queue"},
		{"pacc", "", "", "no reaction point"},
		{"dcqcn", "", "", "no reaction point"},
		{"{name: dcqcn, params: {kmin: 8MB, kmax: 9MB}}", "", "no egress queue was ever longer than", "CNPs"},
	} {
		e, err := experiment.Parse("x.yaml", []byte(`id: test/unheard
title: unheard
duration: 2ms
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 3MB, buffer: 12MB}
flows: [{name: f, from: 'H0,H1', to: H2}]
schemes: [`+c.scheme+`]
`+c.impair+`
measure: {sample: 10us, metrics: [{name: x, do: unfinished, flows: [f]}]}
`))
		if err != nil {
			t.Fatal(err)
		}
		r, err := runSingle(e, Options{World: "sim"}, e.Schemes[0], 1)
		if err != nil {
			t.Fatal(err)
		}
		says := func(what string) bool {
			return slices.ContainsFunc(r.notes, func(n string) bool {
				return strings.Contains(n, "no reaction point was ever notified") && strings.Contains(n, what)
			})
		}
		if c.want != "" && !says(c.want) || says(c.not) {
			t.Errorf("%s, %s: %q, want %q and not %q", c.scheme, c.impair, r.notes, c.want, c.not)
		}
	}
}
