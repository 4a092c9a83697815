package experiment

import (
	"fmt"
	"strings"
	"testing"

	"photon/config"
	"photon/lab/experiments"
	"photon/ratelimit"
	"photon/units"
)

func TestLoopWithoutParameters(t *testing.T) {
	if (&PILoop{Beta2: 1}).check() == nil || (*PILoop)(nil).check() == nil {
		t.Error("a loop without parameters has a margin")
	}
}

// fixed is a reaction point that cannot begin at a rate.
type fixed struct{ ratelimit.RP }

// A reaction point that cannot begin at a rate is not pinned to it for good without a word.
func TestBeginNeedsAReactionPointThatCan(t *testing.T) {
	e := &Experiment{Flows: []FlowGroup{{From: config.Set("H0"), To: config.Set("H1"), Begin: config.Set(units.Gbps)}}}
	for _, c := range []struct {
		rp  ratelimit.RP
		bad bool
	}{{fixed{}, true}, {ratelimit.Unlimited{}, false}, {&ratelimit.PCN{}, false}} {
		err := e.checkBegin("x", func(*ratelimit.Port) ratelimit.RP { return c.rp })
		if (err != nil) != c.bad {
			t.Errorf("%T: %v", c.rp, err)
		}
	}
}

// Only what is made of samples needs to be told how often to take one.
func TestSampleOnlyForSamples(t *testing.T) {
	good, err := experiments.Files.ReadFile("pcn/fig11.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(good), "\nmeasure:\n")
	if !ok {
		t.Fatal("there is no measure: in the file")
	}
	for measure, want := range map[string]string{
		"": "",
		"measure: {metrics: [{name: fct, do: fct}]}\n":                         "",
		"measure: {metrics: [{name: margin, do: unfinished}], sample: -1us}\n": "sample must be there",
		"measure: {metrics: [{name: stuck, do: deadlock, hold: 1ms}]}\n":       "sample must be there",
		"measure: {probes: [{name: queue, kind: queue, at: ['*']}]}\n":         "sample must be there",
		"measure: {kind: dynamics, from: S1, to: R1, steady: {}, queue: {}}\n": "sample must be there",
	} {
		e, err := Parse("x.yaml", []byte(before+"\n"+measure))
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", measure, err)
		case want == "" && (e.Measure.Sample <= 0 || e.Duration < e.Measure.Sample):
			t.Errorf("%q: a sample every %v of %v", measure, e.Measure.Sample, e.Duration)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %s", measure, err, want)
		}
	}
}

// The measurement of a bottleneck is of one port. Two switches that several links join have more than one.
func TestDynamicsAreOfOnePort(t *testing.T) {
	const text = `id: test/parallel
title: parallel links
duration: 1ms
topology: {kind: leaf-spine, tors: 2, hosts: 1, spines: 1, uplinks: %d}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3,
  xoff: 256KB, buffer: 16MB}
flows: [{name: a, from: H0, to: H1}]
schemes: [none]
measure: {kind: dynamics, from: T0, to: C0, sample: 10us, steady: {from: 0s, to: 1ms}, queue: {from: 0s, to: 1ms}}
`
	for links, want := range map[int]string{
		1: "<nil>",
		3: "x.yaml:9: bottleneck: 3 links lead from T0 to C0, and dynamics are of one port " +
			"(a probe queue at T0>C0 is of all)",
	} {
		if _, err := Parse("x.yaml", fmt.Appendf(nil, text, links)); fmt.Sprint(err) != want {
			t.Errorf("%d links: %v; want %s", links, err, want)
		}
	}
}

// A value of a metric is a number. Who gives it a unit, as every parameter has one, is told which unit it is in.
func TestValuesHaveNoUnit(t *testing.T) {
	for value, want := range map[string]string{
		"20KB":  `a number belongs here without the unit "KB" (sizes are in bytes, times in seconds, rates in bit/s)`,
		"1e3us": `a number belongs here without the unit "us" (sizes are in bytes, times in seconds, rates in bit/s)`,
		"much":  "a number belongs here",
	} {
		_, err := Parse("x.yaml", []byte("id: x\nmeasure:\n  metrics:\n  - {name: m, do: time_above, of: q, value: "+value+"}\n"))
		if err == nil || err.Error() != "x.yaml:4: "+want {
			t.Errorf("%s: %v, want %s", value, err, want)
		}
	}
}

// The unit of a metric is what its kind says of it: of the samples, which of a counter over a time are its growth per
// second, bytes as bits; of the counter; of its growth; or its own.
func TestUnits(t *testing.T) {
	e := &Experiment{}
	for _, name := range []string{"queue", "sent", "xoffs", "allowed"} {
		for suffix, over := range map[string]units.Time{"": 0, " over": units.Microsecond} {
			e.Measure.Probes = append(e.Measure.Probes, Probe{Name: name + suffix, Kind: config.Set(name), Over: over})
		}
	}
	for _, c := range [][3]string{
		{"mean", "queue", "B"}, {"p99", "sent", "B"}, {"mean", "sent over", "bit/s"}, {"max", "xoffs", ""},
		{"max", "xoffs over", "/s"}, {"last", "allowed", "bit/s"}, {"delta", "sent", "B"}, {"delta", "sent over", "B"},
		{"delta", "xoffs over", ""}, {"rate", "sent", "bit/s"}, {"rate", "xoffs", "/s"}, {"rate", "sent over", "bit/s"},
		{"max_at", "queue", "s"}, {"time_above", "sent over", "s"}, {"jain", "sent over", ""},
		{"lifetime", "xoffs", "s"},
	} {
		e.Measure.Metrics = []Metric{{Name: "m", Do: config.Set(c[0]), Of: config.Set(c[1])}}
		if got := e.Unit("m"); got != c[2] {
			t.Errorf("%s of %s: %q, not %q", c[0], c[1], got, c[2])
		}
	}
}
