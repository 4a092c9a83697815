package topology

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/units"
)

// The shortest and the longest way are those of all paths with the fewest links, one by one, in whatever order the
// links were joined.
func TestWaysAreAllShortestPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New()
		a, b := p.Host("A"), p.Host("B")
		switches := rapid.IntRange(1, 7).Draw(t, "switches")
		for i := range switches {
			p.Switch("x", "S%d", i)
		}
		random := func() fabric.Link {
			return fabric.Link{
				Rate:  rapid.SampledFrom([]units.Rate{units.Gbps, 10 * units.Gbps}).Draw(t, "rate"),
				Delay: units.Time(rapid.IntRange(0, 3).Draw(t, "delay")) * units.Microsecond,
			}
		}
		p.Connect(a, 2, random())
		for range rapid.IntRange(0, 20).Draw(t, "links") {
			i, j := rapid.IntRange(0, switches-1).Draw(t, "i"), rapid.IntRange(0, switches-1).Draw(t, "j")
			if i != j {
				p.Connect(2+i, 2+j, random())
			}
		}
		p.Connect(1+switches, b, random())
		takes := func(i int, l fabric.Link) units.Time { return l.Delay + units.Time(i+1)*l.Serialize(1000) }
		links, least, most := math.MaxInt, units.Time(math.MaxInt64), units.Time(0)
		var walk func(at int, seen map[int]bool, n int, sum units.Time)
		walk = func(at int, seen map[int]bool, n int, sum units.Time) {
			switch {
			case n > links:
				return
			case at == b:
				if n < links {
					links, least, most = n, sum, sum
				}
				least, most = min(least, sum), max(most, sum)
				return
			}
			seen[at] = true
			for _, e := range p.Nodes[at].Ends {
				if !seen[e.Node] {
					walk(e.Node, seen, n+1, sum+takes(n, e.Link))
				}
			}
			delete(seen, at)
		}
		walk(a, map[int]bool{}, 0, 0)
		ways := p.Ways(a, b)
		if links == math.MaxInt {
			if ways != nil {
				t.Fatalf("nothing leads there, and there are %v", ways)
			}
			return
		}
		if len(ways) != links || ways.Shortest(takes) != least || ways.Longest(takes) != most {
			t.Fatalf("%d links, from %v to %v; there are %d, from %v to %v",
				len(ways), ways.Shortest(takes), ways.Longest(takes), links, least, most)
		}
	})
}

// Of links that are alike it is known how many there are: in a fat tree of 8 ports, up 1, 4, 16, and down again.
func TestWaysCountLinks(t *testing.T) {
	l := link(1)
	p := Clos(FatTree(8), l, l)
	hosts := p.Hosts()
	var counts []int
	for _, layer := range p.Ways(hosts[0], hosts[127]) {
		sum := 0
		for _, hop := range layer {
			sum += hop.Count
		}
		counts = append(counts, sum)
	}
	if want := []int{1, 4, 16, 16, 4, 1}; !slices.Equal(counts, want) {
		t.Errorf("%v links, not %v", counts, want)
	}
}

// All paths of a regular network are one.
func TestWaysOfARegularNetwork(t *testing.T) {
	l := link(1)
	p := Clos(FatTree(8), l, l)
	hosts := p.Hosts()
	for _, layer := range p.Ways(hosts[0], hosts[127]) {
		if len(layer) != 1 {
			t.Errorf("%v", layer)
		}
	}
}

// Links form a loop if there are more of them than it takes to connect the switches that are connected.
func TestLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New()
		n := rapid.IntRange(1, 6).Draw(t, "switches")
		for i := range n {
			p.Switch("x", "S%d", i)
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "hosts") { // their links are no part of a loop
			h := p.Host("H%d", i)
			p.Connect(h, rapid.IntRange(0, n-1).Draw(t, "at"), fabric.Link{Rate: units.Gbps})
		}
		links, near := 0, make([][]bool, n)
		for i := range near {
			near[i] = make([]bool, n)
			near[i][i] = true
		}
		for range rapid.IntRange(0, 6).Draw(t, "links") {
			i, j := rapid.IntRange(0, n-1).Draw(t, "i"), rapid.IntRange(0, n-1).Draw(t, "j")
			if i != j {
				p.Connect(i, j, fabric.Link{Rate: units.Gbps})
				near[i][j], near[j][i] = true, true
				links++
			}
		}
		for k := range n { // Warshall
			for i := range n {
				for j := range n {
					near[i][j] = near[i][j] || near[i][k] && near[k][j]
				}
			}
		}
		islands := 0
		for i := range n {
			if slices.Index(near[i], true) == i { // the first of those that are connected
				islands++
			}
		}
		if got, want := p.Loops(), links > n-islands; got != want {
			t.Fatalf("%d switches, %d links, %d islands: loops %v", n, links, islands, got)
		}
	})
}
