package hpccfiles

import (
	"slices"

	"photon/units"
)

// Topology is a topology.txt.
type Topology struct {
	File   string
	Switch []bool // by node: a switch, not a host
	Links  []Link
}

// Link is a cable.
type Link struct {
	A, B  int
	Rate  units.Rate
	Delay units.Time // one way
	Loss  float64    // probability that a packet is broken
	Line  int
}

// mostNodes is how many nodes the addresses of fct.txt tell apart.
const mostNodes = 1 << 16

// ReadTopology reads `nodes switches links`, the switches' numbers, and a line for
// each link: `a b 100Gbps 0.001ms error_rate`.
func ReadTopology(file string, b []byte) (*Topology, error) {
	w := newWords(file, b)
	nodes := w.count("the number of nodes", 2, mostNodes)
	switches := w.count("the number of switches", 0, nodes)
	if w.err == nil && switches == nodes {
		w.fail("all %d nodes are switches: without hosts there are no flows", nodes)
	}
	links := w.count("the number of links", 1, 1<<20)
	if w.err != nil {
		return nil, w.err
	}
	t := &Topology{File: file, Switch: make([]bool, nodes)}
	for range switches {
		id := w.count("a switch's number", 0, nodes-1)
		if w.err == nil && t.Switch[id] {
			w.fail("switch %d is named twice", id)
		}
		if w.err != nil {
			return nil, w.err
		}
		t.Switch[id] = true
	}
	degree := make([]int, nodes)
	for range links {
		var l Link
		l.A = int(w.count("a link's first node", 0, nodes-1))
		l.Line = w.line
		l.B = int(w.count("a link's second node", 0, nodes-1))
		l.Rate, l.Delay = w.rate("a link's rate"), w.time("a link's delay")
		l.Loss = w.number("a link's error rate")
		if w.err == nil && l.A == l.B {
			w.fail("a link from node %d to itself", l.A)
		}
		degree[l.A]++
		degree[l.B]++
		if w.err != nil {
			return nil, w.err
		}
		t.Links = append(t.Links, l)
	}
	w.end("the last link that line 1 announces")
	for id, n := range degree {
		if n == 0 {
			w.line = 0
			w.fail("node %d has no link", id)
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	return t, nil
}

// hosts are the numbers of all hosts.
func (t *Topology) hosts() (list []int) {
	for id, isSwitch := range t.Switch {
		if !isSwitch {
			list = append(list, id)
		}
	}
	return list
}

// adjacent is what each node is connected to, in the order of the file.
func (t *Topology) adjacent() [][]hop {
	next := make([][]hop, len(t.Switch))
	for i := range t.Links {
		l := &t.Links[i]
		next[l.A] = append(next[l.A], hop{l.B, l})
		next[l.B] = append(next[l.B], hop{l.A, l})
	}
	return next
}

type hop struct {
	node int
	link *Link
}

// way is what lies between a node and a host on a shortest path.
type way struct {
	ok    bool
	links int
	delay int64 // ns, one way
	send  int64 // ns, that a full payload without headers takes on all links
	rate  units.Rate
}

// waysTo goes outward from a host, breadth first; hosts do not forward.
func (t *Topology) waysTo(host int, next [][]hop, payload int64) []way {
	ways := make([]way, len(t.Switch))
	ways[host] = way{ok: true, rate: 1<<63 - 1}
	queue := []int{host}
	for ; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, h := range next[at] {
			if ways[h.node].ok {
				continue
			}
			w := ways[at]
			w.links++
			w.delay += int64(h.link.Delay / units.Nanosecond)
			w.send += payload * 8e9 / int64(h.link.Rate)
			w.rate = min(w.rate, h.link.Rate)
			ways[h.node] = w
			if t.Switch[h.node] {
				queue = append(queue, h.node)
			}
		}
	}
	return ways
}

// rtt is the base round-trip time as that simulator counts it, ns; of no way, 0.
func (w way) rtt() int64 { return 2*w.delay + w.send }

// longestRTT is the largest of all pairs of hosts.
func (t *Topology) longestRTT(payload int64) (rtt int64) {
	next, hosts := t.adjacent(), t.hosts()
	for _, to := range hosts {
		ways := t.waysTo(to, next, payload)
		for _, from := range hosts {
			rtt = max(rtt, ways[from].rtt())
		}
	}
	return rtt
}

// parts is what every node has a link to: a part of the network, by the first of its switches, or a host, as its
// complement, since hosts do not forward.
type parts [][]int

func (t *Topology) parts() parts {
	next := t.adjacent()
	first := make([]int, len(t.Switch))
	for i := range first {
		first[i] = -1
	}
	for id := range t.Switch {
		if !t.Switch[id] || first[id] >= 0 {
			continue
		}
		first[id] = id
		for queue := []int{id}; len(queue) > 0; queue = queue[1:] {
			for _, h := range next[queue[0]] {
				if t.Switch[h.node] && first[h.node] < 0 {
					first[h.node] = id
					queue = append(queue, h.node)
				}
			}
		}
	}
	p := make(parts, len(t.Switch))
	for id := range p {
		for _, h := range next[id] {
			part := ^h.node
			if t.Switch[h.node] {
				part = first[h.node]
			}
			if !slices.Contains(p[id], part) {
				p[id] = append(p[id], part)
			}
		}
	}
	return p
}

// joined reports whether a way leads from a host to another.
func (p parts) joined(a, b int) bool {
	return slices.ContainsFunc(p[a], func(part int) bool { return part == ^b || part >= 0 && slices.Contains(p[b], part) })
}
