package build

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"photon/fabric"
	"photon/units"
)

// impairedStar is two hosts that send to a third, and what is done on purpose on the way.
const impairedStar = `
id: test/impair
title: what is done on purpose to frames
duration: 2s
topology: {kind: star, hosts: 3}
parameters:
  link_rate: 10Gbps
  host_delay: 1us
  trunk_delay: 1us
  payload: 1000B
  mtu: 1500B
  priority: 3
  xoff: 20KB
  buffer: 12MB
  start_phase: 0s
flows:
  - {name: a, from: H0, to: H2, size: 1MB}
  - {name: b, from: H1, to: H2, size: 1MB}
schemes: [dcqcn]
impair:
  - {link: %s, rules: [%s]}
measure:
  sample: 10us
`

// impairedBy runs the star with rules on a link and returns what was done at its far end, and at which port.
func impairedBy(t *testing.T, link, rules string) (*Network, fabric.PortStats) {
	t.Helper()
	nodes := map[string]fabric.Node{}
	plain := Wrap
	defer func() { Wrap = plain }()
	Wrap = func(name string, node fabric.Node, _ []*fabric.Env) fabric.Node {
		nodes[name] = node
		return node
	}
	n, w, _ := built(t, fmt.Sprintf(impairedStar, link, rules))
	for now := 10 * units.Millisecond; now <= 2*units.Second; now += 10 * units.Millisecond {
		if err := w.Run(context.Background(), now); err != nil {
			t.Fatal(err)
		}
		if n.Collect(); n.Flows.At(0).Done && n.Flows.At(1).Done {
			break
		}
	}
	if err := w.Audit(); err != nil {
		t.Error(err)
	}
	_, to, _ := strings.Cut(link, ">")
	_, port, err := n.Plan.Port(to, strings.TrimSuffix(link, ">"+to))
	if err != nil {
		t.Fatal(err)
	}
	return n, nodes[to].Stats(w.Now()).Ports[port]
}

func TestImpairedLinks(t *testing.T) {
	for _, c := range []struct {
		link, rule string
		want       fabric.Impaired
	}{
		{"H0>S0", "{do: lose, packets: [3, 500]}", fabric.Impaired{Lost: 2}},
		{"H0>S0", "{do: lose, packets: [3], queue_pair: 2}", fabric.Impaired{}},
		{"H0>S0", "{do: lose, packets: [3], priority: 4}", fabric.Impaired{}},
		{"H0>S0", "{do: lose, packets: [3], from: 10.0.0.1, to: 10.0.0.3}", fabric.Impaired{Lost: 1}},
		{"S0>H2", "{do: duplicate, packets: [1, 7, 9]}", fabric.Impaired{Duplicated: 3}},
		{"S0>H2", "{do: reorder, packets: [10], behind: 2}", fabric.Impaired{Reordered: 1}},
		{"H0>S0", "{do: delay, packets: [10, 20], by: 50us}", fabric.Impaired{Delayed: 2}},
		{"H1>S0", "{do: corrupt, packets: [17]}", fabric.Impaired{CorruptedLost: 1}},
		{"H1>S0", "{do: mark, packets: [4]}", fabric.Impaired{Marked: 1}},
		{"S0>H0", "{do: lose, frames: ack, packets: [1]}", fabric.Impaired{Lost: 1}},
		{"S0>H0", "{do: lose, frames: xon, packets: [1]}", fabric.Impaired{Lost: 1}},
		{"S0>H0", "{do: lose, frames: cnp, packets: [1]}", fabric.Impaired{Lost: 1}},
		{"H2>S0", "{do: pause, priority: 3, every: 100us, stop: 300us}", fabric.Impaired{Pauses: 4}},
	} {
		n, st := impairedBy(t, c.link, c.rule)
		if st.Impaired != c.want {
			t.Errorf("%s %s: %+v, want %+v", c.link, c.rule, st.Impaired, c.want)
		}
		for i := range n.Flows.Len() {
			if f := n.Flows.At(i); !f.Done {
				t.Errorf("%s %s: flow %d has not ended", c.link, c.rule, i)
			}
		}
	}
}

// What is drawn is a matter of the seed: about a part of the frames, and the same ones again.
func TestImpairedAtRandom(t *testing.T) {
	_, a := impairedBy(t, "H0>S0", "{do: lose, frames: data, rate: 0.01}")
	_, b := impairedBy(t, "H0>S0", "{do: lose, frames: data, rate: 0.01}")
	if a.Impaired != b.Impaired || a.Impaired.Lost < 3 || a.Impaired.Lost > 60 {
		t.Errorf("%+v and %+v of 1000 packets and more", a.Impaired, b.Impaired)
	}
}

// What is held back for a while arrives that much later, though nothing else comes that would take it along.
func TestDelayedFrameLeavesByItself(t *testing.T) {
	for by, want := range map[string]units.Time{"1ns": units.Nanosecond, "50us": 50 * units.Microsecond} {
		ended := func(rule string) units.Time {
			n, w, _ := built(t, strings.NewReplacer("  - {name: b, from: H1, to: H2, size: 1MB}\n", "", "1MB", "3KB").
				Replace(fmt.Sprintf(impairedStar, "H0>S0", rule)))
			if err := w.Run(t.Context(), 10*units.Millisecond); err != nil {
				t.Fatal(err)
			}
			if n.Collect(); !n.Flows.At(0).Done {
				t.Errorf("delayed by %s the flow has not ended", by)
			}
			return n.Flows.At(0).End
		}
		rule := "{do: delay, packets: [3], by: " + by
		if got := ended(rule+"}") - ended(rule+", start: 1s}"); got != want {
			t.Errorf("the last packet is %s late, the flow ends %v later", by, got)
		}
	}
}
