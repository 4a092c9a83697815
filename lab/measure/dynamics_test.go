package measure

import (
	"fmt"
	"math"
	"testing"

	"photon/lab/build"
	"photon/lab/experiment"
	"photon/sim"
	"photon/units"
)

// Senders that keep to a rate have it in every sample, from the first on.
func TestAggregateRateOfAConstantRateIsConstant(t *testing.T) {
	const sample = 10 * units.Microsecond
	for _, rtt := range []units.Time{0, sample, 3 * sample, 3*sample + 1} {
		d := &dynamics{e: &experiment.Experiment{}, rtt: rtt}
		d.e.Measure.Sample = sample
		for i := range 12 { // samples are taken from the end of the first span on
			d.time = append(d.time, units.Time(i+1)*sample)
			d.sent = append(d.sent, uint64(i+1)*1250)
			if got := math.Round(d.rate(i)); got != 1e9 {
				t.Errorf("round trips of %v, sample %d: %v bit/s", rtt, i, got)
			}
		}
	}
}

// begin lays out an experiment of one scheme, and what watches it. Its world has not run.
func begin(t *testing.T, text string) (*experiment.Experiment, *sim.World, *build.Network, *Watch) {
	t.Helper()
	e, err := experiment.Parse("dynamics.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	world := sim.New()
	n, err := build.Build(e, world, e.Schemes[0], 1, build.Observer{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Start(e, n)
	if err != nil {
		t.Fatal(err)
	}
	return e, world, n, w
}

// What is called steady is of its span and of nothing else, also if that begins with the run.
func TestSteadyIsOfItsSpan(t *testing.T) {
	const sample = 10 * units.Microsecond
	for _, span := range [][2]int{{0, 20}, {0, 1}, {3, 4}, {7, 20}} {
		from, to := span[0], span[1]
		text := fmt.Sprintf(`
id: test/steady
title: two senders, of which one begins late
duration: 200us
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3,
  xoff: 256KB, buffer: 16MB, start_phase: 0s}
flows: [{name: a, from: H0, to: H2}, {name: b, from: H1, to: H2, start: 100us}]
schemes: [none]
measure:
  {kind: dynamics, from: S0, to: H2, sample: 10us, steady: {from: %dus, to: %dus}, queue: {from: %[1]dus, to: %[2]dus}}
`, from*10, to*10)
		e, world, n, w := begin(t, text)
		node, port, err := n.Plan.Port("S0", "H2")
		if err != nil {
			t.Fatal(err)
		}
		received, queue := [][2]float64{{}}, []float64{0} // by sample, from 0 on
		world.Every(sample, func(units.Time) {
			received = append(received, [2]float64{float64(n.Received(0)), float64(n.Received(1))})
			queue = append(queue, float64(n.Switches[node].QueueBytes(port, 3)))
		})
		if err := world.Run(t.Context(), e.Duration); err != nil {
			t.Fatal(err)
		}
		w.Finish()
		m := w.Metrics()
		a, b, mean := received[to][0]-received[from][0], received[to][1]-received[from][1], 0.0
		for _, q := range queue[from+1 : to+1] {
			mean += q / float64(to-from)
		}
		goodput := (a + b) * 8 / (units.Time(to-from) * sample).Seconds()
		want := map[string]float64{
			"goodput_bps": goodput, "steady_queue_bytes_mean": mean, "jain": (a + b) * (a + b) / 2 / (a*a + b*b),
		}
		for name, want := range want {
			if got := m[name]; a+b == 0 || got == nil || math.Abs(*got-want) > 1e-9*want {
				t.Errorf("samples %v: %s %s, not %v", span, name, experiment.Number(got, ""), want)
			}
		}
	}
}

// The overload is over when the senders fit into the bottleneck, whatever the rate of the hosts' links.
func TestOverloadIsOfTheBottleneck(t *testing.T) {
	const text = `
id: test/capacity
title: two senders, and a trunk of another rate
duration: 200us
topology: {kind: dumbbell, pairs: 2}
parameters: {link_rate: 10Gbps, trunk_rate: %dGbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B,
  priority: 3, xoff: 1MB, buffer: 16MB, start_phase: 0s}
flows: [{name: f, from: H0..H1, to: R0..R1, rate: 4Gbps}]
schemes: [none]
measure: {kind: dynamics, from: S0, to: S1, sample: 10us, steady: {from: 0s, to: 200us}, queue: {from: 0s, to: 200us}}
`
	for trunk, over := range map[int]bool{5: false, 9: true, 40: true} {
		e, world, _, w := begin(t, fmt.Sprintf(text, trunk))
		if err := world.Run(t.Context(), e.Duration); err != nil {
			t.Fatal(err)
		}
		w.Finish()
		if at := w.Metrics()["aggregate_rate_converged_s"]; (at != nil) != over {
			t.Errorf("8 Gbit/s into %d Gbit/s: the overload is over at %s", trunk, experiment.Number(at, "s"))
		}
	}
}

// A flow that ends after the last sample has ended, too; a probe of each flow has a column for each, with a number for
// each sample.
func TestWhatEndsAfterTheLastSample(t *testing.T) {
	e, world, n, w := begin(t, `
id: test/last
title: two flows, of which one ends in the last sample and one after it
duration: 95us
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3,
  xoff: 256KB, buffer: 16MB, start_phase: 0s}
flows: [{name: a, from: H0, to: H2, size: 10KB}, {name: b, from: H1, to: H2, size: 10KB, start: 75us}]
schemes: [none]
measure:
  sample: 20us
  probes: [{name: r, kind: received, flows: ["*"], each: true}]
  metrics: [{name: done, do: completed}, {name: open, do: unfinished}]
`)
	if err := world.Run(t.Context(), e.Duration); err != nil {
		t.Fatal(err)
	}
	if n.Flows.At(1).Done {
		t.Fatal("the second flow ended before the last sample")
	}
	w.Finish()
	m := w.Metrics()
	if f := n.Flows.At(1); !f.Done || f.End <= 80*units.Microsecond || *m["done"] != 2 || *m["open"] != 0 {
		t.Errorf("%v and %v flows have ended and not; the second did at %v", *m["done"], *m["open"], f.End)
	}
	if got := w.Series.Columns("r"); len(w.Series.Time) != 4 || len(got) != 2 || len(w.Series.Column("r.2")) != 4 {
		t.Errorf("%d samples of %v", len(w.Series.Time), got)
	}
}

// The overload is over with the first sample, a round-trip time or more after the beginning, in which senders exceed
// the link by no more than a twentieth; the queue has drained when it first has ten packets or fewer since it was
// longest.
func TestDynamicsByHand(t *testing.T) {
	_, _, n, w := begin(t, `
id: test/hand
title: two senders
duration: 80us
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3,
  xoff: 256KB, buffer: 16MB, start_phase: 0s}
flows: [{name: a, from: H0, to: H2}]
schemes: [none]
measure: {kind: dynamics, from: S0, to: H2, sample: 10us, steady: {from: 0s, to: 80us}, queue: {from: 0s, to: 80us}}
`)
	d, err := watchDynamics(w.e, n)
	if err != nil {
		t.Fatal(err)
	}
	d.rtt, d.packet = 20*us, 1000
	for i, sample := range []struct {
		gbps  float64
		queue units.Size
		sent  uint64
	}{
		{9, 0, 1250}, {20, 50_000, 2500}, {15, 90_000, 2500}, {10.6, 60_000, 2500},
		{10.5, 10_001, 5000}, {9, 10_000, 5000}, {12, 90_000, 5000}, {10, 0, 5000},
	} {
		d.time = append(d.time, units.Time(i+1)*10*us)
		d.rates, d.queue = append(d.rates, sample.gbps*1e9), append(d.queue, sample.queue)
		d.sent = append(d.sent, sample.sent)
	}
	for i, want := range []float64{1e9, 1e9, 0.5e9, 0, 1e9, 1e9, 0, 0} { // over a round-trip time
		if got := d.rate(i); math.Abs(got-want) > 1 {
			t.Errorf("sample %d: %v bit/s, not %v", i, got, want)
		}
	}
	m := d.metrics()
	for name, want := range map[string]float64{"aggregate_rate_converged_s": 50e-6, "queue_drained_s": 60e-6} {
		if m[name] == nil || math.Abs(*m[name]-want) > 1e-12 {
			t.Errorf("%s: %s, not %v s", name, experiment.Number(m[name], "s"), want)
		}
	}
}
