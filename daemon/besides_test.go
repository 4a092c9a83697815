package daemon

import (
	"slices"
	"testing"

	"photon/pfc"
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
	const alpha = "its limits of lossy priorities go by what is free of the buffer"
	const wred = "its queues of lossy priorities have WRED"
	for _, c := range []struct {
		port, lines string
		want        []string
	}{
		{"", "", nil},
		{"", "lossy_alpha: 0.5\n", []string{alpha}},
		{"", "lossy_ingress: {alpha: 0.5}\n", []string{alpha}},
		{"lossy_ingress: {alpha: 0.5}", "", []string{alpha}},
		{"", "queues: {6: {alpha: 2}}\n", []string{alpha}},
		{"", "queues: {6: {wred: {kmin: 30KB, kmax: 90KB, pmax: 1}}}\n", []string{wred}},
		{"queues: {6: {wred: {kmin: 30KB, kmax: 90KB, pmax: 1}}}", "lossy_alpha: 1\n", []string{alpha, wred}},
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

// An agent that repeats otherwise, or has several ports for a flow, is not what an experiment's hosts are on a testbed.
func TestWhatAnAgentDoesBesides(t *testing.T) {
	for lines, want := range map[string][]string{
		"": nil, "recovery: selective\n": {"it repeats only what is lost"},
		"recovery: selective\nentropy: packet\n": {"it repeats only what is lost", "it has UDP source ports by packet"},
	} {
		if _, n := agentOf(t, lines); !slices.Equal(agentBesides(&n.Config), want) {
			t.Errorf("%q: %q", lines, agentBesides(&n.Config))
		}
	}
}
