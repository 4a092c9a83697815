package run

import (
	"fmt"
	"testing"

	"photon/lab/experiment"
)

// An experiment has as many frame buffers on DPDK as it may need at a time, and no fewer than small ones always had.
func TestFramesNeeded(t *testing.T) {
	const text = `
id: test/frames
title: frames
duration: 400us
topology: {kind: star, hosts: 9}
parameters: {link_rate: 40Gbps, host_delay: %s, trunk_delay: 1us, payload: 1000B, mtu: 1500B,
  priority: 3, xoff: 50KB, buffer: %s}
schemes: [none]
flows: [{name: all, from: H0..H7, to: H8%s}]
measure: {sample: 10us}
`
	for _, c := range []struct {
		delay, buffer, size string
		least, most         int
	}{
		{"1us", "4MB", "", 32768, 32768},                             // the buffer holds 4000
		{"1us", "40MB", "", 40_000, 60_000},                          // 37 000
		{"1us", "40MB", ", size: 1MB", 32768, 32768},                 // there are 8000
		{"1us", "40MB", ", size: 5MB", 40_000, 60_000},               // 40 000
		{"10ms", "4MB", "", 262_144, 262_144},                        // links of 40 Gbit/s hold 46 000 each way
		{"1us", "4GB", "", 262_144, 262_144},                         // more than there can be
		{"1us", "40MB", ", size: 100B, count: 2000", 24_000, 40_000}, // small frames, of which there are 16 000
		{"1us", "4MB", ", size: 1B, count: 9000", 60_000, 100_000},   // the buffer holds 68 000 of 72 000
	} {
		e, err := experiment.Parse("x.yaml", fmt.Appendf(nil, text, c.delay, c.buffer, c.size))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := frameBuffers(e, 1); err != nil || n < c.least || n > c.most {
			t.Errorf("%+v: %d, %v", c, n, err)
		}
	}
}
