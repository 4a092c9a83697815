package measure

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/config"
	"photon/dataplane"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/topology"
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

// In an empty network a flow takes the best of the paths with the fewest links, each as if there were no other, in
// whatever order the links are in the file.
func TestIdealTimeIsTheBestPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		link := rapid.Custom(func(t *rapid.T) dataplane.Link {
			return dataplane.Link{
				Rate:  rapid.SampledFrom([]units.Rate{1, 10, 40, 100}).Draw(t, "rate") * units.Gbps,
				Delay: units.Time(rapid.IntRange(0, 20000).Draw(t, "delay")) * units.Nanosecond,
			}
		})
		// Stages of two links each, by one of several switches in between.
		pair := rapid.SliceOfN(link, 2, 2)
		stages := rapid.SliceOfN(rapid.SliceOfN(pair, 1, 3), 1, 3).Draw(t, "stages")
		payload, size := units.Size(1000), units.Size(rapid.IntRange(1, 20000).Draw(t, "size"))
		e := &experiment.Experiment{}
		e.Parameters.Payload.Value = config.Set(payload)
		time := func(stages [][][]dataplane.Link) units.Time {
			p := topology.New()
			a, at := p.Host("A"), p.Switch("x", "S")
			p.Connect(a, at, dataplane.Link{Rate: 100 * units.Gbps})
			for _, stage := range stages {
				to := p.Switch("x", "T%d", len(p.Nodes))
				for _, links := range stage {
					between := p.Switch("x", "M%d", len(p.Nodes))
					p.Connect(at, between, links[0])
					p.Connect(between, to, links[1])
				}
				at = to
			}
			b := p.Host("B")
			p.Connect(at, b, dataplane.Link{Rate: 100 * units.Gbps})
			return newIdeal(e, &build.Network{Plan: p}).time(a, b, size)
		}
		ack := func(stages [][][]dataplane.Link) units.Time {
			access := dataplane.Link{Rate: 100 * units.Gbps}
			sum := 2 * access.Serialize(ackBytes)
			for _, stage := range stages {
				for _, l := range stage[0] {
					sum += l.Delay + l.Serialize(ackBytes)
				}
			}
			return sum
		}
		there, back := units.Time(math.MaxInt64), units.Time(math.MaxInt64)
		var choose func(chosen, rest [][][]dataplane.Link)
		choose = func(chosen, rest [][][]dataplane.Link) {
			if len(rest) == 0 {
				there, back = min(there, time(chosen)-ack(chosen)), min(back, ack(chosen))
				return
			}
			for _, links := range rest[0] {
				choose(append(slices.Clone(chosen), [][]dataplane.Link{links}), rest[1:])
			}
		}
		choose(nil, stages)
		got := time(stages)
		if got != there+back {
			t.Fatalf("%v, and by the best path alone %v", got, there+back)
		}
		for _, s := range stages {
			slices.Reverse(s)
		}
		if again := time(stages); again != got {
			t.Fatalf("%v, and in another order %v", got, again)
		}
	})
}
