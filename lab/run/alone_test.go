package run

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"photon/lab/experiment"
	"photon/scheme"
)

// A flow that is alone in the network meets no congestion: with the default parameters every scheme lets it have the
// line, whatever the line's rate and the length of packets. HPCC means to leave a twentieth free.
func TestAFlowAloneHasTheLine(t *testing.T) {
	const text = `
id: test/alone
title: one flow
duration: %dus
topology: {kind: dumbbell, pairs: 1}
parameters: {link_rate: %dGbps, host_delay: 1us, trunk_delay: 2us, payload: %dB, mtu: 9000B, priority: 3, xoff: 512KB, buffer: 64MB}
flows: [{from: H0, to: R0}]
schemes: [%s]
measure:
  sample: 10us
  probes: [{name: rate, kind: sending, flows: ['*'], over: %dus}]
  metrics: [{name: bps, do: mean, of: rate, from: %dus}]
`
	for _, line := range []struct{ gbps, us int }{{1, 30_000}, {25, 3000}, {400, 1000}} {
		for _, payload := range []int{200, 1000, 8800} {
			schemes := strings.Join(scheme.Names(), ", ")
			e, err := experiment.Parse("alone.yaml", fmt.Appendf(nil, text, line.us, line.gbps, payload, schemes, line.us/4, line.us/2))
			if err != nil {
				t.Fatal(err)
			}
			r, err := Replay(context.Background(), e, Options{World: "sim"})
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range r.Runs {
				if got := run.Metrics["bps"]; got == nil || *got < 0.93e9*float64(line.gbps) {
					t.Errorf("%s at %d Gbit/s with %d bytes of payload: %s", run.Scheme, line.gbps, payload, experiment.Number(got, "bit/s"))
				}
			}
		}
	}
}
