package run

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"photon/config"
	"photon/dataplane"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/units"
)

// spoiler takes away the headroom of all ports of all switches.
type spoiler struct{ t *testing.T }

func (s spoiler) Watch(_ *experiment.Experiment, n *build.Network) {
	for _, node := range n.Switches {
		sw := node.(*dataplane.Switch)
		for port := range sw.Ports() {
			change, err := sw.PrepareLink(port, dataplane.LinkState{Up: true, Headroom: units.Byte})
			if err != nil {
				s.t.Fatal(err)
			}
			sw.SetLink(0, change)
		}
	}
}

func (spoiler) Encode() []byte { return nil }

// A run that lost a frame says which node, port and priority lost it, why, how many in
// all, and when the first.
func TestLossesAreNamed(t *testing.T) {
	e, err := experiment.Get("pcn/fig11")
	if err != nil {
		t.Fatal(err)
	}
	s := single{e: e, o: Options{World: "sim"}, use: e.Schemes[0], seed: 1, progress: func(float64) {}, watcher: spoiler{t}}
	r, err := s.run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	err = r.invariants.Err()
	want := regexp.MustCompile(`^frames were lost: the result is worth nothing \(([0-9]+) in all; \w+, port [0-9]+, priority 3: ([0-9]+) frames \(headroom\), the first at [0-9.]+[mu]s\)$`)
	if err == nil || !want.MatchString(err.Error()) {
		t.Errorf("%v", err)
	}
	sum := Invariants{ConservationOK: true}
	sum.add(&Invariants{ConservationOK: true})
	sum.add(&r.invariants)
	sum.add(&Invariants{LostFrames: 1, Why: "later"})
	if sum.LostFrames != r.invariants.LostFrames+1 || sum.ConservationOK || sum.Why != r.invariants.Why {
		t.Errorf("%+v", sum)
	}
	if err := (&Invariants{Why: "two are one"}).Err(); err == nil || !strings.Contains(err.Error(), "two are one") {
		t.Errorf("%v", err)
	}
}

// Acknowledgements of a flow that was stopped are still on their way then. That their sender does not know the flow any
// more is no loss.
func TestStoppedFlowsLoseNothing(t *testing.T) {
	e, err := experiment.Get("pcn/fig11")
	if err != nil {
		t.Fatal(err)
	}
	e.Duration = 5 * units.Millisecond
	e.Parameters.AckEach.Value = config.Set(true)
	e.Parameters.AckPriority.Value = config.Set(e.Parameters.Priority.Value.V)
	for i := range e.Flows {
		e.Flows[i].Stop = config.Set(3 * units.Millisecond)
	}
	r, err := runSingle(e, Options{World: "sim"}, e.Schemes[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.invariants.Err(); err != nil || r.hops == 0 {
		t.Errorf("%d hops: %v", r.hops, err)
	}
}

// Acknowledgements that switches discard are no lost frames, but a note says so: flows may never end for it.
func TestDiscardedAcknowledgementsAreNoted(t *testing.T) {
	const reserved = 2 * (20_000 + 3*1542 + 84 + 67*64 + 2500)
	for buffer, want := range map[int]bool{reserved: true, reserved + 100_000: false} {
		r := ran(t, fmt.Sprintf(`id: test/discarded
title: no room for acknowledgements
duration: 1ms
topology: {kind: star, hosts: 2}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us,
  payload: 1000B, mtu: 1500B, priority: 3, xoff: 20KB, buffer: %dB}
flows: [{name: f, from: H0, to: H1, size: 100KB}]
schemes: [none]
measure: {sample: 10us, metrics: [{name: open, do: unfinished, flows: [f]}]}
`, buffer))
		said := slices.ContainsFunc(r.notes, func(n string) bool {
			return strings.HasPrefix(n, "switches discarded 1 frame of a lossy priority for want of room")
		})
		if open := r.metrics["open"]; said != want || open == nil || (*open == 1) != want {
			t.Errorf("buffer %d: %q, %v", buffer, r.notes, open)
		}
	}
}

// Lossless frames that are discarded for what the experiment does on purpose are no lost frames, but a note says how
// many and for what: the headroom of a port whose XOFFs are lost, and what waited for a link that fails.
func TestExcusedDiscardsAreNoted(t *testing.T) {
	for _, c := range []struct{ besides, reason string }{
		{"impair: [{link: S0>H0, rules: [{do: lose, frames: xoff}]}]", "(headroom)"},
		{"impair: [{link: S0>H0, rules: [{do: lose, frames: cnp}]}]", ""},
		{"events: [{at: 1ms, link: S0>S1, rate: 0bps}]", "(link_down)"},
		{"", ""},
	} {
		r := ran(t, `id: test/excused
title: discards on purpose
duration: 2ms
topology: {kind: ring, switches: 3, hosts: 2}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us,
  payload: 1000B, mtu: 1500B, priority: 3, xoff: 20KB, buffer: 12MB}
flows: [{name: f, from: 'H0-0,H0-1', to: H1-0}]
schemes: [none]
measure: {sample: 10us}
`+strings.ReplaceAll(c.besides, "S0>H0", "S0>H0-0")+"\n")
		said := ""
		for _, n := range r.notes {
			if strings.HasPrefix(n, "switches discarded frames of lossless priorities because ") {
				said += n
			}
		}
		if r.invariants.LostFrames != 0 || (said != "") != (c.reason != "") || !strings.Contains(said, c.reason) {
			t.Errorf("%s: %d lost, notes %q", c.besides, r.invariants.LostFrames, r.notes)
		}
	}
}
