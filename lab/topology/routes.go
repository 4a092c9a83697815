package topology

// Routes are the shortest ways from switches to hosts.
type Routes struct {
	to map[int]map[int][]uint16 // by the end of the ways, a host or the last switch before it: by switch, its ports

	// Hosts with one link to the same switch share the ways to that switch. By host:
	lastSwitch map[int]int
	lastPort   map[int][]uint16 // at that switch
}

// Ports are those of a switch that lead to a host; none: nothing does. The list is not to be changed.
func (r *Routes) Ports(from, host int) []uint16 {
	last, ok := r.lastSwitch[host]
	switch {
	case !ok:
		return r.to[host][from]
	case last == from:
		return r.lastPort[host]
	}
	return r.to[last][from]
}

// Routes are those over all links.
func (p *Plan) Routes() *Routes { return p.RoutesOver(nil, false) }

// RoutesOver are those without the links that are down. Weighted: a port is there the more often the more it can carry
// on its way.
func (p *Plan) RoutesOver(down Down, weighted bool) *Routes {
	r := &Routes{to: map[int]map[int][]uint16{}, lastSwitch: map[int]int{}, lastPort: map[int][]uint16{}}
	for _, host := range p.Endpoints() {
		to := host
		if end, ok := p.onlyEnd(host, down); ok && !weighted { // weights do not count the last links, which are a host's
			to = end.Node
			r.lastSwitch[host], r.lastPort[host] = end.Node, []uint16{uint16(end.Port)}
		}
		if r.to[to] != nil {
			continue
		}
		d := p.distancesOver(to, down)
		if r.to[to] = p.waysOver(d, down); weighted {
			p.weigh(r.to[to], to, d)
		}
	}
	return r
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
