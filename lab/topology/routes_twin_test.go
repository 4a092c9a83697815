package topology

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/units"
)

// Routes are those of a slow twin, which asks of each switch, each host and each port by itself whether a shortest way
// goes there: in random networks, with and without links that are down.
func TestRoutesAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New()
		switches := rapid.IntRange(1, 7).Draw(t, "switches")
		for i := range switches {
			p.Switch("switch", "S%d", i)
		}
		link := fabric.Link{Rate: units.Gbps, Delay: units.Microsecond}
		some := func(what string) int { return rapid.IntRange(0, switches-1).Draw(t, what) }
		for range rapid.IntRange(0, 12).Draw(t, "trunks") {
			if a, b := some("a"), some("b"); a != b {
				p.Connect(a, b, link)
			}
		}
		for i := range rapid.IntRange(1, 8).Draw(t, "hosts") {
			h := p.Host("H%d", i)
			for range rapid.IntRange(1, 2).Draw(t, "NICs") {
				p.Connect(h, some("at"), link)
			}
		}
		down := Down{}
		for i := range p.Nodes {
			for k, e := range p.Nodes[i].Ends {
				if rapid.IntRange(0, 5).Draw(t, "down") == 0 {
					down[[2]int{i, k}], down[[2]int{e.Node, e.Port}] = true, true
				}
			}
		}
		got := p.RoutesOver(down, false)
		for i := range switches {
			for to := switches; to < len(p.Nodes); to++ {
				var want []uint16
				if here := hops(p, down, i, to, len(p.Nodes)); here > 0 {
					for k, e := range p.Nodes[i].Ends {
						if !down[[2]int{i, k}] && hops(p, down, e.Node, to, len(p.Nodes)) == here-1 {
							want = append(want, uint16(k))
						}
					}
				}
				if !reflect.DeepEqual(got[i][to], want) {
					t.Fatalf("from %s to %s by ports %v, and not %v", p.Nodes[i].Name, p.Nodes[to].Name, got[i][to], want)
				}
			}
		}
	})
}

// hops are the fewest links between two nodes, no more than so many, hosts on the way excepted; -1: there is no way.
func hops(p *Plan, down Down, from, to, most int) int {
	within := map[int]bool{from: true}
	for n := range most + 1 {
		if within[to] {
			return n
		}
		next := map[int]bool{}
		for at := range within {
			next[at] = true
			if p.Nodes[at].Host {
				continue
			}
			for k, e := range p.Nodes[at].Ends {
				if !down[[2]int{at, k}] {
					next[e.Node] = true
				}
			}
		}
		within = next
	}
	return -1
}
