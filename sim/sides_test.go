package sim

import (
	"context"
	"slices"
	"testing"

	"photon/fabric"
	"photon/units"
)

// A network has two sides if no way around has an odd number of links. Every node is then on one of them, and if it has
// links, on the other side than its neighbours.
func TestSides(t *testing.T) {
	for name, c := range map[string]struct {
		nodes int
		links [][2]int
		want  [2][]int32 // both empty: there are none
	}{
		"line":               {4, [][2]int{{0, 1}, {1, 2}, {2, 3}}, [2][]int32{{0, 2}, {1, 3}}},
		"star":               {5, [][2]int{{0, 4}, {1, 4}, {2, 4}, {3, 4}}, [2][]int32{{0, 1, 2, 3}, {4}}},
		"two leaves, spines": {4, [][2]int{{0, 2}, {0, 3}, {1, 2}, {1, 3}}, [2][]int32{{0, 1}, {2, 3}}},
		"ring of four":       {4, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}}, [2][]int32{{0, 2}, {1, 3}}},
		"two networks":       {5, [][2]int{{0, 1}, {3, 2}}, [2][]int32{{0, 2, 4}, {1, 3}}},
		"parallel links":     {2, [][2]int{{0, 1}, {1, 0}}, [2][]int32{{0}, {1}}},
		"ring of three":      {3, [][2]int{{0, 1}, {1, 2}, {2, 0}}, [2][]int32{}},
		"ring of five":       {6, [][2]int{{5, 0}, {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}, [2][]int32{}},
		"to itself":          {2, [][2]int{{0, 1}, {1, 1}}, [2][]int32{}},
	} {
		w := New()
		ch := chat{ports: make([]int, c.nodes)}
		for _, l := range c.links {
			ch.ports[l[0]]++
			ch.ports[l[1]]++
		}
		for i, n := range ch.ports {
			envs := w.NewEnvs(n)
			w.Add("", ch.node(i, envs[0]), envs, make([]int, n))
		}
		used := make([]int, c.nodes)
		place := func(node int) fabric.End {
			used[node]++
			return end(node, used[node]-1)
		}
		for _, l := range c.links {
			if err := w.Connect(place(l[0]), place(l[1]), fabric.Link{Rate: rate, Delay: units.Microsecond}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Run(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
		var got [2][]int32
		if w.sides != nil {
			for side := range got {
				got[side] = slices.Sorted(slices.Values(slices.Concat(w.sides.nodes[quarterOf(side, border)], w.sides.nodes[quarterOf(side, interior)])))
			}
		}
		if !slices.Equal(got[0], c.want[0]) || !slices.Equal(got[1], c.want[1]) {
			t.Errorf("%s: sides %v, want %v", name, got, c.want)
		}
	}
}

// A node is visited for two delays at a time, once the sides take turns; and not for more, since what it sends may be
// answered then.
func TestVisitsOfSidesLastTwoDelays(t *testing.T) {
	const delay = units.Microsecond
	w := New()
	var visits [2][]units.Time // by node: the instants at which a visit of it began
	last := -1
	for i := range 2 {
		envs := w.NewEnvs(1)
		w.Add("", &ticker{env: envs[0], every: delay / 10, visited: func(now units.Time) {
			if i != last {
				visits[i] = append(visits[i], now)
			}
			last = i
		}}, envs, []int{0})
		envs[0].Wake(0, 0)
	}
	if err := w.Connect(end(0, 0), end(1, 0), fabric.Link{Rate: rate, Delay: delay}); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(context.Background(), 21*delay); err != nil {
		t.Fatal(err)
	}
	for i, list := range visits {
		if len(list) < 8 {
			t.Fatalf("node %d was visited %d times", i, len(list))
		}
		for k := 2; k < len(list)-1; k++ {
			if took := list[k] - list[k-1]; took != 2*delay {
				t.Errorf("node %d, visit %d: %v, want %v", i, k, took, 2*delay)
			}
		}
	}
}

// ticker is a node that asks to be called at regular instants, and sends nothing.
type ticker struct {
	chatter
	env     *fabric.Env
	every   units.Time
	visited func(now units.Time)
}

func (c *ticker) Receive(units.Time, int, []fabric.Frame) {}

func (c *ticker) Transmit(now units.Time, _ int, _ []fabric.Frame) int {
	c.visited(now)
	return 0
}

func (c *ticker) Next(now units.Time, _ int) units.Time { return now + c.every }
