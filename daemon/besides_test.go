package daemon

import (
	"slices"
	"testing"

	"photon/pfc"
	"photon/telemetry/node"
	"photon/units"
)

// A testbed is told what a switch does that those of experiments do not: the shapers of its ports, and of their queues,
// whichever is slower, and all else that its file has of this kind.
func TestWhatASwitchDoesBesides(t *testing.T) {
	x := newLinkedOf(t, `ports:
- device: 0000:03:00.0
  shaper: {rate: 4Gbps}
  queues: {5: {shaper: {rate: 6Gbps}}}
- device: 0000:03:00.1
  queues: {3: {shaper: {rate: 1Gbps}}}
  impair: {rules: [{do: lose, frames: data, rate: 0.01}]}
queues: {5: {shaper: {rate: 2Gbps}}}
weights: {1: 3, 2: 5}
pfc: {watchdog: {detect: 200ms, restore: 1s, action: drop}, over_subscribe_ratio: 1.5}
forwarding: {static: [{mac: '02:00:00:00:00:09', port: 1}]}
`)
	n := (&testbedNode{d: x.daemon}).Info()
	all := func(r units.Rate) (a [pfc.Classes]units.Rate) {
		for prio := range a {
			a[prio] = r * units.Gbps
		}
		return a
	}
	want := [][pfc.Classes]units.Rate{all(4), {3: units.Gbps, 5: 2 * units.Gbps}}
	if !slices.Equal(n.Shapers, want) {
		t.Errorf("%v, want %v", n.Shapers, want)
	}
	besides := []string{
		"its priorities have weights", "its ports share headroom",
		"its watchdog acts on pauses of 200ms", "frames are impaired on purpose",
	}
	if !slices.Equal(n.Besides, besides) {
		t.Errorf("%q, want %q", n.Besides, besides)
	}
	plain, _ := bed(t)
	if n := plain.Info(); len(n.Besides) != 0 || slices.ContainsFunc(n.Shapers, func(a [pfc.Classes]units.Rate) bool {
		return a != [pfc.Classes]units.Rate{}
	}) {
		t.Errorf("%q, %v", n.Besides, n.Shapers)
	}
}

// A switch that takes frames of one DSCP for another priority measures other queues than the experiment means.
func TestOtherPrioritiesAreSaid(t *testing.T) {
	const other = "its DSCPs have other priorities"
	for _, c := range []struct {
		port, lines string
		want        bool
	}{
		{"", "trust: dscp\ndscp_to_priority: {26: 3, 48: 6}\n", false},
		{"", "trust: pcp\n", false}, // agents send no tags
		{"", "trust: none\n", true},
		{"", "dscp_to_priority: {26: 4}\n", true},
		{"trust: none", "", true},
		{"trust: dscp", "trust: none\n", true}, // the other port
		{"dscp_to_priority: {26: 4}", "", true},
	} {
		port := ""
		if c.port != "" {
			port = "  " + c.port + "\n"
		}
		x := newLinkedOf(t, "ports:\n- device: 0000:03:00.0\n"+port+"- device: 0000:03:00.1\n"+c.lines+
			"forwarding: {static: [{mac: '02:00:00:00:00:09', port: 1}]}\n")
		if n := (&testbedNode{d: x.daemon}).Info(); slices.Contains(n.Besides, other) != c.want {
			t.Errorf("%q, %q: %q", c.port, c.lines, n.Besides)
		}
	}
}

// What a switch's file says of lossy priorities, acknowledgements and CNPs meet.
func TestWhatASwitchDoesWithLossyPriorities(t *testing.T) {
	const alpha = "lossy priorities have limits by what is free of the buffer at single ports or queues"
	const wred = "its queues of lossy priorities have WRED"
	for _, c := range []struct {
		port, lines string
		want        []string
	}{
		{"", "", nil},
		{"", "lossy_alpha: 0.5\n", nil}, // it says that by itself
		{"", "lossy_ingress: {alpha: 0.5}\n", []string{alpha}},
		{"lossy_ingress: {alpha: 0.5}", "", []string{alpha}},
		{"", "queues: {6: {alpha: 2}}\n", []string{alpha}},
		{"", "queues: {6: {wred: {kmin: 30KB, kmax: 90KB, pmax: 1}}}\n", []string{wred}},
		{"queues: {6: {wred: {kmin: 30KB, kmax: 90KB, pmax: 1}}}", "lossy_ingress: {alpha: 1}\n",
			[]string{alpha, wred}},
	} {
		port := ""
		if c.port != "" {
			port = "  " + c.port + "\n"
		}
		x := newLinkedOf(t, "ports:\n- device: 0000:03:00.0\n- device: 0000:03:00.1\n"+port+c.lines+
			"forwarding: {static: [{mac: '02:00:00:00:00:09', port: 1}]}\n")
		if n := (&testbedNode{d: x.daemon}).Info(); !slices.Equal(n.Besides, c.want) {
			t.Errorf("%q, %q: %q", c.port, c.lines, n.Besides)
		}
	}
	x := newLinkedOf(t, "ports:\n- device: 0000:03:00.0\n- device: 0000:03:00.1\n  lossy_ingress: {limit: 70KB}\n"+
		"lossy_queue: 300KB\nforwarding: {static: [{mac: '02:00:00:00:00:09', port: 1}]}\n")
	n := (&testbedNode{d: x.daemon}).Info()
	if n.LossyQueue != 300*units.KB || !slices.Equal(n.LossyIngress, []units.Size{0, 70 * units.KB}) {
		t.Errorf("%v, %v", n.LossyQueue, n.LossyIngress)
	}
}

// Of a switch an experiment learns how it chooses among equal paths, and what of its buffer is shared, and how; of an
// agent, how it repeats what is lost, and which of its packets have a source port of their own.
func TestWhatNodesSayOfPathsAndRepeats(t *testing.T) {
	const ports = "ports:\n- device: 0000:03:00.0\n- device: 0000:03:00.1\n"
	for lines, want := range map[string]node.Info{
		"": {Paths: "flow"}, "lossy_alpha: 0.5\nrouter: {paths: {by: random}}\n": {Paths: "random", LossyAlpha: 0.5},
		"router: {paths: {by: flowlet, gap: 50us}}\n": {Paths: "flowlet after 50us"},
	} {
		n := (&testbedNode{d: newLinkedOf(t, ports+"buffer: 9MB\n"+lines).daemon}).Info()
		a, b := n.Thresholds[0][3], n.Thresholds[1][3]
		want.Shared = 9*units.MB - (a.XOFF + a.Headroom + b.XOFF + b.Headroom)
		if n.Paths != want.Paths || n.LossyAlpha != want.LossyAlpha || n.Shared != want.Shared {
			t.Errorf("%q: %q, %v, %v: want %+v", lines, n.Paths, n.LossyAlpha, n.Shared, want)
		}
	}
	for lines, want := range map[string][2]string{
		"":                      {"", "flow"},
		"recovery: selective\n": {"512 under way, lost when 1 behind have come", "flow"},
		"recovery: selective\nwindow: 8\nreorder: 4\nlow_timeout: 1ms\nentropy: packet\n": {
			"8 under way, lost when 4 behind have come or after 1ms if no more than 3 are under way", "packet",
		},
		"recovery: selective\nentropy: flowlet\nflowlet_gap: 20us\n": {
			"512 under way, lost when 1 behind have come", "flowlet after 20us",
		},
	} {
		_, a := agentOf(t, lines)
		n := node.Info{}
		if aboutAgent(&n, &a.Config); n.Selective != want[0] || n.Entropy != want[1] {
			t.Errorf("%q: %q, %q", lines, n.Selective, n.Entropy)
		}
	}
}
