package experiment

import (
	"fmt"

	"photon/config"
	"photon/dataplane"
	"photon/lab/topology"
	"photon/units"
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

// mostDelay is so small that the round trip of the longest path can be told.
const mostDelay = 100 * units.Second

// topologies are the kinds that Plan knows.
const topologies = "dumbbell, star, compact, parking-lot, chain, ring, clos, leaf-spine, fat-tree, dragonfly, rail, planes, free"

// Plan lays out the experiment's topology.
func (e *Experiment) Plan() (*topology.Plan, error) {
	t := &e.Topology
	host, trunk := e.links()
	var p *topology.Plan
	var err error
	size := func(name string, v config.Value[int], least, or int) int {
		n := v.Or(or)
		if (n < least || n > most) && err == nil {
			if !v.IsSet() {
				v.Line = t.Kind.Line
			}
			err = at(v, "%s of a %s: %d to %d, not %d", name, t.Kind.V, least, most, n)
		}
		return n
	}
	// fits reports whether what is to be laid out is not too large.
	fits := func(nodes, links int) bool {
		if err == nil && (nodes > mostNodes || links > mostLinks) {
			err = at(t.Kind, "a %s of %d nodes and %d links: more than %d nodes or %d links", t.Kind.V, nodes, links,
				mostNodes, mostLinks)
		}
		return err == nil
	}
	switch t.Kind.V {
	case "dumbbell":
		if n := size("pairs", t.Pairs, 1, 0); err == nil {
			p = topology.Dumbbell(n, host, trunk)
		}
	case "star":
		if n := size("hosts", t.Hosts, 2, 0); err == nil {
			p = topology.Star(n, host)
		}
	case "compact":
		if n := size("bursters", t.Bursters, 1, 14); err == nil {
			p = topology.Compact(n, host, trunk)
		}
	case "parking-lot":
		if n := size("lots", t.Lots, 1, 0); err == nil {
			p = topology.ParkingLot(n, host, trunk)
		}
	case "chain", "ring":
		n, hosts := size("switches", t.Switches, 2, 0), size("hosts", t.Hosts, 1, 0)
		switch {
		case !fits(n*(hosts+1), n*(hosts+1)):
		case t.Kind.V == "ring":
			p = topology.Ring(n, hosts, host, trunk)
		default:
			p = topology.Chain(n, hosts, host, trunk)
		}
	case "clos", "leaf-spine":
		c := topology.ClosSize{
			Pods: size("pods", t.Pods, 1, 1), ToRs: size("tors", t.ToRs, 1, 0), Leafs: size("leafs", t.Leafs, 0, 0), Hosts: size("hosts", t.Hosts, 1, 0),
			Spines: size("spines", t.Spines, 0, 0), Uplinks: size("uplinks", t.Uplinks, 1, 1), Grouped: t.Grouped, Core: e.core(trunk),
		}
		switch {
		case err != nil:
		case t.Kind.V == "clos" && c.Leafs == 0:
			err = at(t.Kind, "leafs of a clos: 1 to %d, not 0", most)
		case c.Grouped && c.Leafs > 0 && c.Spines%c.Leafs != 0:
			err = at(t.Spines, "%d spines cannot be divided among %d leafs", c.Spines, c.Leafs)
		case !fits(closNodes(c), closLinks(c)):
		default:
			p = topology.Clos(c, host, trunk)
		}
	case "fat-tree":
		switch k := size("k", t.K, 2, 0); {
		case err != nil:
		case k%2 != 0 || k > mostFat:
			err = at(t.K, "k of a fat-tree: an even number from 2 to %d, not %d", mostFat, k)
		default:
			c := topology.FatTree(k)
			c.Core = e.core(trunk)
			p = topology.Clos(c, host, trunk)
		}
	case "dragonfly":
		d := topology.DragonflySize{Switches: size("switches", t.Switches, 1, 0), Hosts: size("hosts", t.Hosts, 1, 0), Global: size("global", t.Global, 1, 0)}
		switch {
		case err != nil:
		case !fits(d.Groups()*d.Switches*(d.Hosts+1), d.Groups()*d.Switches*(2*d.Hosts+d.Switches-1+d.Global)/2):
		default:
			p = topology.Dragonfly(d, host, trunk, e.core(trunk))
		}
	case "rail":
		r := topology.RailSize{Pods: size("pods", t.Pods, 1, 1), Hosts: size("hosts", t.Hosts, 1, 0), NICs: size("nics", t.NICs, 1, 0), Spines: size("spines", t.Spines, 0, 0)}
		switch {
		case err != nil:
		case r.Pods > 1 && r.Spines == 0:
			err = at(t.Kind, "a rail of %d pods needs spines", r.Pods)
		case !fits(r.Spines+r.Pods*r.NICs*(r.Hosts+1), r.Pods*r.NICs*(r.Hosts+r.Spines)):
		default:
			p = topology.Rails(r, host, trunk)
		}
	case "planes":
		s := topology.PlaneSize{NICs: size("nics", t.NICs, 1, 0), ToRs: size("tors", t.ToRs, 1, 0), Hosts: size("hosts", t.Hosts, 1, 0), Spines: size("spines", t.Spines, 0, 0)}
		switch {
		case err != nil:
		case s.ToRs > 1 && s.Spines == 0:
			err = at(t.Kind, "planes of %d ToRs need spines", s.ToRs)
		case !fits(s.NICs*(s.Spines+s.ToRs*(s.Hosts+1)), s.NICs*s.ToRs*(s.Hosts+s.Spines)):
		default:
			p = topology.Planes(s, host, trunk)
		}
	case "free":
		p, err = e.free(host)
	default:
		err = at(t.Kind, "topology %q: there are %s", t.Kind.V, topologies)
	}
	if err != nil {
		return nil, err
	}
	return p, e.fail(p)
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

// links are those of hosts and between switches.
func (e *Experiment) links() (host, trunk dataplane.Link) {
	p := &e.Parameters
	host = dataplane.Link{Rate: p.LinkRate.Value.V, Delay: p.HostDelay.Value.V, Overhead: p.overhead()}
	trunk = dataplane.Link{Rate: p.TrunkRate.Value.Or(host.Rate), Delay: p.TrunkDelay.Value.V, Overhead: p.overhead()}
	return host, trunk
}

// overhead is that of links, which take 0 for an Ethernet frame's.
func (p *Parameters) overhead() int {
	if o := p.Overhead.Value; o.IsSet() && o.V == 0 {
		return dataplane.NoOverhead
	}
	return p.Overhead.Value.V
}

// core is the link of the highest tier, where trunk is that between other switches.
func (e *Experiment) core(trunk dataplane.Link) dataplane.Link {
	p := &e.Parameters
	return dataplane.Link{Rate: p.CoreRate.Value.Or(trunk.Rate), Delay: p.CoreDelay.Value.Or(trunk.Delay), Overhead: trunk.Overhead}
}

// free is a list of nodes and links.
func (e *Experiment) free(host dataplane.Link) (*topology.Plan, error) {
	p := topology.New()
	for _, n := range e.Topology.Nodes {
		if _, known := p.Find(n.Name.V); known || n.Name.V == "" {
			return nil, at(n.Name, "node %q: every node needs a name of its own", n.Name.V)
		}
		if meansMore(n.Name.V) {
			return nil, at(n.Name, "node %q: it means more than a name where hosts and ports are named "+
				"(leave out commas, >, *, .. and blanks at its ends)", n.Name.V)
		}
		if n.Host {
			p.Host("%s", n.Name.V)
			continue
		}
		layer := n.Layer
		if layer == "" {
			layer = "switch"
		}
		p.Switch(layer, "%s", n.Name.V)
	}
	for _, l := range e.Topology.Links {
		var ends [2]int
		for i, end := range []config.Value[string]{l.A, l.B} {
			node, ok := p.Find(end.V)
			if !ok {
				return nil, at(end, "there is no node %q", end.V)
			}
			ends[i] = node
		}
		link := dataplane.Link{Rate: l.Rate.Or(host.Rate), Delay: l.Delay.Or(host.Delay), Overhead: host.Overhead}
		if link.Rate <= 0 || link.Delay < 0 {
			return nil, at(l.A, "link %s-%s: its rate must be positive, and its delay not negative", l.A.V, l.B.V)
		}
		if link.Delay > mostDelay {
			return nil, at(l.Delay, "link %s-%s: a delay of %v: %v is the most", l.A.V, l.B.V, link.Delay, mostDelay)
		}
		p.Connect(ends[0], ends[1], link)
	}
	for i, n := range e.Topology.Nodes {
		if node, _ := p.Find(n.Name.V); node != i { // NICs are named when a host has its second link
			host, _ := p.HostOf(node)
			return nil, at(n.Name, "node %q: the NICs of host %s are called so: name one of the two otherwise",
				n.Name.V, p.Nodes[host].Name)
		}
	}
	for _, n := range p.Nodes {
		if len(n.Ends) == 0 {
			return nil, fmt.Errorf("node %s has no link", n.Name)
		}
	}
	return p, nil
}

// fail takes links away.
func (e *Experiment) fail(p *topology.Plan) error {
	for _, l := range e.Topology.FailLinks {
		if !p.Remove(l.A.V, l.B.V) {
			return at(l.A, "there is no link %s-%s to take away", l.A.V, l.B.V)
		}
		for _, n := range p.Nodes {
			if len(n.Ends) == 0 {
				return at(l.A, "link %s-%s cannot be taken away: %s has no other", l.A.V, l.B.V, n.Name)
			}
		}
	}
	return nil
}
