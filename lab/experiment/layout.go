package experiment

import (
	"photon/config"
	"photon/fabric"
	"photon/lab/topology"
)

// most is the largest size of any topology.
const most = 4096

// mostNodes, mostLinks and mostFat bound networks whose size grows faster than their numbers: a fat tree of 64 has
// 65 536 hosts.
const (
	mostNodes = 1 << 17
	mostLinks = 1 << 20
	mostFat   = 64
)

// kinds are the kinds of topologies, and what lays them out; free is the one that is a list of nodes and links.
var kinds = []struct {
	name string
	lay  func(l *layout) *topology.Plan
}{
	{"dumbbell", func(l *layout) *topology.Plan {
		return topology.Dumbbell(l.size("pairs", l.Pairs, 1, 0), l.host, l.trunk)
	}},
	{"star", func(l *layout) *topology.Plan { return topology.Star(l.size("hosts", l.Hosts, 2, 0), l.host) }},
	{"compact", func(l *layout) *topology.Plan {
		return topology.Compact(l.size("bursters", l.Bursters, 1, 14), l.host, l.trunk)
	}},
	{"parking-lot", func(l *layout) *topology.Plan {
		return topology.ParkingLot(l.size("lots", l.Lots, 1, 0), l.host, l.trunk)
	}},
	{"chain", (*layout).chain}, {"ring", (*layout).chain}, {"clos", (*layout).clos}, {"leaf-spine", (*layout).clos},
	{"fat-tree", (*layout).fatTree}, {"dragonfly", (*layout).dragonfly}, {"rail", (*layout).rail},
	{"planes", (*layout).planes}, {"free", (*layout).free},
}

// topologies are the names of all kinds.
func topologies() []string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].name
	}
	return names
}

// layout is a topology that is being laid out.
type layout struct {
	*Topology
	host, trunk, core fabric.Link
	err               error // the first of them
}

func (e *Experiment) layout() *layout {
	host, trunk := e.links()
	return &layout{Topology: &e.Topology, host: host, trunk: trunk, core: e.core(trunk)}
}

// size is one of the topology's numbers, from least on; or is what it is if absent. In place of a wrong one, which is
// noted, it is least.
func (l *layout) size(name string, v config.Value[int], least, or int) int {
	n := v.Or(or)
	if n < least || n > most {
		if !v.IsSet() {
			v.Line = l.Kind.Line
		}
		l.wrong(at(v, "%s of a %s: %d to %d, not %d", name, l.Kind.V, least, most, n))
		return least
	}
	return n
}

// fits reports whether there is no error yet, and what is to be laid out is not too large.
func (l *layout) fits(nodes, links int) bool {
	if l.err == nil && (nodes > mostNodes || links > mostLinks) {
		l.wrong(at(l.Kind, "a %s of %d nodes and %d links: more than %d nodes or %d links", l.Kind.V, nodes, links,
			mostNodes, mostLinks))
	}
	return l.err == nil
}

// wrong keeps the first error.
func (l *layout) wrong(err error) {
	if l.err == nil {
		l.err = err
	}
}

// chain is a chain of switches, or a ring.
func (l *layout) chain() *topology.Plan {
	n, hosts := l.size("switches", l.Switches, 2, 0), l.size("hosts", l.Hosts, 1, 0)
	if !l.fits(n*(hosts+1), n*(hosts+1)) {
		return nil
	}
	if l.Kind.V == "ring" {
		return topology.Ring(n, hosts, l.host, l.trunk)
	}
	return topology.Chain(n, hosts, l.host, l.trunk)
}

// clos is one of three tiers, or a leaf-spine of two.
func (l *layout) clos() *topology.Plan {
	c := topology.ClosSize{
		Pods: l.size("pods", l.Pods, 1, 1), ToRs: l.size("tors", l.ToRs, 1, 0), Leafs: l.size("leafs", l.Leafs, 0, 0),
		Hosts: l.size("hosts", l.Hosts, 1, 0), Spines: l.size("spines", l.Spines, 0, 0),
		Uplinks: l.size("uplinks", l.Uplinks, 1, 1), Grouped: l.Grouped, Core: l.core,
	}
	if l.Kind.V == "clos" && c.Leafs == 0 {
		l.wrong(at(l.Kind, "leafs of a clos: 1 to %d, not 0", most))
	}
	if c.Grouped && c.Leafs > 0 && c.Spines%c.Leafs != 0 {
		l.wrong(at(l.Spines, "%d spines cannot be divided among %d leafs", c.Spines, c.Leafs))
	}
	if l.err != nil || !l.fits(closNodes(c), closLinks(c)) {
		return nil
	}
	return topology.Clos(c, l.host, l.trunk)
}

func (l *layout) fatTree() *topology.Plan {
	k := l.size("k", l.K, 2, 0)
	if k%2 != 0 || k > mostFat {
		l.wrong(at(l.K, "k of a fat-tree: an even number from 2 to %d, not %d", mostFat, k))
	}
	if l.err != nil {
		return nil
	}
	c := topology.FatTree(k)
	c.Core = l.core
	return topology.Clos(c, l.host, l.trunk)
}

func (l *layout) dragonfly() *topology.Plan {
	d := topology.DragonflySize{
		Switches: l.size("switches", l.Switches, 1, 0), Hosts: l.size("hosts", l.Hosts, 1, 0),
		Global: l.size("global", l.Global, 1, 0),
	}
	switches := d.Groups() * d.Switches
	if !l.fits(switches*(d.Hosts+1), switches*(2*d.Hosts+d.Switches-1+d.Global)/2) {
		return nil
	}
	return topology.Dragonfly(d, l.host, l.trunk, l.core)
}

func (l *layout) rail() *topology.Plan {
	r := topology.RailSize{
		Pods: l.size("pods", l.Pods, 1, 1), Hosts: l.size("hosts", l.Hosts, 1, 0), NICs: l.size("nics", l.NICs, 1, 0),
		Spines: l.size("spines", l.Spines, 0, 0),
	}
	if r.Pods > 1 && r.Spines == 0 {
		l.wrong(at(l.Kind, "a rail of %d pods needs spines", r.Pods))
	}
	if !l.fits(r.Spines+r.Pods*r.NICs*(r.Hosts+1), r.Pods*r.NICs*(r.Hosts+r.Spines)) {
		return nil
	}
	return topology.Rails(r, l.host, l.trunk)
}

func (l *layout) planes() *topology.Plan {
	s := topology.PlaneSize{
		NICs: l.size("nics", l.NICs, 1, 0), ToRs: l.size("tors", l.ToRs, 1, 0), Hosts: l.size("hosts", l.Hosts, 1, 0),
		Spines: l.size("spines", l.Spines, 0, 0),
	}
	if s.ToRs > 1 && s.Spines == 0 {
		l.wrong(at(l.Kind, "planes of %d ToRs need spines", s.ToRs))
	}
	if !l.fits(s.NICs*(s.Spines+s.ToRs*(s.Hosts+1)), s.NICs*s.ToRs*(s.Hosts+s.Spines)) {
		return nil
	}
	return topology.Planes(s, l.host, l.trunk)
}

// closNodes and closLinks are how many there are in a Clos network.
func closNodes(c topology.ClosSize) int { return c.Spines + c.Pods*(c.Leafs+c.ToRs*(c.Hosts+1)) }

func closLinks(c topology.ClosSize) int {
	if c.Leafs == 0 {
		return c.Pods * c.ToRs * (c.Hosts + c.Spines*c.Uplinks)
	}
	up := c.Spines // of a leaf
	if c.Grouped {
		up /= c.Leafs
	}
	return c.Pods * (c.ToRs*(c.Hosts+c.Leafs*c.Uplinks) + c.Leafs*up)
}
