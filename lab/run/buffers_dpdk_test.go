//go:build dpdk

package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"photon/lab/experiment"
)

// Virtual time has memory for any number of frames, DPDK as much as an experiment needs, up to a bound. Where a queue
// would become longer, a result from DPDK is another, and says why. What fits into the memory has no such note.
func TestResultSaysThatFrameBuffersRanOut(t *testing.T) {
	const text = `
id: test/deep
title: many small packets in one queue
duration: %s
topology: {kind: star, hosts: 9}
parameters: {link_rate: 40Gbps, host_delay: 1us, trunk_delay: 1us, payload: 128B, mtu: 1500B, priority: 3, xoff: %s, buffer: 400MB, start_phase: 0s}
schemes: [none]
flows:
  - {name: all, from: H0..H7, to: H8, size: %s}
measure:
  sample: 10us
  probes:
    - {name: queue, kind: queue, at: [S0>H8]}
  metrics:
    - {name: longest, do: max, of: queue}
`
	for _, c := range []struct {
		xoff, duration, size string
		fits                 bool
	}{{"50KB", "400us", "1MB", true}, {"20MB", "400us", "1MB", true}, {"20MB", "2ms", "8MB", false}} {
		e, err := experiment.Parse("deep.yaml", []byte(fmt.Sprintf(text, c.duration, c.xoff, c.size)))
		if err != nil {
			t.Fatal(err)
		}
		var longest [2]float64
		var noted [2]bool
		for i, world := range experiment.Worlds {
			r, err := Replay(context.Background(), e, Options{World: world, Dilation: 20})
			if err != nil {
				t.Fatal(err)
			}
			longest[i] = *r.Runs[0].Metrics["longest"]
			noted[i] = slices.ContainsFunc(r.Runs[0].Notes, func(s string) bool { return strings.Contains(s, "frame buffers") })
		}
		alike := longest[1] > 0.8*longest[0] && longest[1] < 1.25*longest[0]
		if alike != c.fits {
			t.Errorf("xoff %s, %s: the longest queue is %v in virtual time and %v on DPDK",
				c.xoff, c.size, longest[0], longest[1])
		}
		if noted[0] || noted[1] == c.fits {
			t.Errorf("xoff %s, %s: a note of frame buffers in virtual time %v, on DPDK %v",
				c.xoff, c.size, noted[0], noted[1])
		}
	}
}
