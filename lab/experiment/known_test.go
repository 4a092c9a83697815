package experiment

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What schemes know of a network does not depend on the order of links and of flows in its file.
func TestKnownInAnyOrder(t *testing.T) {
	const text = `id: test/ways
title: t
duration: 2ms
topology:
  kind: free
  nodes:
    [{name: A, host: true}, {name: B, host: true}, {name: C, host: true}, {name: S}, {name: T}, {name: X}, {name: Y}]
  links: [LINKS]
parameters:
  {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 256KB,
  buffer: 64MB, start_phase: 0s}
flows: [FLOWS]
schemes: [hpcc]
measure: {sample: 10us}
`
	links := []string{
		"{a: A, b: S}", "{a: B, b: T}", "{a: C, b: T, rate: 100Mbps}",
		"{a: S, b: X, delay: 50us}", "{a: X, b: T, delay: 50us}", "{a: S, b: Y}", "{a: Y, b: T}",
	}
	flows := []string{
		"{name: f, from: A, to: B, size: 500KB}", "{name: g, from: A, to: C, size: 10KB}",
		"{name: h, from: C, to: B, size: 1KB}",
	}
	rapid.Check(t, func(t *rapid.T) {
		in := func(list []string) string { return strings.Join(rapid.Permutation(list).Draw(t, "order"), ", ") }
		file := strings.NewReplacer("LINKS", in(links), "FLOWS", in(flows)).Replace(text)
		e, err := Parse("x.yaml", []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := e.Plan()
		if err != nil {
			t.Fatal(err)
		}
		list, err := e.Sends(plan, 1)
		if err != nil {
			t.Fatal(err)
		}
		// Hosts are 102 us apart; on C's link a full packet takes 86.56 us, and an acknowledgement 6.88 us.
		known := e.Known(plan, list, 1)
		if known.RTT.String() != "204us" || known.PathRTT.String() != "299.3776us" {
			t.Fatalf("%v and %v with\n%s", known.RTT, known.PathRTT, file)
		}
	})
}
