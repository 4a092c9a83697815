package topology

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/units"
)

// The k-th NIC of a host is on the k-th rail of its pod, or in the k-th plane, and flows between two hosts take their
// NICs in turn, each to that of the same number: in a pod over one switch, else over three, and never into another
// plane.
func TestNICsAreOnTheirRailsAndPlanes(t *testing.T) {
	l := link(1)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
		nics, groups := draw("nics", 2, 4), draw("groups", 1, 3)
		each, spines := draw("hosts", 2, 3), draw("spines", 1, 3)
		rail := rapid.Bool().Draw(t, "rail")
		var p *Plan
		var tor func(k, group int) int
		switches, cables := 0, nics*groups*each+nics*groups*spines
		if rail {
			p = Rails(RailSize{Pods: groups, Hosts: each, NICs: nics, Spines: spines}, l, l)
			tor, switches = func(k, pod int) int { return pod*nics + k }, groups*nics+spines
		} else {
			p = Planes(PlaneSize{NICs: nics, ToRs: groups, Hosts: each, Spines: spines}, l, l)
			tor, switches = func(k, t int) int { return k*groups + t }, nics*(groups+spines)
		}
		if err := numbered(p); err != nil {
			t.Fatal(err)
		}
		ends := p.Endpoints()
		if len(p.Hosts()) != groups*each || len(ends) != groups*each*nics ||
			len(p.Nodes)-len(ends) != switches || len(p.Cables) != cables {
			t.Fatalf("%d hosts, %d NICs, %d nodes, %d cables", len(p.Hosts()), len(ends), len(p.Nodes), len(p.Cables))
		}
		if !p.Several() || p.Capacity(p.Hosts()[:1]) != units.Rate(nics)*l.Rate {
			t.Fatalf("a host's links carry %v", p.Capacity(p.Hosts()[:1]))
		}
		for h := range groups * each {
			for k := range nics {
				name := fmt.Sprintf("H%d.%d", h, k)
				if k == 0 {
					name = fmt.Sprintf("H%d", h)
				}
				at, ok := p.Find(name)
				if !ok || len(p.Nodes[at].Ends) != 1 || p.NICs(p.Hosts()[h])[k] != at {
					t.Fatalf("no NIC %s at host %d", name, h)
				}
				if host, number := p.HostOf(at); host != p.Hosts()[h] || number != k {
					t.Fatalf("%s is NIC %d of %d", name, number, host)
				}
				if to, want := p.Nodes[p.Nodes[at].Ends[0].Node].Name, fmt.Sprintf("T%d", tor(k, h/each)); to != want {
					t.Fatalf("%s is on %s, not on %s", name, to, want)
				}
			}
		}
		a, b := draw("from", 0, groups*each-1), draw("to", 0, groups*each-2)
		if b >= a {
			b++
		}
		from, to := p.Hosts()[a], p.Hosts()[b]
		links := 4
		if a/each == b/each {
			links = 2
		}
		for turn := range 3 * nics {
			x, y := p.Pick(from, to, turn)
			if k := turn % nics; x != p.NICs(from)[k] || y != p.NICs(to)[k] || len(p.Path(x, y)) != links {
				t.Fatalf("turn %d: %s to %s over %d links", turn, p.Nodes[x].Name, p.Nodes[y].Name, len(p.Path(x, y)))
			}
			pinned := p.NICs(from)[1]
			if x, y := p.Pick(Pinned(pinned), Pinned(p.NICs(to)[1]), turn); x != pinned || y != p.NICs(to)[1] {
				t.Fatalf("pinned NICs: %s to %s", p.Nodes[x].Name, p.Nodes[y].Name)
			}
		}
		if !rail && p.Path(p.NICs(from)[0], p.NICs(to)[1]) != nil {
			t.Fatal("a plane leads into another")
		}
	})
}

// Where no NICs of equal numbers are nearest to each other, all nearest pairs take turns.
func TestNICsThatAreNearest(t *testing.T) {
	p := New()
	a, b, c := p.Switch("x", "A"), p.Switch("x", "B"), p.Switch("x", "C")
	h, g := p.Host("H"), p.Host("G")
	p.Connect(a, b, link(1))
	p.Connect(b, c, link(1))
	p.Connect(h, a, link(1)) // H on A and B, G on B and C: H.1 and G share a switch
	p.Connect(h, b, link(1))
	p.Connect(g, b, link(1))
	p.Connect(g, c, link(1))
	for turn := range 3 {
		if x, y := p.Pick(h, g, turn); x != p.NICs(h)[1] || y != g {
			t.Errorf("turn %d: %s to %s", turn, p.Nodes[x].Name, p.Nodes[y].Name)
		}
	}
	if x, y := p.Pick(Pinned(h), g, 0); x != h || y != g { // which cannot take the nearer one
		t.Errorf("pinned: %s to %s", p.Nodes[x].Name, p.Nodes[y].Name)
	}
	one := Star(2, link(1))
	a, b = one.Hosts()[0], one.Hosts()[1]
	if x, y := one.Pick(a, b, 7); x != a || y != b || one.Several() {
		t.Error("hosts of one NIC each do not send from it")
	}
}

// In any network a switch's ports to a host are those that lead one link closer, of links that are up. Distances are
// worked out here from every node's to every other's.
func TestRoutesAreAllShortestPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New()
		n := rapid.IntRange(1, 6).Draw(t, "switches")
		for i := range n {
			p.Switch("x", "S%d", i)
		}
		for range rapid.IntRange(0, 12).Draw(t, "links") {
			a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
			if a != b {
				p.Connect(a, b, link(1))
			}
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "hosts") {
			l := fabric.Link{Rate: units.Rate(rapid.IntRange(1, 4).Draw(t, "rate")) * units.Gbps}
			h := p.Host("H%d", i)
			for range rapid.IntRange(1, 2).Draw(t, "NICs") {
				p.Connect(h, rapid.IntRange(0, n-1).Draw(t, "at"), l)
			}
		}
		down := Down{}
		for _, c := range p.Cables {
			if rapid.IntRange(0, 3).Draw(t, "down") == 0 {
				down[[2]int{c.A, c.APort}], down[[2]int{c.B, c.BPort}] = true, true
			}
		}
		routes := p.RoutesOver(down, false)
		for _, to := range p.Endpoints() {
			const far = 1000
			d := slices.Repeat([]int{far}, len(p.Nodes))
			d[to] = 0
			for range p.Nodes {
				for i, node := range p.Nodes {
					for port, e := range node.Ends {
						if !down.has(i, port) && (e.Node == to || !p.Nodes[e.Node].Host) {
							d[i] = min(d[i], d[e.Node]+1)
						}
					}
				}
			}
			for i, node := range p.Nodes {
				if node.Host {
					continue
				}
				var want []uint16
				for port, e := range node.Ends {
					if !down.has(i, port) && d[i] < far && d[e.Node] == d[i]-1 {
						want = append(want, uint16(port))
					}
				}
				if !slices.Equal(routes.Ports(i, to), want) {
					t.Fatalf("from %s to %s by %v, not %v", node.Name, p.Nodes[to].Name, routes.Ports(i, to), want)
				}
			}
		}
	})
}

// The hosts of figure 1 of PCN are called as there, and those of a switch with equal cables are equally far from all.
func TestNamesAndPairs(t *testing.T) {
	p := Compact(2, link(1), link(5))
	for name, on := range map[string]string{"H0": "S0", "H1": "S0", "R0": "S1", "R1": "S1", "H2": "S1", "H3": "S1"} {
		if _, _, err := p.Port(name, on); err != nil {
			t.Error(err)
		}
	}
	at := func(name string) int {
		i, _ := p.Find(name)
		return i
	}
	across := p.PairOf(at("H0"), at("R0"))
	if across != p.PairOf(at("H1"), at("H3")) || across == p.PairOf(at("H0"), at("H1")) {
		t.Error("pairs of hosts are alike if their switches and cables are")
	}
}

// A plan may begin with a host, as others' files do: its flows take turns as those of any other.
func TestNICsOfTheFirstNode(t *testing.T) {
	l := fabric.Link{Rate: units.Gbps}
	p := New()
	a, b := p.Host("A"), p.Host("B")
	s := p.Switch("switch", "S")
	for _, h := range []int{a, b, a, b} {
		p.Connect(h, s, l)
	}
	if a != 0 {
		t.Fatalf("A is node %d", a)
	}
	for _, pair := range [][2]int{{a, b}, {b, a}} {
		from, to := p.NICs(pair[0]), p.NICs(pair[1])
		for nth := range 4 {
			if x, y := p.Pick(pair[0], pair[1], nth); x != from[nth%2] || y != to[nth%2] {
				t.Errorf("flow %d from %d to %d: %d to %d", nth, pair[0], pair[1], x, y)
			}
		}
		if x, y := p.Pick(Pinned(from[1]), pair[1], 0); x != from[1] || y != to[1] {
			t.Errorf("from NIC 1 of %d to %d: %d to %d", pair[0], pair[1], x, y)
		}
	}
}
