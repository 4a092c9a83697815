package sim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"photon/fabric"
	"photon/units"
)

// moveAtRandom has parts give each other nodes at random, often, until what it returns is
// called.
func moveAtRandom() (end func()) {
	e, g, m, c := balanceEvery, imbalance, moveShare, chooseGroups
	r := rand.New(rand.NewPCG(1, 2))
	balanceEvery, imbalance, moveShare, strayed = 0, -1, 0, 0
	chooseGroups = func(w *World) (from, to int, marked []bool) {
		_, to, marked = c(w)
		clear(marked)
		if from = r.IntN(len(w.parts)); from == to {
			return from, to, marked
		}
		for i := range w.members {
			if m := &w.members[i]; m.group == i && m.part == from && r.IntN(3) == 0 {
				marked[i] = true
				strayed++
			}
		}
		return from, to, marked
	}
	return func() { balanceEvery, imbalance, moveShare, chooseGroups = e, g, m, c }
}

var strayed int // nodes, at random

// What is moved makes two parts have as much to do for a side, and is first what is far from its switch.
func TestWhatIsMoved(t *testing.T) {
	d := newDumbbell(t, "none", units.Microsecond) // hosts 0 to 2 at switch 6, 3 to 5 at switch 7
	d.SetParts(2)
	d.begin()
	if d.members[0].part != d.members[6].part || d.members[3].part != d.members[7].part || d.members[6].part == d.members[7].part {
		t.Fatalf("%+v", d.members)
	}
	// Hosts 0 to 2 and switch 7 are on one side. A host counts for half as much as a switch of four ports.
	own, other, side := d.members[0].part, d.members[3].part, d.members[0].side
	const any = 0.3 // what both have to do for the other side
	see := func(first, second float64, want ...int) {
		t.Helper()
		for part, share := range map[int]float64{own: first, other: second} {
			busy := &d.parallel.loads[part].busyShare
			busy[side], busy[1-side] = share, any
		}
		seeMoved(t, d.World, want...)
	}
	see(0.5, 0.5)
	see(0.7, 0.3)    // less than a host
	see(0.8, 0.1, 0) // one: a host has a third of what its part has to do
	if d.members[0].part != other || d.members[0].env.Pool != d.parts[other].pool || d.ports[0].peer > otherPart || d.ports[d.members[6].first].peer > otherPart {
		t.Error("host 0 was not moved")
	}
	see(0.8, 0, 1)
	see(0.2, 0.8, 0) // back
	see(0.2, 0.8, 1)
	see(0, 0.8) // more than half of a switch
	side = 1 - side
	see(0.1, 0.9, 3) // hosts 3 to 5 are on this side
	if !slices.Equal(d.parts[0].exchange.owner, d.parts[1].exchange.owner) {
		t.Error("parts do not agree on whose ports are whose")
	}
}

// If only the switches of one part have much to do, one of them moves, and its host follows when hosts are to move.
func TestSwitchesMoveAndHostsFollow(t *testing.T) {
	w := New()
	w.SetParts(2)
	ch := chat{ports: []int{2, 2, 2, 2, 1, 1, 1, 1, 4}} // four leaves, their hosts, a spine
	for i, n := range ch.ports {
		envs := w.NewEnvs(n)
		w.Add("", ch.node(i, envs[0]), envs, make([]int, n))
	}
	for leaf := range 4 {
		for port, peer := range []fabric.End{end(4+leaf, 0), end(8, leaf)} {
			if err := w.Connect(end(leaf, port), peer, fabric.Link{Rate: rate, Delay: units.Microsecond}); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.begin()
	first := &w.members[0]
	own, other := first.part, 1-first.part
	if w.members[1].part != own || w.members[2].part != other || w.members[8].part != own {
		t.Fatalf("%+v", w.members)
	}
	// Hosts go with their switch if they can, switches with hosts last, and the spine, which has none, before.
	ranks := w.moveRanks()
	near, above := slices.Min(ranks[4:8]), ranks[8]
	if near != neighbourHost || above != bareSwitch || slices.Min(ranks[:4]) != leaf || above >= near || near >= leaf {
		t.Errorf("ranks %v", ranks)
	}
	w.parallel.loads[own].busyShare[first.side] = 0.8
	seeMoved(t, w, 0)
	if after := w.moveRanks(); after[4] != strayHost || after[5] != neighbourHost {
		t.Errorf("without the switch of host 4: ranks %v", after)
	}
	for part := range w.parallel.loads {
		w.parallel.loads[part].busyShare = [2]float64{}
	}
	w.parallel.loads[own].busyShare[1-first.side] = 0.8
	seeMoved(t, w, 4, 5) // 5 as well: the spine has as much to do as both
}

// seeMoved has all ports carry as much, and sees which nodes are to move then. They do.
func seeMoved(t *testing.T, w *World, want ...int) {
	t.Helper()
	for i := range w.ports {
		w.ports[i].sent += 100
		w.ports[i].delivered += 100
	}
	from, to, marked := w.surplus()
	var got []int
	for i, m := range marked {
		if m {
			got = append(got, i)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("from %d to %d: nodes %v, not %v", from, to, got, want)
	}
	if len(got) > 0 {
		w.move(from, to, marked)
	}
}
