package build

import (
	"fmt"
	"strings"
	"testing"

	"photon/units"
)

// fourWays is four hosts that each send to another, on switches with four equal paths, each of which carries one flow.
const fourWays = `
id: test/paths
title: four flows over four paths
duration: 100ms
topology: {kind: leaf-spine, tors: 2, hosts: 4, spines: 4}
parameters: {link_rate: 100Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1100B, priority: 3, xoff: 200KB, buffer: 32MB, start_phase: 0s, %s}
flows: [{name: all, from: H0..H3, to: H4..H7, size: 2MB}]
schemes: [none]
measure: {sample: 1ms}
`

func fourWaysOf(parameters string) string { return fmt.Sprintf(fourWays, parameters) }

// ideal is how long each flow takes if it has a path for itself: its packets, one after the other, and the way there
// and back.
const ideal = 2e6/1000*(1000+58+24+4)*8/100e9 + 8e-6

// repeatedIn is how many packets all flows of a network repeated: they sent so many more than they have.
func repeatedIn(n *Network, packets uint64) (sum uint64) {
	for i := range n.Flows.Len() {
		sum += n.Flows.At(i).Frames - packets
	}
	return sum
}

// lastEnd is when the last flow ended; every one must have.
func lastEnd(t *testing.T, n *Network) (end units.Time) {
	t.Helper()
	for i := range n.Flows.Len() {
		if !n.Flows.At(i).Done {
			t.Fatalf("flow %d has not ended", i)
		}
		end = max(end, n.Flows.At(i).End)
	}
	return end
}

// Packets that take all paths fill them all, if receivers place what comes early: the flows end when they would with
// paths of their own. Go-back-N repeats what was overtaken, and is slower. By the flow alone some paths are used twice.
func TestFlowsOverManyPaths(t *testing.T) {
	took := map[string]float64{}
	for _, c := range []struct {
		name, line string
	}{
		{"flow", "paths: flow"},
		{"turn", "paths: round_robin, recovery: selective"},
		{"random", "paths: random, recovery: selective, window: 500"},
		{"queue", "paths: queue, recovery: selective, window: 500"},
		{"flowlet", "paths: flowlet, flowlet_gap: 5us, recovery: selective"},
		{"by ports", "entropy: packet, recovery: selective, window: 500"},
		{"by ports of flowlets", "entropy: flowlet, flowlet_gap: 5us, recovery: selective"},
		{"go back", "paths: random"},
	} {
		n, w := ranTraining(t, fourWaysOf(c.line), 1, 100*units.Millisecond)
		took[c.name] = lastEnd(t, n).Seconds() / ideal
		again := repeatedIn(n, 2_000)
		if lost, _ := n.Lost(); lost > 0 {
			t.Errorf("%s: %d lost", c.name, lost)
		}
		if (again > 0) != (c.name == "go back") {
			t.Errorf("%s: %d packets were repeated", c.name, again)
		}
		one, _ := w.Hash()
		_, w = ranTraining(t, fourWaysOf(c.line), 3, 100*units.Millisecond)
		if three, _ := w.Hash(); one != three {
			t.Errorf("%s: other frames in three parts than in one", c.name)
		}
	}
	t.Logf("times as long as with a path each: %.3v", took)
	for _, name := range []string{"turn", "random", "queue", "by ports"} {
		if took[name] > 1.05 {
			t.Errorf("%s: %.3g times as long as with a path each", name, took[name])
		}
	}
	for _, name := range []string{"flow", "go back"} {
		if took[name] < 1.5 {
			t.Errorf("%s: %.3g times as long as with a path each only", name, took[name])
		}
	}
}

// Two spines of four have links of half the rate to the receivers' ToR: what goes there fills all links only if the two
// are chosen half as often.
func TestWeightedPaths(t *testing.T) {
	const uneven = `
id: test/uneven
title: uneven
duration: 100ms
topology:
  kind: free
  nodes: [{name: T0}, {name: T1}, {name: C0}, {name: C1}, {name: C2}, {name: C3}, {name: A, host: true}, {name: B, host: true}, {name: X, host: true}, {name: Y, host: true}]
  links:
  - {a: A, b: T0, rate: 75Gbps, delay: 1us}
  - {a: B, b: T0, rate: 75Gbps, delay: 1us}
  - {a: X, b: T1, rate: 75Gbps, delay: 1us}
  - {a: Y, b: T1, rate: 75Gbps, delay: 1us}
  - {a: T0, b: C0, rate: 50Gbps, delay: 1us}
  - {a: T0, b: C1, rate: 50Gbps, delay: 1us}
  - {a: T0, b: C2, rate: 50Gbps, delay: 1us}
  - {a: T0, b: C3, rate: 50Gbps, delay: 1us}
  - {a: C0, b: T1, rate: 25Gbps, delay: 1us}
  - {a: C1, b: T1, rate: 25Gbps, delay: 1us}
  - {a: C2, b: T1, rate: 50Gbps, delay: 1us}
  - {a: C3, b: T1, rate: 50Gbps, delay: 1us}
parameters: {link_rate: 75Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 64KB, buffer: 16MB, recovery: selective, window: 2000, %s}
flows: [{name: all, from: "A,B", to: "X,Y", size: 5MB}]
schemes: [none]
measure: {sample: 1ms}
`
	const ideal = 5e6 / 1000 * (1000 + 58 + 24 + 4) * 8 / 75e9
	took := map[string]float64{}
	for _, line := range []string{"entropy: packet", "entropy: packet, path_weights: capacity", "paths: round_robin, path_weights: capacity", "paths: random, path_weights: equal"} {
		n, w := ranTraining(t, fmt.Sprintf(uneven, line), 1, 100*units.Millisecond)
		took[line] = lastEnd(t, n).Seconds() / ideal
		one, _ := w.Hash()
		_, w = ranTraining(t, fmt.Sprintf(uneven, line), 3, 100*units.Millisecond)
		if three, _ := w.Hash(); one != three {
			t.Errorf("%s: other frames in three parts than in one", line)
		}
	}
	t.Logf("times as long as all links can carry it: %.3v", took)
	for line, times := range took {
		if even := !strings.Contains(line, "capacity"); even != (times > 1.2) || times < 1 || !even && times > 1.1 {
			t.Errorf("%s: %.3g times as long as all links can carry it", line, times)
		}
	}
}
