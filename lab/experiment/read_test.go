package experiment

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"photon/lab/experiments"
	"photon/units"
)

func TestParseRefuses(t *testing.T) {
	good, err := experiments.Files.ReadFile("pcn/fig11.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"kind: dumbbell", "kind: torus", `topology "torus"`}, {"pairs: 3", "pairs: 0", "pairs of a dumbbell: 1 to 4096, not 0"},
		{"to: R2", "to: R9", `there is no host "R9"`}, {"to: R0", "to: S0", `there is no host "S0"`}, {"from: H0, to: R0", "from: H0, to: H0", "to itself"},
		{"name: dcqcn", "name: warp", `there is no scheme "warp"`}, {"value: 509KB", "value: 600KB", "is above xoff"}, {"value: 3,", "value: 9,", "there are 0 to 7"},
		{"kind: dynamics", "kind: vibes", `measurement "vibes"`}, {"  to: S1", "  to: S9", `S0 has no link to "S9"`},
		{"metric: goodput_bps", "metric: karma", "claim steady-rate"}, {"bound: at_most", "bound: mostly", "at_least or at_most"}, {"bound: at_most", "holds: at_most", "`holds` is called `bound` now"},
		{"id: pcn/fig11", "id: PCN/fig11", "only a-z"}, {"duration: 200ms", "duration: 20ms", "must lie within the duration"},
		{", source: \"7: PFC with XOFF = 512 KB in all experiments\"", "", "parameter xoff has no value or no source"}, {"seed: 1", "sead: 1", `unknown key "sead"`},
	} {
		text := strings.Replace(string(good), c.from, c.to, 1)
		if text == string(good) {
			t.Errorf("%q is not in the file", c.from)
		}
		if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.yaml:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.to, err)
		}
	}
}

// Times and sizes that stand in the file as they are have their lines too.
func TestParseRefusesWithLine(t *testing.T) {
	good, err := experiments.Files.ReadFile("pcn/fig11.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"duration: 200ms", "duration: 200mx", `time "200mx": unknown unit (write it like 10ms)`},
		{"duration: 200ms", "duration: 0ms", "duration must be there, and positive"},
		{"  sample: 10us", "  sample: 0us", "measure: sample must be there, and positive"},
		{"  steady: {from: 20ms, to: 60ms}", "  steady: {from: 20ms, to: 201ms}", "the span from 20ms to 201ms must lie within the duration and begin and end at a sample"},
	} {
		before, after, ok := strings.Cut(string(good), "\n"+c.from)
		if !ok {
			t.Fatalf("%q is not in the file", c.from)
		}
		want := fmt.Sprintf("x.yaml:%d: %s", strings.Count(before, "\n")+2, c.want)
		if _, err := Parse("x.yaml", []byte(before+"\n"+c.to+after)); err == nil || err.Error() != want {
			t.Errorf("%s: %v; want %s", c.to, err, want)
		}
	}
}

// Schemes whose packets say how fast links are work where each link's rate has a name, those between switches, too.
func TestRatesThatTelemetryCannotName(t *testing.T) {
	for trunk, named := range map[string]bool{"100Gbps": true, "400Gbps": true, "160Gbps": false, "12.5Gbps": false} {
		for _, scheme := range []string{"hpcc", "powertcp", "dcqcn"} {
			text := `id: my/trunks
title: trunks
duration: 1ms
topology: {kind: leaf-spine, tors: 2, hosts: 2, spines: 2}
parameters: {link_rate: 100Gbps, trunk_rate: ` + trunk + `, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B,
  priority: 3, xoff: 256KB, buffer: 16MB}
flows: [{from: H0, to: H2, size: 1MB}]
schemes: [` + scheme + `]
measure: {sample: 10us}
`
			_, err := Parse("x.yaml", []byte(text))
			want := "x.yaml:8: scheme " + scheme + ": telemetry cannot name a link's rate of " + trunk + " (it can 10Mbps, "
			if fits := named || scheme == "dcqcn"; fits != (err == nil) || !fits && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s with links of %s: %v", scheme, trunk, err)
			}
		}
	}
}

// What is wrong with a parameter of a scheme is said with its line, as it is of a switch's or an agent's file; what is
// wrong with several of them together, with the scheme's.
func TestLinesOfSchemeParameters(t *testing.T) {
	const head = `id: my/lines
title: lines
duration: 1ms
topology: {kind: star, hosts: 2}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 256KB,
  buffer: 16MB}
flows: [{from: H0, to: H1, size: 1MB}]
measure: {sample: 10us}
schemes:
- pcn
- name: dcqcn
  params:
    kmin: 5KB
`
	for params, want := range map[string]string{
		"    pmax: little\n":                       "14: scheme dcqcn, parameter pmax: ",
		"    pmax: 0.5\n    speed: 3\n":            "15: scheme dcqcn, parameter speed: there is no such parameter",
		"    pmax: {value: x, source: the test}\n": "14: scheme dcqcn, parameter pmax: ",
		"    kmax: 1KB\n":                          "11: scheme dcqcn: kmax 1KB is below kmin 5KB",
		"    kmax: 10KB\n    pmax: 1.5\n":          "15: scheme dcqcn: pmax 1.5 is not a probability",
		"    kmax: 10KB\n":                         "",
	} {
		_, err := Parse("x.yaml", []byte(head+params))
		if want != "" && (err == nil || !strings.HasPrefix(err.Error(), "x.yaml:"+want)) || want == "" && err != nil {
			t.Errorf("%q: %v, want line %s", params, err, want)
		}
	}
}

// A run in short may end before a whole one, but within no window in which something is measured.
func TestQuickKeepsWindows(t *testing.T) {
	for _, c := range []struct{ experiment, quick, want string }{
		{"pcn/fig11", "duration: 150ms", "quick: dynamics are measured until 200ms, and a run in short ends at 150ms"},
		{"pcn/fig11", "duration: 200ms", "quick: a run in short takes less than the whole 200ms, not 200ms"},
		{"pcn/fig11", "duration: -1ms", "quick: a run in short takes less than the whole 200ms, not -1ms"},
		{"pcn/fig11", "flows: -3", "quick: -3 flows"},
		{"af-qcn/fig10", "duration: 8500ms", "quick: metric f1_capped_bps is measured from 8s until 9s, and a run in short ends at 8.5s"},
		{"pcn/fig17", "duration: 100ms", "quick: metric queue_bytes_mean is measured from 100ms until 500ms, and a run in short ends at 100ms"},
		{"pcn/fig17", "duration: 101ms", ""}, // all its metrics end with the run
	} {
		good, err := experiments.Files.ReadFile(c.experiment + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		before, after, ok := strings.Cut(string(good), "\nquick: {repeat: 1")
		if !ok {
			t.Fatalf("%s: no quick", c.experiment)
		}
		_, after, _ = strings.Cut(after, "}")
		e, err := Parse("x.yaml", []byte(before+"\nquick: {repeat: 1, "+c.quick+"}"+after))
		want := fmt.Sprintf("x.yaml:%d: %s", strings.Count(before, "\n")+2, c.want)
		switch {
		case c.want != "" && (err == nil || err.Error() != want):
			t.Errorf("%s %s: %v; want %s", c.experiment, c.quick, err, want)
		case c.want == "" && (err != nil || e.InShort().Duration != e.Lasts(true) || e.Lasts(true) == e.Lasts(false)):
			t.Errorf("%s %s: %v", c.experiment, c.quick, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	good, _ := experiments.Files.ReadFile("pcn/fig11.yaml")
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := Parse("x.yaml", b); err == nil && e.ID == "" {
			t.Fatal("an experiment without a name")
		}
	})
}

// What a run can have missed: the end of its watch, less what must last.
func TestWatchedFor(t *testing.T) {
	for _, c := range []struct {
		experiment, metric string
		quick              bool
		want               float64
	}{
		{"pcn/fig11-settled", "settled_s", false, 0.190}, // of 200 ms, 20 round-trip times less
		{"pcn/fig11-settled", "settled_s", true, 0.140},  // of 150 ms, as set below
		{"pcn/fig2", "loss_s", false, 0.119},             // 220 ms, from 100 ms on, held for 1 ms
		{"pcn/fig11", "goodput_bps", false, 0},           // no time
	} {
		e, err := Get(c.experiment)
		if err != nil {
			t.Fatal(err)
		}
		if c.quick {
			e.Quick.Duration = 150 * units.Millisecond
		}
		if got := e.WatchedFor(c.metric, c.quick); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s %s: watched for %v s", c.experiment, c.metric, got)
		}
	}
}
