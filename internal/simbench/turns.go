package main

import (
	"fmt"
	"slices"
)

// step is one run of a turn.
type step struct {
	c     *testCase
	each  bool // acknowledge every packet
	cores int
}

// bare is the loop that says how fast the machine is, as a step of each turn.
var bare = step{c: &testCase{name: bareName}, cores: 1}

// plan is a turn: all cases on one core and, if there are two, on both. Each element is
// run by itself, or is two steps that alternate in slices of time (together.go).
//
// The machine's speed changes from one second to the next. So the ends of a growing
// network, of which processor time is compared, alternate, as do the bare loop and what is
// compared with ns-3. A run on two cores has its neighbour on one core beside it.
func plan(list []testCase, growth bool, cores int) [][]step {
	var order []*testCase
	for i := range list {
		order = append(order, &list[i])
	}
	var turn [][]step
	add := func(s step, steps ...step) { turn = append(turn, append([]step{s}, steps...)) }
	withBare := false
	for _, each := range []bool{false, true} {
		rest := order
		if last := len(order) - 1; growth && last > 0 {
			small, large := order[0], order[last]
			if cores > 1 {
				add(step{small, each, 2})
			}
			add(step{small, each, 1}, step{large, each, 1})
			if cores > 1 {
				add(step{large, each, 2})
			}
			rest = order[1:last]
		}
		for _, c := range rest {
			if each && c.ns3.hopsPerSecond > 0 && !withBare {
				withBare = true
				add(step{c, each, 1}, bare)
			} else {
				add(step{c, each, 1})
			}
			if cores > 1 {
				add(step{c, each, 2})
			}
		}
	}
	if !withBare {
		add(bare)
	}
	return turn
}

// takeTurns takes a turn so many times, and returns the runs of each step in their order.
// Every other turn goes backwards, so that nothing is always before something else.
//
// It ends with the first error of a run, or when two runs of a case differ in what
// happened, which no number of cores may change.
func takeTurns(turn [][]step, turns int, run func(steps []step, earlier map[step][]measured) ([]measured, error)) (map[step][]measured, error) {
	took := map[step][]measured{}
	hashes := map[step]string{} // by the step on one core
	turn = slices.Clone(turn)
	for range turns {
		for _, steps := range turn {
			made, err := run(steps, took)
			if err != nil {
				return nil, err
			}
			for i, s := range steps {
				one := s
				one.cores = 1
				if hash, ok := hashes[one]; ok && hash != made[i].Hash {
					return nil, fmt.Errorf("%s: two runs differ: trace hashes %s and %s", s.c.name, hash, made[i].Hash)
				}
				hashes[one] = made[i].Hash
				took[s] = append(took[s], made[i])
			}
		}
		slices.Reverse(turn)
	}
	return took, nil
}
