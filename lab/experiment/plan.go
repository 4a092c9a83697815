package experiment

import (
	"slices"
	"strings"

	"photon/config"
	"photon/fabric"
	"photon/lab/topology"
	"photon/units"
)

// mostDelay is so small that the round trip of the longest path can be told.
const mostDelay = 100 * units.Second

// Plan lays out the experiment's topology.
func (e *Experiment) Plan() (*topology.Plan, error) {
	l := e.layout()
	i := slices.Index(topologies(), l.Kind.V)
	if i < 0 {
		return nil, at(l.Kind, "topology %q: there are %s", l.Kind.V, strings.Join(topologies(), ", "))
	}
	p := kinds[i].lay(l)
	if l.err != nil {
		return nil, l.err
	}
	return p, e.fail(p)
}

// links are those of hosts and between switches.
func (e *Experiment) links() (host, trunk fabric.Link) {
	p := &e.Parameters
	host = fabric.Link{Rate: p.LinkRate.Value.V, Delay: p.HostDelay.Value.V, Overhead: p.overhead()}
	trunk = fabric.Link{Rate: p.TrunkRate.Value.Or(host.Rate), Delay: p.TrunkDelay.Value.V, Overhead: p.overhead()}
	return host, trunk
}

// overhead is that of links, which take 0 for an Ethernet frame's.
func (p *Parameters) overhead() int {
	if o := p.Overhead.Value; o.IsSet() && o.V == 0 {
		return fabric.NoOverhead
	}
	return p.Overhead.Value.V
}

// core is the link of the highest tier, where trunk is that between other switches.
func (e *Experiment) core(trunk fabric.Link) fabric.Link {
	p := &e.Parameters
	return fabric.Link{Rate: p.CoreRate.Value.Or(trunk.Rate), Delay: p.CoreDelay.Value.Or(trunk.Delay), Overhead: trunk.Overhead}
}

// free is a list of nodes and links.
func (l *layout) free() *topology.Plan {
	p, err := l.listed(l.host)
	l.wrong(err)
	return p
}

func (t *Topology) listed(host fabric.Link) (*topology.Plan, error) {
	p := topology.New()
	for _, n := range t.Nodes {
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
	for _, l := range t.Links {
		var ends [2]int
		for i, end := range []config.Value[string]{l.A, l.B} {
			node, ok := p.Find(end.V)
			if !ok {
				return nil, at(end, "there is no node %q", end.V)
			}
			ends[i] = node
		}
		if ends[0] == ends[1] {
			return nil, at(l.A, "link %s-%s: it is from a node to itself", l.A.V, l.B.V)
		}
		link := fabric.Link{Rate: l.Rate.Or(host.Rate), Delay: l.Delay.Or(host.Delay), Overhead: host.Overhead}
		if link.Rate <= 0 || link.Delay < 0 {
			return nil, at(l.A, "link %s-%s: its rate must be positive, and its delay not negative", l.A.V, l.B.V)
		}
		if link.Delay > mostDelay {
			return nil, at(l.Delay, "link %s-%s: a delay of %v: %v is the most", l.A.V, l.B.V, link.Delay, mostDelay)
		}
		p.Connect(ends[0], ends[1], link)
	}
	for i, n := range t.Nodes {
		if node, _ := p.Find(n.Name.V); node != i { // NICs are named when a host has its second link
			host, _ := p.HostOf(node)
			return nil, at(n.Name, "node %q: the NICs of host %s are called so: name one of the two otherwise",
				n.Name.V, p.Nodes[host].Name)
		}
		if len(p.Nodes[i].Ends) == 0 {
			return nil, at(n.Name, "node %s has no link", n.Name.V)
		}
	}
	return p, nil
}

// fail takes links away.
func (e *Experiment) fail(p *topology.Plan) error {
	for _, l := range e.Topology.FailLinks {
		if line := max(l.Rate.Line, l.Delay.Line); line > 0 {
			return at(config.Value[string]{Line: line}, "link %s-%s: what is taken away has neither rate nor delay "+
				"(events give a link another rate)", l.A.V, l.B.V)
		}
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
