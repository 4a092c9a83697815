package topology

import (
	"testing"

	"photon/fabric"
	"photon/units"
)

// A fat tree of k-port switches has all of their ports in use, k^3/4 hosts, and between hosts of two pods as many paths
// as spines, each of six links.
func TestFatTree(t *testing.T) {
	host, trunk, core := fabric.Link{Rate: units.Gbps}, fabric.Link{Rate: 2 * units.Gbps}, fabric.Link{Rate: 3 * units.Gbps}
	for _, k := range []int{2, 4, 8} {
		c := FatTree(k)
		c.Core = core
		p := Clos(c, host, trunk)
		hosts := p.Hosts()
		if len(hosts) != k*k*k/4 || len(p.Nodes)-len(hosts) != 5*k*k/4 {
			t.Errorf("k = %d: %d hosts and %d switches", k, len(hosts), len(p.Nodes)-len(hosts))
		}
		for _, n := range p.Nodes {
			if !n.Host && len(n.Ends) != k {
				t.Errorf("k = %d: %s has %d ports", k, n.Name, len(n.Ends))
			}
		}
		path := p.Path(hosts[0], hosts[len(hosts)-1])
		if len(path) != 6 || path[0].Link != host || path[1].Link != trunk || path[2].Link != core || path[3].Link != core || path[4].Link != trunk || path[5].Link != host {
			t.Errorf("k = %d: %+v", k, path)
		}
	}
}

// In a dragonfly each pair of groups has one link, each switch as many to others as it should, and nothing is further
// than three links between switches.
func TestDragonfly(t *testing.T) {
	local, global := fabric.Link{Rate: units.Gbps}, fabric.Link{Rate: 2 * units.Gbps}
	for _, d := range []DragonflySize{{Switches: 4, Hosts: 2, Global: 2}, {Switches: 3, Hosts: 1, Global: 1}, {Switches: 1, Hosts: 2, Global: 3}} {
		p := Dragonfly(d, local, local, global)
		if err := numbered(p); err != nil {
			t.Errorf("%+v: %v", d, err)
		}
		pairs := map[[2]int]int{}
		for i, n := range p.Nodes {
			if n.Host {
				continue
			}
			out := 0
			for _, e := range n.Ends {
				if e.Link == global {
					out++
				}
			}
			if out != d.Global || len(n.Ends) != d.Hosts+d.Switches-1+d.Global {
				t.Errorf("%+v: %s has %d ports, %d of them to other groups", d, p.Nodes[i].Name, len(n.Ends), out)
			}
		}
		group := func(node int) int { return p.switchNumber(node) / d.Switches }
		for _, c := range p.Cables {
			if c.Link == global {
				a, b := group(c.A), group(c.B)
				pairs[[2]int{min(a, b), max(a, b)}]++
			}
		}
		if n := d.Groups(); len(pairs) != n*(n-1)/2 {
			t.Errorf("%+v: %d pairs of groups have links", d, len(pairs))
		}
		for _, h := range p.Hosts()[1:] {
			if links := len(p.Path(p.Hosts()[0], h)); links < 2 || links > 5 {
				t.Errorf("%+v: %d links to %s", d, links, p.Nodes[h].Name)
			}
		}
	}
}

// switchNumber is a switch's place among the switches.
func (p *Plan) switchNumber(node int) (n int) {
	for i := range node {
		if !p.Nodes[i].Host {
			n++
		}
	}
	return n
}
