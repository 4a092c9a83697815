package run

import (
	"context"
	"slices"
	"testing"
)

// sprayed are flows whose sizes and times are drawn.
const sprayed = `
repeat: 2
measure:
  sample: 100us
  probes: [{name: queue, kind: queue, at: [S0>H2]}]
  metrics: [{name: most, do: max, of: queue}]
workloads:
  - {name: W, sizes: googlerpc, from: H0..H1, to: H2, load: 0.5, capacity: 10Gbps}
schemes: [dcqcn]
`

// repeats checks that so many seeds ran in a world, each with draws of its own.
func repeats(t *testing.T, world string, repeat int, want ...uint64) {
	t.Helper()
	o := Options{World: world, Seed: 5, Repeat: repeat, Dilation: 1}
	r, err := Replay(context.Background(), parse(t, sprayed), o)
	if err != nil {
		t.Fatal(err)
	}
	values := r.Runs[0].PerSeed["most"]
	if !slices.Equal(r.Seeds, want) || len(values) != len(want) {
		t.Fatalf("%s, repeat %d: seeds %v, values of %d, not of %v", world, repeat, r.Seeds, len(values), want)
	}
	for i := range values {
		for k := range i {
			if *values[i] == *values[k] {
				t.Errorf("%s: seeds %d and %d have the same queue", world, want[i], want[k])
			}
		}
	}
}

// An experiment runs with as many seeds as it says, unless more or fewer are asked for.
func TestRepeat(t *testing.T) {
	repeats(t, "sim", 0, 5, 6)
	repeats(t, "sim", 1, 5)
	repeats(t, "sim", 3, 5, 6, 7)
}
