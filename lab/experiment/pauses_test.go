package experiment

import (
	"fmt"
	"strings"
	"testing"
)

// A link that an event makes slow still gets an XOFF through in half of a pause, which both ends count by the rate
// that it had. 65535 quanta of 512 bits are 335.5 us at 100 Gbit/s, and a frame of 9018 B, with 24 B around it, takes
// half of that at 431.2 Mbit/s.
func TestEventsThatOutlastPauses(t *testing.T) {
	const text = `id: test/slow
title: a link becomes slow
duration: 2ms
topology: {kind: star, hosts: 3}
parameters:
  {link_rate: 100Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: %s, priority: 3, buffer: 16MB, %s}
flows:
- {name: f, from: H0, to: H2, size: 1MB}
events:
- {at: 1ms, link: %s, rate: %s}
schemes: [none]
measure: {sample: 10us}
`
	const pfc, credits, lossy = "xoff: 100KB", "flow_control: credits, lane_buffer: 64KB", "xoff: 100KB, lossless: []"
	for _, c := range []struct {
		mtu, flow, link, rate string
		bad                   bool
	}{
		{"9000B", pfc, "S0>H0", "431Mbps", true},
		{"9000B", pfc, "H0>S0", "431Mbps", true},
		{"9000B", pfc, "S0>H0", "432Mbps", false},
		{"1500B", pfc, "S0>H0", "73Mbps", true}, // 1542 B: 73.5 Mbit/s
		{"1500B", pfc, "S0>H0", "74Mbps", false},
		{"9000B", credits, "S0>H0", "100Mbps", false},
		{"9000B", lossy, "S0>H0", "100Mbps", false},
	} {
		_, err := Parse("x.yaml", fmt.Appendf(nil, text, c.mtu, c.flow, c.link, c.rate))
		least := map[string]string{"9000B": "432Mbps", "1500B": "74Mbps"}[c.mtu]
		switch {
		case !c.bad && err != nil:
			t.Errorf("%+v: %v", c, err)
		case c.bad && (err == nil || !strings.HasPrefix(err.Error(), "x.yaml:10: event 1: a frame takes ") ||
			!strings.Contains(err.Error(), "(a rate of "+least+" or more")):
			t.Errorf("%+v: %v", c, err)
		}
	}
}
