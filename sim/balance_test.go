package sim

import (
	"math/rand/v2"
	"slices"
	"testing"

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

// What is moved is what makes two parts wait as long, and first what is far from its
// switch.
func TestWhatIsMoved(t *testing.T) {
	d := newDumbbell(t, "none", units.Microsecond) // hosts 0 to 2 at switch 6, 3 to 5 at switch 7
	d.SetParts(2)
	d.begin()
	s := d.parallel
	if d.members[0].part != d.members[6].part || d.members[3].part != d.members[7].part || d.members[6].part == d.members[7].part {
		t.Fatalf("%+v", d.members)
	}
	carry := func(frames uint32) {
		for i := range d.ports {
			d.ports[i].sent += frames
			d.ports[i].delivered += frames
		}
	}
	own, other := d.members[0].part, d.members[3].part
	wait := func(first, second float64) { s.idleShare[own], s.idleShare[other] = first, second }
	see := func(want ...int) {
		t.Helper()
		carry(100)
		from, to, marked := d.surplus()
		var got []int
		for i, m := range marked {
			if m {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, want) || len(got) > 0 && (s.idleShare[from] > s.idleShare[to]) {
			t.Fatalf("from %d to %d: nodes %v, not %v", from, to, got, want)
		}
		if len(got) > 0 {
			d.move(from, to, marked)
		}
	}
	wait(0.1, 0.1)
	see()
	wait(0, 0.3) // less than a host
	see()
	wait(0, 0.5) // one: a host has a fifth of its part
	see(0)
	if d.members[0].part != other || d.members[0].env.Pool != d.parts[other].pool || d.ports[0].peer > otherPart || d.ports[d.members[6].first].peer > otherPart {
		t.Error("host 0 was not moved")
	}
	wait(0, 0.6)
	see(1)
	wait(0.4, 0) // back, and none of those that are at their switch
	see(0)
	wait(0.4, 0)
	see(1)
	wait(0.5, 0)
	see(3)
	if !slices.Equal(d.parts[0].exchange.owner, d.parts[1].exchange.owner) {
		t.Error("parts do not agree on whose ports are whose")
	}
}
