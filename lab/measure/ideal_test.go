package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/config"
	"photon/fabric"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/sim"
	"photon/units"
)

// A flow that has the network for itself takes as long as it is said to take in an empty network, whatever links
// are on its way and however much is left for its last packet. If its packets may take several ways at once it takes
// no less.
func TestFlowAloneTakesTheIdealTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
		stages := rapid.IntRange(0, 3).Draw(t, "stages")
		payload := rapid.IntRange(1, 1400).Draw(t, "payload")
		most := rapid.SampledFrom([]int{1, 4}).Draw(t, "ways")
		p("id: test/alone\ntitle: alone\nduration: 50ms\ntopology:\n  kind: free")
		var links strings.Builder
		link := func(a, b string) {
			rate := rapid.SampledFrom([]int{1, 10, 25, 40, 100, 400}).Draw(t, "rate")
			fmt.Fprintf(&links, "    - {a: %s, b: %s, rate: %dGbps, delay: %dns}\n", a, b, rate, rapid.IntRange(0, 20000).Draw(t, "delay"))
		}
		p("  nodes: [{name: A, host: true}, {name: B, host: true}, {name: S0}")
		link("A", "S0")
		chain := true
		for i := 1; i <= stages; i++ { // from one switch to the next by another, of which there may be several
			p("    , {name: S%d}", i)
			between := rapid.IntRange(1, most).Draw(t, "between")
			chain = chain && between == 1
			for j := range between {
				m := fmt.Sprintf("M%d-%d", i, j)
				p("    , {name: %s}", m)
				link(fmt.Sprintf("S%d", i-1), m)
				link(m, fmt.Sprintf("S%d", i))
			}
		}
		link(fmt.Sprintf("S%d", stages), "B")
		p("  ]\n  links:\n%s", links.String())
		p("parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: %dB, mtu: 1500B,", payload)
		by := rapid.SampledFrom([]string{"flow", "round_robin", "random", "queue"}).Draw(t, "paths")
		p("  priority: 3, xoff: 1MB, buffer: 100MB, start_phase: 0s, paths: %s", by)
		exact := chain && by == "flow"
		if by != "flow" { // whose acknowledgements are longer
			p("  , recovery: selective, window: 1000, reorder: 100, ack_timeout: 67ms")
		}
		p("}")
		p("flows: [{from: A, to: B, size: %dB", rapid.IntRange(1, 50*payload).Draw(t, "size"))
		if limit := rapid.SampledFrom([]int{0, 0, 100, 1000, 7000, 40_000}).Draw(t, "limit"); limit > 0 {
			p("  , rate: %dMbps", limit)
		}
		p("}]")
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
		flows := slices.Collect(EndedFlows(e, n, 1))
		if len(flows) != 1 {
			t.Fatalf("it has not ended\n%s", b.String())
		}
		if f := &flows[0]; f.FCT < f.Ideal || exact && f.FCT > f.Ideal+units.Nanosecond {
			t.Fatalf("it took %v, and should take %v\n%s", f.FCT, f.Ideal, b.String())
		}
	})
}

// Four links of 25 Gbit/s are as good as one of 100, to a flow whose packets take them in turn.
func TestIdealTimeOfASpreadFlow(t *testing.T) {
	time := func(by string, trunks int, rate units.Rate) units.Time {
		p := topology.New()
		a, b := p.Host("A"), p.Host("B")
		from, to := p.Switch("x", "S0"), p.Switch("x", "S1")
		p.Connect(a, from, fabric.Link{Rate: 100 * units.Gbps})
		for range trunks {
			p.Connect(from, to, fabric.Link{Rate: rate, Delay: units.Microsecond})
		}
		p.Connect(to, b, fabric.Link{Rate: 100 * units.Gbps})
		e := &experiment.Experiment{}
		e.Parameters.Payload.Value, e.Parameters.Paths.Value = config.Set(units.Size(1000)), config.Set(by)
		return newIdeal(e, p).time(a, b, 10*units.MB, 0)
	}
	one := time("round_robin", 1, 100*units.Gbps)
	if four := time("round_robin", 4, 25*units.Gbps); math.Abs(float64(four)/float64(one)-1) > 0.01 {
		t.Errorf("by four links of 25 Gbit/s it takes %v, by one of 100 Gbit/s %v", four, one)
	}
	if one != time("flow", 1, 100*units.Gbps) {
		t.Error("by one link it does not matter how paths are chosen")
	}
	if r := float64(time("flow", 4, 25*units.Gbps)) / float64(one); math.Abs(r-4) > 0.1 {
		t.Errorf("by one of four links of 25 Gbit/s a flow takes %.2f times as long as by one of 100 Gbit/s", r)
	}
}

// In an empty network a flow takes the best of the paths with the fewest links, each as if there were no other, in
// whatever order the links are in the file.
func TestIdealTimeIsTheBestPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		link := rapid.Custom(func(t *rapid.T) fabric.Link {
			return fabric.Link{
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
		time := func(stages [][][]fabric.Link) units.Time {
			p := topology.New()
			a, at := p.Host("A"), p.Switch("x", "S")
			p.Connect(a, at, fabric.Link{Rate: 100 * units.Gbps})
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
			p.Connect(at, b, fabric.Link{Rate: 100 * units.Gbps})
			return newIdeal(e, p).time(a, b, size, 0)
		}
		ack := func(stages [][][]fabric.Link) units.Time {
			access := fabric.Link{Rate: 100 * units.Gbps}
			sum := 2 * access.Serialize(ackBytes)
			for _, stage := range stages {
				for _, l := range stage[0] {
					sum += l.Delay + l.Serialize(ackBytes)
				}
			}
			return sum
		}
		there, back := units.Time(math.MaxInt64), units.Time(math.MaxInt64)
		var choose func(chosen, rest [][][]fabric.Link)
		choose = func(chosen, rest [][][]fabric.Link) {
			if len(rest) == 0 {
				there, back = min(there, time(chosen)-ack(chosen)), min(back, ack(chosen))
				return
			}
			for _, links := range rest[0] {
				choose(append(slices.Clone(chosen), [][]fabric.Link{links}), rest[1:])
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

// What was asked for before does not change an answer: sizes, limits and pairs of hosts at random, far more than are
// kept.
func TestIdealTimesDoNotDependOnEachOther(t *testing.T) {
	p := topology.New()
	at := p.Switch("x", "S")
	for i := range 6 { // the link of each is another
		rate := []units.Rate{10, 25, 100}[i%3] * units.Gbps
		p.Connect(p.Host("H%d", i), at, fabric.Link{Rate: rate, Delay: units.Time(i/3+1) * units.Microsecond})
	}
	e := &experiment.Experiment{}
	e.Parameters.Payload.Value = config.Set(units.Size(1000))
	hosts, random, asked := p.Hosts(), rand.New(rand.NewPCG(1, 1)), newIdeal(e, p)
	taken, again := map[int]idealOf{}, 0
	for range 20_000 {
		from := random.IntN(len(hosts))
		to := (from + 1 + random.IntN(len(hosts)-1)) % len(hosts)
		size := units.Size(1 + random.IntN(300))
		if random.IntN(2) == 0 {
			size = units.Size(1 + random.IntN(10_000_000))
		}
		limit := []units.Rate{0, units.Gbps, 2 * units.Gbps}[random.IntN(3)]
		got := asked.time(hosts[from], hosts[to], size, limit)
		if want := newIdeal(e, p).time(hosts[from], hosts[to], size, limit); got != want {
			t.Fatalf("%v from %d to %d, at most %v: %v, and when nothing else was asked for %v",
				size, from, to, limit, got, want)
		}
		of := idealOf{p.PairOf(hosts[from], hosts[to]), size, limit}
		if old, ok := taken[of.place()]; ok && old != of {
			again++
		}
		taken[of.place()] = of
	}
	if len(taken) < idealTimes/2 || again < 1000 {
		t.Errorf("%d places were taken, and %d times by another: too few to tell", len(taken), again)
	}
}
