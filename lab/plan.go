package lab

import (
	"fmt"

	"photon/units"
	"photon/wire"
)

// plan is a topology before it is built in a world: nodes, cables, addresses.
type plan struct {
	nodes  []planNode
	cables []planCable
}

type planNode struct {
	name string
	host bool
	ends []planEnd // by port
}

// planEnd is what a port is connected to.
type planEnd struct {
	node, port int
	delay      units.Time
}

type planCable struct {
	a, aPort, b, bPort int
	delay              units.Time
}

func (n *planNode) ports() int { return len(n.ends) }

func (p *plan) add(name string, host bool) int {
	p.nodes = append(p.nodes, planNode{name: name, host: host})
	return len(p.nodes) - 1
}

// connect joins the next free ports of two nodes.
func (p *plan) connect(a, b int, delay units.Time) {
	x, y := &p.nodes[a], &p.nodes[b]
	p.cables = append(p.cables, planCable{a, len(x.ends), b, len(y.ends), delay})
	x.ends = append(x.ends, planEnd{b, len(y.ends), delay})
	y.ends = append(y.ends, planEnd{a, len(x.ends) - 1, delay})
}

func (p *plan) find(name string) (int, bool) {
	for i := range p.nodes {
		if p.nodes[i].name == name {
			return i, true
		}
	}
	return 0, false
}

// port returns the port of node from that leads to its neighbour to.
func (p *plan) port(from, to string) (node, port int, err error) {
	a, ok := p.find(from)
	if !ok {
		return 0, 0, fmt.Errorf("there is no node %q", from)
	}
	for i, e := range p.nodes[a].ends {
		if p.nodes[e.node].name == to {
			return a, i, nil
		}
	}
	return 0, 0, fmt.Errorf("%s has no link to %q", from, to)
}

// delay is the propagation time along a shortest path in one direction.
func (p *plan) delay(from, to int) units.Time {
	sum := units.Time(0)
	for at, distance := from, p.distances(to); at != to; {
		for _, e := range p.nodes[at].ends {
			if distance[e.node] == distance[at]-1 {
				sum += e.delay
				at = e.node
				break
			}
		}
	}
	return sum
}

// distances returns how many links every node is away from one; hosts do not forward.
func (p *plan) distances(to int) []int {
	d := make([]int, len(p.nodes))
	for i := range d {
		d[i] = len(p.nodes) // out of reach
	}
	d[to] = 0
	for queue := []int{to}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if p.nodes[at].host && at != to {
			continue
		}
		for _, e := range p.nodes[at].ends {
			if d[e.node] == len(p.nodes) {
				d[e.node] = d[at] + 1
				queue = append(queue, e.node)
			}
		}
	}
	return d
}

// routes returns, for every switch, the ports that lead on a shortest path to a host.
func (p *plan) routes(to int) map[int][]uint16 {
	r := map[int][]uint16{}
	d := p.distances(to)
	for i := range p.nodes {
		if p.nodes[i].host {
			continue
		}
		for port, e := range p.nodes[i].ends {
			if d[e.node] == d[i]-1 {
				r[i] = append(r[i], uint16(port))
			}
		}
	}
	return r
}

// Addresses of the ports of a plan's nodes: locally administered, by node and port.
func macOf(node, port int) wire.MAC { return 0x0200_0000_0000 | wire.MAC(port)<<24 | wire.MAC(node) }

func ipOf(node int) wire.IP { return wire.IPv4(10, byte(node>>16), byte(node>>8), byte(node)) }

// plan lays out the experiment's topology.
func (e *Experiment) plan() (*plan, error) {
	switch t := &e.Topology; t.Kind.V {
	case "dumbbell":
		if t.Pairs.V < 1 || t.Pairs.V > 4096 {
			return nil, at(t.Kind, "a dumbbell has 1 to 4096 pairs, not %d", t.Pairs.V)
		}
		return dumbbell(t.Pairs.V, e.Parameters.HostDelay.Value.V, e.Parameters.TrunkDelay.Value.V), nil
	default:
		return nil, at(t.Kind, "topology %q: there is dumbbell", t.Kind.V)
	}
}

// dumbbell is n senders H0.. on switch S0 and n receivers R0.. on switch S1.
func dumbbell(n int, host, trunk units.Time) *plan {
	p := &plan{}
	left, right := p.add("S0", false), p.add("S1", false)
	for i := range n {
		p.connect(p.add(fmt.Sprintf("H%d", i), true), left, host)
	}
	for i := range n {
		p.connect(p.add(fmt.Sprintf("R%d", i), true), right, host)
	}
	p.connect(left, right, trunk)
	return p
}
