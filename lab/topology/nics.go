package topology

import (
	"fmt"
	"math"
	"slices"
)

// A host may have several NICs, one for each of its links. A NIC is a node of its own, with its own addresses, queue
// pairs and rates, as in a machine with several RDMA NICs. The first NIC of a host is the host's own node and is called
// as the host is; the others are called H0.1, H0.2 and so on.

// nics are the hosts that have several.
type nics struct {
	of    map[int][]int // by host
	hosts map[int]int   // by NIC, but the first of a host
	pairs map[[2]int][][2]int
}

// addNIC gives a host another NIC.
func (p *Plan) addNIC(host int) int {
	if p.nics.of == nil {
		p.nics = nics{map[int][]int{}, map[int]int{}, map[[2]int][][2]int{}}
	}
	if p.nics.of[host] == nil {
		p.nics.of[host] = []int{host}
	}
	p.Nodes = append(p.Nodes, Node{Name: fmt.Sprintf("%s.%d", p.Nodes[host].Name, len(p.nics.of[host])), Host: true})
	nic := len(p.Nodes) - 1
	p.names[p.Nodes[nic].Name] = nic
	p.nics.of[host] = append(p.nics.of[host], nic)
	p.nics.hosts[nic] = host
	return nic
}

// Several reports whether any host has several NICs.
func (p *Plan) Several() bool { return len(p.nics.of) > 0 }

// NICs are the nodes of a host's NICs, in the order of its links. The slice is the plan's.
func (p *Plan) NICs(host int) []int {
	if list := p.nics.of[host]; list != nil {
		return list
	}
	return []int{host}
}

// HostOf is the host that a NIC belongs to, and which of its NICs it is.
func (p *Plan) HostOf(nic int) (host, number int) {
	if host, other := p.nics.hosts[nic]; other {
		return host, slices.Index(p.nics.of[host], nic)
	}
	return nic, 0
}

// Endpoints are the nodes of all NICs, by number.
func (p *Plan) Endpoints() []int {
	if !p.Several() {
		return p.Hosts()
	}
	var list []int
	for i := range p.Nodes {
		if p.Nodes[i].Host {
			list = append(list, i)
		}
	}
	return list
}

// Pinned stands for a NIC that is meant and no other of its host, where else a number stands for the host. It is
// negative, and undone by Pick.
func Pinned(nic int) int { return ^nic }

// Unpinned is the node of a host or of a pinned NIC.
func Unpinned(host int) int {
	if host < 0 {
		return ^host
	}
	return host
}

// Pick says from which NIC to which the turn-th flow from one host to another goes: of the pairs that are nearest to
// each other, those of equal numbers if there are any, one after the other. So NICs of one rail, or of one plane, send
// to each other. A pinned NIC stays what it is.
func (p *Plan) Pick(from, to, nth int) (a, b int) {
	if !p.Several() {
		return from, to
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	key := [2]int{from, to}
	pairs := p.nics.pairs[key]
	if pairs == nil {
		pairs = p.nearest(from, to)
		p.nics.pairs[key] = pairs
	}
	pair := pairs[nth%len(pairs)]
	return pair[0], pair[1]
}

func (p *Plan) nearest(from, to int) (pairs [][2]int) {
	choice := func(host int) []int {
		if host < 0 {
			return []int{^host}
		}
		return p.NICs(host)
	}
	type found struct {
		pair  [2]int
		links int
		alike bool
	}
	var all []found
	k := p.survey()
	least, alike := math.MaxInt, false
	for _, b := range choice(to) {
		for _, a := range choice(from) {
			_, ofA := p.HostOf(a)
			_, ofB := p.HostOf(b)
			f := found{[2]int{a, b}, int(k.apart(a, b)), ofA == ofB}
			if f.links < least {
				least, alike = f.links, false
			}
			if f.links == least {
				alike = alike || f.alike
			}
			all = append(all, f)
		}
	}
	for _, f := range all {
		if f.links == least && (f.alike || !alike) {
			pairs = append(pairs, f.pair)
		}
	}
	return pairs
}
