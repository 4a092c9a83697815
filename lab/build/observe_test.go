package build

import (
	"fmt"
	"slices"
	"testing"

	"photon/fabric"
	"photon/lab/experiment"
	"photon/sim"
	"photon/units"
)

// incast is hosts that all send to one, over a switch that must pause them.
const incast = `
id: test/incast
title: four at one
duration: 2ms
topology:
  kind: free
  nodes: [{name: S}, {name: R, host: true}, {name: A, host: true}, {name: B, host: true}]
  links: [{a: S, b: R}, {a: S, b: A}, {a: S, b: B}]
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
  - {name: a, from: A, to: R}
  - {name: b, from: B, to: R}
schemes: [none]
measure:
  sample: 10us
`

// Nodes that are observed are asked by the world itself, with nothing in between that takes them off their quick way,
// and they tell of the same pauses as their counters, no more than a millisecond later.
func TestPausesAreTold(t *testing.T) {
	e, err := experiment.Parse("incast.yaml", []byte(incast))
	if err != nil {
		t.Fatal(err)
	}
	Wrap = func(name string, node fabric.Node, _ []*fabric.Env) fabric.Node {
		if _, ok := node.(fabric.Server); !ok {
			t.Errorf("%s is a %T, which the world cannot ask in one step", name, node)
		}
		return node
	}
	defer func() { Wrap = func(_ string, node fabric.Node, _ []*fabric.Env) fabric.Node { return node } }()
	var seen []string
	stops := map[int]uint64{}
	w := sim.New()
	n, err := Build(e, w, e.Schemes[0], 1, Observer{Pause: func(now units.Time, node, port int, paused bool) {
		seen = append(seen, fmt.Sprintf("%020d", now))
		if late := w.Now() - now; late < 0 || late > units.Millisecond {
			t.Errorf("a pause at %v is told at %v", now, w.Now())
		}
		if paused {
			stops[node]++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	n.WatchPauses()
	if err := w.Run(t.Context(), e.Duration); err != nil {
		t.Fatal(err)
	}
	n.ReportPauses()
	if !slices.IsSorted(seen) {
		t.Error("pauses are not told in the order of time")
	}
	for node, h := range n.Hosts {
		egress := h.Stats(w.Now()).Ports[0].Egress
		begun := egress.Transitions[3] + uint64(egress.PausedNow>>3&1)
		if want := n.Plan.Nodes[node].Name != "R"; stops[node] != begun || begun > 0 != want {
			t.Errorf("%s was told to be paused %d times, and was %d times", n.Plan.Nodes[node].Name, stops[node], begun)
		}
	}
}
