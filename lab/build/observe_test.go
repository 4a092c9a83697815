package build

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/lab/experiment"
	"photon/pfc"
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

// Reports are in the order of time, of nodes and of ports, and those of a port as they came, even at one instant.
func TestReportsOfPausesAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type report struct {
			now        units.Time
			node, port int
		}
		var seen []report
		paused := map[[2]int]bool{}
		n := &Network{observer: Observer{Pause: func(now units.Time, node, port int, is bool) {
			if paused[[2]int{node, port}] == is {
				t.Fatalf("node %d, port %d: paused: %v, twice in a row", node, port, is)
			}
			paused[[2]int{node, port}] = is
			seen = append(seen, report{now, node, port})
		}}}
		const ports = 3
		for node := range 4 {
			n.pauses = append(n.pauses, &pauses{node: node, paused: make([]uint8, ports)})
		}
		frames := 0
		for range rapid.IntRange(1, 3).Draw(t, "rounds") {
			now := units.Time(0)
			for range rapid.IntRange(0, 200).Draw(t, "frames") {
				now += units.Time(rapid.IntRange(0, 1).Draw(t, "later"))
				node, port := rapid.IntRange(0, 3).Draw(t, "node"), rapid.IntRange(0, ports-1).Draw(t, "port")
				l, f := n.pauses[node], pfc.Frame{Enable: 1 << 3}
				if l.paused[port] == 0 {
					f.Quanta[3] = math.MaxUint16
				}
				l.add(now, port, f)
				frames++
			}
			seen = seen[:0:0]
			before := frames
			n.ReportPauses()
			if frames -= len(seen); frames != 0 {
				t.Fatalf("%d reports of %d", len(seen), before)
			}
			if !slices.IsSortedFunc(seen, func(a, b report) int {
				return cmp.Or(cmp.Compare(a.now, b.now), cmp.Compare(a.node, b.node), cmp.Compare(a.port, b.port))
			}) {
				t.Fatalf("not in order: %v", seen)
			}
		}
	})
}
