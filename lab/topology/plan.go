package topology

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// Plan is a network: nodes and cables. What is whole, several goroutines may read.
type Plan struct {
	Nodes  []Node
	Cables []Cable
	names  map[string]int
	hosts  []int
	nics   nics

	lock  sync.Mutex // of what is worked out when it is asked for
	known *known     // nil: nothing
}

// Node is a host or a switch.
type Node struct {
	Name  string
	Host  bool
	Layer string // of a switch, for measurements by layer: tor, leaf, spine, switch
	Ends  []End  // by port
}

// End is what a port is connected to.
type End struct {
	Node, Port int
	Link       fabric.Link
}

// Cable joins two ports.
type Cable struct {
	A, APort, B, BPort int
	Link               fabric.Link
}

// New returns an empty plan.
func New() *Plan { return &Plan{names: map[string]int{}} }

// Host adds a host.
func (p *Plan) Host(format string, args ...any) int {
	return p.add(Node{Name: fmt.Sprintf(format, args...), Host: true})
}

// Switch adds a switch of a layer.
func (p *Plan) Switch(layer, format string, args ...any) int {
	return p.add(Node{Name: fmt.Sprintf(format, args...), Layer: layer})
}

func (p *Plan) add(n Node) int {
	p.changed()
	p.Nodes = append(p.Nodes, n)
	p.names[n.Name] = len(p.Nodes) - 1
	if n.Host {
		p.hosts = append(p.hosts, len(p.Nodes)-1)
	}
	return len(p.Nodes) - 1
}

// Connect joins the next free ports of two nodes. A host gets a NIC for each link.
func (p *Plan) Connect(a, b int, link fabric.Link) {
	p.changed()
	for _, end := range []*int{&a, &b} {
		if n := &p.Nodes[*end]; n.Host && len(n.Ends) > 0 {
			*end = p.addNIC(*end)
		}
	}
	x, y := &p.Nodes[a], &p.Nodes[b]
	p.Cables = append(p.Cables, Cable{a, len(x.Ends), b, len(y.Ends), link})
	x.Ends = append(x.Ends, End{b, len(y.Ends), link})
	y.Ends = append(y.Ends, End{a, len(x.Ends) - 1, link})
}

// Find returns the node of a name.
func (p *Plan) Find(name string) (node int, ok bool) {
	node, ok = p.names[name]
	return node, ok
}

// Port returns the first port of node from that leads to its neighbour to.
func (p *Plan) Port(from, to string) (node, port int, err error) {
	node, ports, err := p.Ports(from, to)
	if err != nil {
		return 0, 0, err
	}
	return node, ports[0], nil
}

// Ports returns all ports of node from that lead to its neighbour to: several, if there are parallel links.
func (p *Plan) Ports(from, to string) (node int, ports []int, err error) {
	node, ok := p.Find(from)
	if !ok {
		return 0, nil, fmt.Errorf("there is no node %q", from)
	}
	var neighbours []string
	for i, e := range p.Nodes[node].Ends {
		name := p.Nodes[e.Node].Name
		if name == to {
			ports = append(ports, i)
		}
		neighbours = append(neighbours, name)
	}
	if len(ports) == 0 {
		return 0, nil, fmt.Errorf("%s has no link to %q (it has links to %s)", from, to,
			strings.Join(slices.Compact(neighbours), ", "))
	}
	return node, ports, nil
}

// Hosts returns the numbers of all hosts, in order; Endpoints those of all NICs. The slice is the plan's.
func (p *Plan) Hosts() []int { return p.hosts[:len(p.hosts):len(p.hosts)] }

// Path returns the ends that a frame goes through on a shortest path, first
// choice everywhere; nil if there is none.
func (p *Plan) Path(from, to int) (path []End) {
	p.lock.Lock()
	defer p.lock.Unlock()
	k := p.survey()
	if k.apart(from, to) == far {
		return nil
	}
	for at := from; at != to; {
		left := k.apart(at, to) - 1
		ends := p.Nodes[at].Ends
		next := slices.IndexFunc(ends, func(e End) bool { return k.apart(e.Node, to) == left })
		path, at = append(path, ends[next]), ends[next].Node
	}
	return path
}

// Delay is the propagation time in one direction, along the longest of the paths that have the fewest links.
func (p *Plan) Delay(from, to int) units.Time {
	return p.Ways(from, to).Longest(func(_ int, l fabric.Link) units.Time { return l.Delay })
}

// distancesOver returns how many links every node is away from one, without those that are down; hosts do not forward.
func (p *Plan) distancesOver(to int, down Down) []int {
	d := make([]int, len(p.Nodes))
	for i := range d {
		d[i] = len(p.Nodes) // out of reach
	}
	d[to] = 0
	queue := make([]int, 1, len(p.Nodes))
	queue[0] = to
	for ; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if p.Nodes[at].Host && at != to {
			continue
		}
		for port, e := range p.Nodes[at].Ends {
			if d[e.Node] == len(p.Nodes) && !down.has(at, port) {
				d[e.Node] = d[at] + 1
				queue = append(queue, e.Node)
			}
		}
	}
	return d
}

// Down are the ports, by node, whose links are down; both ends of a link are there.
type Down map[[2]int]bool

func (d Down) has(node, port int) bool { return d[[2]int{node, port}] }

// Capacity is the rate of all links of some hosts together.
func (p *Plan) Capacity(hosts []int) (rate units.Rate) {
	for _, h := range hosts {
		for _, nic := range p.NICs(h) {
			for _, e := range p.Nodes[nic].Ends {
				rate += e.Link.Rate
			}
		}
	}
	return rate
}

// MAC is the address of a port: locally administered, by node and port.
func MAC(node, port int) wire.MAC { return 0x0200_0000_0000 | wire.MAC(port)<<24 | wire.MAC(node) }

// IP is the address of a host.
func IP(node int) wire.IP { return wire.IPv4(10, byte(node>>16), byte(node>>8), byte(node)) }

// Remove takes away the links between two nodes, and reports whether there were any.
func (p *Plan) Remove(a, b string) bool {
	i, okA := p.Find(a)
	j, okB := p.Find(b)
	if !okA || !okB {
		return false
	}
	p.changed()
	old, n := p.Cables, 0
	p.Cables = nil
	for k := range p.Nodes {
		p.Nodes[k].Ends = nil
	}
	for _, c := range old {
		if c.A == i && c.B == j || c.A == j && c.B == i {
			n++
			continue
		}
		p.Connect(c.A, c.B, c.Link)
	}
	return n > 0
}
