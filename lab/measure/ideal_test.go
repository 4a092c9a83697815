package measure

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/lab/build"
	"photon/lab/experiment"
	"photon/sim"
	"photon/units"
)

// A flow that has the network for itself takes as long as it is said to take in an empty network, whatever links
// are on its way and however much is left for its last packet.
func TestFlowAloneTakesTheIdealTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
		switches := rapid.IntRange(1, 4).Draw(t, "switches")
		payload := rapid.IntRange(1, 1400).Draw(t, "payload")
		p("id: test/alone\ntitle: alone\nduration: 20ms\ntopology:\n  kind: free")
		p("  nodes: [{name: A, host: true}, {name: B, host: true}")
		for i := range switches {
			p("    , {name: S%d}", i)
		}
		p("  ]\n  links:")
		link := func(a, b string) {
			rate := rapid.SampledFrom([]int{1, 10, 25, 40, 100, 400}).Draw(t, "rate")
			p("    - {a: %s, b: %s, rate: %dGbps, delay: %dns}", a, b, rate, rapid.IntRange(0, 20000).Draw(t, "delay"))
		}
		link("A", "S0")
		for i := 1; i < switches; i++ {
			link(fmt.Sprintf("S%d", i-1), fmt.Sprintf("S%d", i))
		}
		link(fmt.Sprintf("S%d", switches-1), "B")
		p("parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: %dB, mtu: 1500B,", payload)
		p("  priority: 3, xoff: 1MB, buffer: 100MB, start_phase: 0s}")
		p("flows: [{from: A, to: B, size: %dB}]", rapid.IntRange(1, 20*payload).Draw(t, "size"))
		p("schemes: [none]\nmeasure: {sample: 1ms}")
		e, err := experiment.Parse("alone.yaml", []byte(b.String()))
		if err != nil {
			t.Fatal(err, b.String())
		}
		w := sim.New()
		n, err := build.Build(e, w, e.Schemes[0], 1, build.Observer{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(t.Context(), e.Duration); err != nil {
			t.Fatal(err)
		}
		n.Collect()
		flows := EndedFlows(e, n)
		if len(flows) != 1 {
			t.Fatalf("it has not ended\n%s", b.String())
		}
		if f := &flows[0]; f.FCT < f.Ideal || f.FCT > f.Ideal+units.Nanosecond {
			t.Fatalf("it took %v, and should take %v\n%s", f.FCT, f.Ideal, b.String())
		}
	})
}
