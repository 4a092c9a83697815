package build

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"photon/lab/experiment"
	"photon/units"
)

// A buffer of which lossless priorities leave no room for a frame is remarked on if acknowledgements or CNPs have
// another: they would never arrive. Two ports at 10 Gbit/s: each needs XOFF, three frames of 1518 B, an XOFF of 60 B,
// each with 24 B around it, 67 quanta of 64 B, and 2.5 KB for 2 us of cable.
func TestBuffersHaveRoomForAcknowledgements(t *testing.T) {
	const reserved = 2 * (20_000 + 3*1542 + 84 + 67*64 + 2500)
	for _, c := range []struct {
		lossless string
		buffer   int
		noted    bool
	}{
		{"[3]", reserved, true},
		{"[3]", reserved + 1517, true},
		{"[3]", reserved + 1518, false},
		{"[3, 6]", 2 * reserved, false}, // that of both
		{"[0, 1, 2, 3, 4, 5, 6, 7]", 8 * reserved, false},
	} {
		e, err := experiment.Parse("x.yaml", fmt.Appendf(nil, `id: test/room
title: room for acknowledgements
duration: 1ms
topology: {kind: star, hosts: 2}
parameters:
  {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 20KB,
  lossless: %s,
  buffer: %dB}
flows: [{name: f, from: H0, to: H1, size: 100KB}]
schemes: [none]
measure: {sample: 10us}
`, c.lossless, c.buffer))
		if err != nil {
			t.Fatal(err)
		}
		notes, err := CheckWithNotes(e)
		if err != nil {
			t.Fatal(err)
		}
		noted := slices.ContainsFunc(notes, func(s string) bool {
			return strings.HasPrefix(s, "note: xoff and headroom of the lossless priorities of S0 leave ") &&
				strings.HasSuffix(s, fmt.Sprintf("(%v or more)", units.Size(reserved+1518)))
		})
		if noted != c.noted || len(notes) > 1 {
			t.Errorf("%s, %d B: %q", c.lossless, c.buffer, notes)
		}
	}
}
