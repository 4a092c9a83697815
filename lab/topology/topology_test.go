package topology

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

func link(delay units.Time) fabric.Link { return fabric.Link{Rate: units.Gbps, Delay: delay} }

// Routes lead on shortest paths, by all ports of equal cost.
func TestRoutes(t *testing.T) {
	p := New()
	a, b := p.Switch("x", "A"), p.Switch("x", "B")
	m, n := p.Switch("x", "M"), p.Switch("x", "N")
	h, g := p.Host("H"), p.Host("G")
	p.Connect(h, a, link(1))
	p.Connect(a, m, link(10))
	p.Connect(a, n, link(10))
	p.Connect(m, b, link(10))
	p.Connect(n, b, link(10))
	p.Connect(b, g, link(3))
	r := p.Routes()
	if !slices.Equal(r.Ports(a, g), []uint16{1, 2}) || !slices.Equal(r.Ports(m, g), []uint16{1}) ||
		!slices.Equal(r.Ports(b, g), []uint16{2}) || p.Delay(h, g) != 24 {
		t.Errorf("%v, %v", r, p.Delay(h, g))
	}
	if _, _, err := p.Port("A", "G"); err == nil {
		t.Error("A has a link to G")
	}
	if !p.Remove("A", "M") || p.Remove("A", "G") || !slices.Equal(p.Routes().Ports(a, g), []uint16{1}) {
		t.Errorf("without A-M: %v", p.Routes().Ports(a, g))
	}
}

// Every generator yields a network in which every host reaches every other, and
// whose ports know each other.
func TestGenerators(t *testing.T) {
	l := link(1)
	for name, c := range map[string]struct {
		p        *Plan
		hosts    int
		switches int
		diameter int // links between the hosts that are farthest apart
	}{
		"dumbbell":    {Dumbbell(3, l, l), 6, 2, 3},
		"star":        {Star(9, l), 9, 1, 2},
		"compact":     {Compact(14, l, l), 18, 2, 3},
		"parking lot": {ParkingLot(4, l, l), 10, 5, 6},
		"chain":       {Chain(5, 2, l, l), 10, 5, 6},
		"ring":        {Ring(4, 2, l, l), 8, 4, 4},
		"clos":        {Clos(ClosSize{Pods: 8, ToRs: 4, Leafs: 2, Hosts: 16, Spines: 8, Uplinks: 2}, l, l), 512, 56, 6},
		"fat tree":    {Clos(ClosSize{Pods: 5, ToRs: 4, Leafs: 4, Hosts: 16, Spines: 16, Uplinks: 1, Grouped: true}, l, l), 320, 56, 6},
		"leaf-spine":  {Clos(ClosSize{Pods: 1, ToRs: 4, Hosts: 16, Spines: 4, Uplinks: 1}, l, l), 64, 8, 4},
	} {
		hosts := c.p.Hosts()
		if len(hosts) != c.hosts || len(c.p.Nodes)-len(hosts) != c.switches {
			t.Errorf("%s: %d hosts, %d switches", name, len(hosts), len(c.p.Nodes)-len(hosts))
		}
		far := 0
		for _, h := range hosts[1:] {
			path := c.p.Path(h, hosts[0])
			if path == nil {
				t.Fatalf("%s: %s cannot reach %s", name, c.p.Nodes[h].Name, c.p.Nodes[hosts[0]].Name)
			}
			far = max(far, len(path))
		}
		if far != c.diameter {
			t.Errorf("%s: %d links at most, not %d", name, far, c.diameter)
		}
		if err := numbered(c.p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i, n := range c.p.Nodes {
			if n.Host && len(n.Ends) != 1 {
				t.Errorf("%s: %s has %d links", name, n.Name, len(n.Ends))
			}
			for port, e := range n.Ends {
				if back := c.p.Nodes[e.Node].Ends[e.Port]; back.Node != i || back.Port != port {
					t.Errorf("%s: port %d of %s is not its peer's peer", name, port, n.Name)
				}
			}
		}
	}
}

// What is taken away are all links between two nodes and no others, whose order stays.
func TestRemoveTakesThatLinkOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, n := New(), rapid.IntRange(2, 5).Draw(t, "nodes")
		for i := range n {
			p.Switch("x", "S%d", i)
		}
		var want []string
		a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
		for i := range rapid.IntRange(0, 12).Draw(t, "links") {
			x, y := rapid.IntRange(0, n-1).Draw(t, "x"), rapid.IntRange(0, n-1).Draw(t, "y")
			if x == y {
				continue
			}
			p.Connect(x, y, link(units.Time(i)))
			if min(x, y) != min(a, b) || max(x, y) != max(a, b) {
				want = append(want, fmt.Sprint(x, y, i))
			}
		}
		all := len(p.Cables)
		for _, names := range [][2]string{{"S1", "nobody"}, {"nobody", "S1"}, {"nobody", "nobody"}} {
			if p.Remove(names[0], names[1]) || len(p.Cables) != all {
				t.Fatalf("%v were joined", names)
			}
		}
		removed := p.Remove(p.Nodes[a].Name, p.Nodes[b].Name)
		var left []string
		for _, c := range p.Cables {
			left = append(left, fmt.Sprint(c.A, c.B, int(c.Link.Delay)))
		}
		if !slices.Equal(left, want) || removed != (len(want) < all) {
			t.Fatalf("without %d-%d: %v, not %v", a, b, left, want)
		}
	})
}

// A ring has as many links between switches as switches, two at each, and none whose loss divides it.
func TestRingIsWholeWithoutALink(t *testing.T) {
	for n := 3; n < 7; n++ {
		for i := range n {
			p := Ring(n, 1, link(1), link(2))
			for k := range n {
				if at, _ := p.Find(fmt.Sprintf("S%d", k)); len(p.Nodes[at].Ends) != 3 {
					t.Fatalf("%d switches: S%d has %d links", n, k, len(p.Nodes[at].Ends))
				}
			}
			if !p.Remove(fmt.Sprintf("S%d", i), fmt.Sprintf("S%d", (i+1)%n)) {
				t.Fatalf("%d switches: no link after S%d", n, i)
			}
			for _, h := range p.Hosts()[1:] {
				if p.Path(h, p.Hosts()[0]) == nil {
					t.Fatalf("%d switches, without the link after S%d: no way from %s", n, i, p.Nodes[h].Name)
				}
			}
		}
	}
}

// No two nodes have one address, and no two ports, in a network of any size.
func TestAddressesAreOfOneNode(t *testing.T) {
	hosts, ports := map[wire.IP]int{}, map[wire.MAC]int{}
	for _, node := range []int{0, 1, 2, 255, 256, 257, 511, 512, 65535, 65536, 65537, 1<<18 - 1, 1 << 18} {
		for _, port := range []int{0, 1, 255, 256, 1023} {
			mac := MAC(node, port)
			if other, twice := ports[mac]; twice || mac>>40 != 2 || mac>>48 != 0 {
				t.Errorf("port %d of nodes %d and %d: %v", port, node, other, mac)
			}
			ports[mac] = node
		}
		if other, twice := hosts[IP(node)]; twice {
			t.Errorf("nodes %d and %d: %v", node, other, IP(node))
		}
		hosts[IP(node)] = node
	}
}

// numbered finds a node that its name does not lead to, or whose number is not its place among those with its letter.
// Hosts that are named by their switch, and NICs by their host, have no number of their own.
func numbered(p *Plan) error {
	numbers := map[byte]int{}
	for i, n := range p.Nodes {
		if at, ok := p.Find(n.Name); !ok || at != i {
			return fmt.Errorf("by the name of node %d, %s, node %d is found", i, n.Name, at)
		}
		if strings.ContainsAny(n.Name, "-.") {
			continue
		}
		if want := fmt.Sprintf("%c%d", n.Name[0], numbers[n.Name[0]]); n.Name != want {
			return fmt.Errorf("%s should be called %s", n.Name, want)
		}
		numbers[n.Name[0]]++
	}
	return nil
}

// PCN's Clos is not oversubscribed: as much up as down at every tier.
func TestClosIsNotOversubscribed(t *testing.T) {
	host, trunk := fabric.Link{Rate: 10 * units.Gbps}, fabric.Link{Rate: 40 * units.Gbps}
	p := Clos(ClosSize{Pods: 8, ToRs: 4, Leafs: 2, Hosts: 16, Spines: 8, Uplinks: 2}, host, trunk)
	for _, n := range p.Nodes {
		up, down := units.Rate(0), units.Rate(0)
		for _, e := range n.Ends {
			other := p.Nodes[e.Node]
			if n.Layer == "tor" && other.Host || n.Layer == "leaf" && other.Layer == "tor" {
				down += e.Link.Rate
			} else {
				up += e.Link.Rate
			}
		}
		if (n.Layer == "tor" || n.Layer == "leaf") && up != down {
			t.Errorf("%s: %v up, %v down", n.Name, up, down)
		}
	}
}
