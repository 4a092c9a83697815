package topology

// Routes are the shortest ways from switches to hosts.
type Routes struct {
	number []int   // by node: that of a switch; -1: a host
	to     []route // by node
}

// ports of each switch, by its number, lead to an end of ways: a host, or the last switch before it.
type ports [][]uint16

// route is that to a host. Hosts with one link to the same switch share the ways to that switch.
type route struct {
	end  *ports
	last int      // the last switch before the host, where that is the end of the ways; else -1
	port []uint16 // at that switch
}

// Ports are those of a switch that lead to a host; none: nothing does. The list is not to be changed.
func (r *Routes) Ports(from, host int) []uint16 {
	to, n := &r.to[host], r.number[from]
	switch {
	case to.last == from:
		return to.port
	case to.end == nil || n < 0:
		return nil
	}
	return (*to.end)[n]
}

// Routes are those over all links.
func (p *Plan) Routes() *Routes { return p.RoutesOver(nil, false) }

// RoutesOver are those without the links that are down. Weighted: a port is there the more often the more it can carry
// on its way.
func (p *Plan) RoutesOver(down Down, weighted bool) *Routes {
	r := &Routes{make([]int, len(p.Nodes)), make([]route, len(p.Nodes))}
	ends, switches := map[int]*ports{}, 0
	for i := range p.Nodes {
		r.number[i], r.to[i].last = -1, -1
		if !p.Nodes[i].Host {
			r.number[i] = switches
			switches++
		}
	}
	for _, host := range p.Endpoints() {
		to := host
		if end, ok := p.onlyEnd(host, down); ok && !weighted { // weights do not count a host's links
			to = end.Node
			r.to[host].last, r.to[host].port = end.Node, []uint16{uint16(end.Port)}
		}
		if ends[to] == nil {
			d := p.distancesOver(to, down)
			ways, end := p.waysOver(d, down), make(ports, switches)
			if weighted {
				p.weigh(ways, to, d)
			}
			for at, list := range ways {
				end[r.number[at]] = list
			}
			ends[to] = &end
		}
		r.to[host].end = ends[to]
	}
	return r
}

// Loops reports whether links between switches form a loop, in which a frame for all of them would go round.
func (p *Plan) Loops() bool {
	part := make([]int, len(p.Nodes)) // by node, another that it is connected with, or itself
	for i := range part {
		part[i] = i
	}
	first := func(i int) int {
		for part[i] != i {
			i = part[i]
		}
		return i
	}
	for _, c := range p.Cables {
		if p.Nodes[c.A].Host || p.Nodes[c.B].Host {
			continue
		}
		a, b := first(c.A), first(c.B)
		if a == b {
			return true
		}
		part[b] = a
	}
	return false
}

// onlyEnd is where a host's only link goes, if that is to a switch, and up.
func (p *Plan) onlyEnd(host int, down Down) (e End, ok bool) {
	ends := p.Nodes[host].Ends
	if len(ends) != 1 || p.Nodes[ends[0].Node].Host || down.has(host, 0) {
		return e, false
	}
	return ends[0], true
}

// waysOver are the ports of each switch that lead to where the distance is 0.
func (p *Plan) waysOver(d []int, down Down) map[int][]uint16 {
	ports := map[int][]uint16{}
	for i := range p.Nodes {
		if p.Nodes[i].Host {
			continue
		}
		for port, e := range p.Nodes[i].Ends {
			if d[e.Node] == d[i]-1 && !down.has(i, port) {
				ports[i] = append(ports[i], uint16(port))
			}
		}
	}
	return ports
}
