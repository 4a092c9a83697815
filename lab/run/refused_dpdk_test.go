//go:build dpdk

package run

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// What cannot run on DPDK is refused before anything runs, with its line; what is not refused can be built there.
func TestExperimentsThatDPDKRefuses(t *testing.T) {
	const text = `id: test/refused
title: none
duration: 10us
topology: {%s}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 60MB}
flows: [{name: a, from: H0, to: H1}]
schemes: [none]
events: [%s]
measure: {sample: 10us, metrics: [{name: done, do: completed, flows: [a]}]}
`
	for _, c := range []struct{ topology, events, want string }{
		{"kind: star, hosts: 3", "{at: 5us, flow: a, rate: 1Gbps}", ""},
		{"kind: star, hosts: 3", "{at: 5us, link: S0>H1, rate: 5Gbps}", "x.yaml:8: events: the rate of link S0>H1"},
		{"kind: star, hosts: 256", "", ""},
		{"kind: star, hosts: 257", "", "x.yaml: topology: it has 257 links, and DPDK has devices for 256"},
	} {
		e := read(t, fmt.Sprintf(text, c.topology, c.events))
		o := Options{World: "dpdk", Dilation: 1}
		err := CheckDPDK(e, o)
		if err == nil && c.want != "" || err != nil && (c.want == "" || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s, events %q: %v, want %q", c.topology, c.events, err, c.want)
		}
		if _, failed := Replay(context.Background(), e, o); (failed != nil) != (err != nil) {
			t.Errorf("%s, events %q: the check says %v, the run %v", c.topology, c.events, err, failed)
		}
	}
}
