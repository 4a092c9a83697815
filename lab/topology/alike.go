package topology

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"photon/fabric"
	"photon/units"
)

// In a large network most pairs of nodes have the same ways, which are worked out once.
//
// A host has one link, and forwards nothing: its ways are those of its switch, and that link. Switches that have the
// same links to the same others, in the same order, are alike: if two of them change places, the network is what it
// was. No shortest way from or to one of them leads over the other, as both are joined to the same. So the ways
// between two nodes depend on what these are alike to, and on whether they are at one switch.

// known is what has been worked out of a plan as it is.
type known struct {
	links []fabric.Link // the different ones, in order
	nodes []place       // by node
	sites []site        // what ways lead over: switches, and hosts that have none

	pairs map[uint64]Pair // by the kinds of two nodes
	ways  []Ways          // by pair; those of greater numbers are not kept
	same  map[string]Pair // by the ways themselves
	room  int             // hops that there is room for
	other Pair            // how many are not kept
	work  scratch
}

// place is where a node is.
type place struct {
	site int32 // a host's switch, or what the node is itself
	kind int32 // nodes that are alike are of one
	link int32 // of a host at a switch; else -1
}

// site is a switch, or a host that has none: one of no link, or of another host.
type site struct {
	alike    int32   // the first that is alike
	steps    []step  // to others, by port
	distance []int32 // of others, links; nil: not worked out
}

type step struct{ site, link int32 }

// mostHops of ways are kept, 48 bytes each: where hardly any links are alike, hardly any ways are.
const mostHops = 1 << 20

// far is the distance of what nothing leads to.
const far = math.MaxInt32

// changed is called when a plan is no longer what was known of it.
func (p *Plan) changed() {
	p.known = nil
	clear(p.nics.pairs)
}

// Bare is a plan of the same nodes and cables, of which nothing is known yet: for one who asks for ways, and does not
// want them to be kept with the plan. Neither plan is to be changed after that.
func (p *Plan) Bare() *Plan {
	bare := &Plan{Nodes: p.Nodes, Cables: p.Cables, names: p.names, hosts: p.hosts, nics: p.nics}
	if p.Several() {
		bare.nics.pairs = map[[2]int][][2]int{}
	}
	return bare
}

// Raised is a bare plan of the same nodes and cables, in which some ports, each a node and a number, and those that
// they are connected to have a rate of so much at least.
func (p *Plan) Raised(rates map[[2]int]units.Rate) *Plan {
	raised := p.Bare()
	raised.Nodes = slices.Clone(p.Nodes)
	for i := range raised.Nodes {
		raised.Nodes[i].Ends = slices.Clone(p.Nodes[i].Ends)
	}
	for at, rate := range rates {
		here := &raised.Nodes[at[0]].Ends[at[1]]
		there := &raised.Nodes[here.Node].Ends[here.Port]
		here.Link.Rate, there.Link.Rate = max(here.Link.Rate, rate), max(there.Link.Rate, rate)
	}
	return raised
}

// survey is what is known of a plan, for one that has its lock.
func (p *Plan) survey() *known {
	if p.known != nil {
		return p.known
	}
	k := &known{nodes: make([]place, len(p.Nodes)), pairs: map[uint64]Pair{}, ways: []Ways{nil}}
	k.same, k.room = map[string]Pair{"": 0}, mostHops
	number := k.rank(p)
	for i := range p.Nodes {
		k.nodes[i] = place{int32(len(k.sites)), -1, -1}
		if _, ok := p.onlyEnd(i, nil); !ok || !p.Nodes[i].Host {
			k.sites = append(k.sites, site{})
		}
	}
	for i := range p.Nodes {
		if end, ok := p.onlyEnd(i, nil); ok && p.Nodes[i].Host {
			k.nodes[i].site, k.nodes[i].link = k.nodes[end.Node].site, number[end.Link]
		}
	}
	k.compare(p, number)
	k.work.init(len(k.sites))
	p.known = k
	return k
}

// compare finds the nodes that are alike.
func (k *known) compare(p *Plan, number map[fabric.Link]int32) {
	kinds := map[string]int32{}
	firsts := map[int32]int32{} // by kind
	for i := range p.Nodes {
		if at := &k.nodes[i]; at.link < 0 {
			s := &k.sites[at.site]
			for _, e := range p.Nodes[i].Ends {
				if to := k.nodes[e.Node]; to.link < 0 {
					s.steps = append(s.steps, step{to.site, number[e.Link]})
				}
			}
			at.kind = kindOf(kinds, s)
			if _, seen := firsts[at.kind]; !seen {
				firsts[at.kind] = at.site
			}
			s.alike = firsts[at.kind]
		}
	}
	hosts, next := map[[2]int32]int32{}, int32(len(kinds))
	for i := range k.nodes {
		if at := &k.nodes[i]; at.link >= 0 {
			key := [2]int32{k.sites[at.site].alike, at.link}
			kind, seen := hosts[key]
			if !seen {
				kind, next = next, next+1
				hosts[key] = kind
			}
			at.kind = kind
		}
	}
}

// rank lists the different links of a plan, and says where each is among them.
func (k *known) rank(p *Plan) map[fabric.Link]int32 {
	number := map[fabric.Link]int32{}
	for i := range p.Nodes {
		for _, e := range p.Nodes[i].Ends {
			number[e.Link] = 0
		}
	}
	for l := range number {
		k.links = append(k.links, l)
	}
	slices.SortFunc(k.links, func(a, b fabric.Link) int { return Hop{Link: a}.compare(Hop{Link: b}) })
	for i, l := range k.links {
		number[l] = int32(i)
	}
	return number
}

// kindOf numbers kinds of sites by their steps.
func kindOf(kinds map[string]int32, s *site) int32 {
	var key []byte
	for _, x := range s.steps {
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(x.site)), uint64(x.link))
	}
	kind, seen := kinds[string(key)]
	if !seen {
		kind = int32(len(kinds))
		kinds[string(key)] = kind
	}
	return kind
}

// to has the distances of all sites to one. Hosts do not forward: those that are sites have no second link.
func (k *known) to(at int32) []int32 {
	if d := k.sites[at].distance; d != nil {
		return d
	}
	d := make([]int32, len(k.sites))
	for i := range d {
		d[i] = far
	}
	d[at] = 0
	queue := append(k.work.queue[:0], at)
	for i := 0; i < len(queue); i++ {
		for _, x := range k.sites[queue[i]].steps {
			if d[x.site] == far {
				d[x.site] = d[queue[i]] + 1
				queue = append(queue, x.site)
			}
		}
	}
	k.work.queue, k.sites[at].distance = queue, d
	return d
}

// stand has two sites that are joined as these are, the second being the first of its kind.
func (k *known) stand(from, to int32) (int32, int32) {
	first := k.sites[to].alike
	if from == first && from != to {
		return to, first // the two are alike
	}
	if from == to {
		return first, first
	}
	return from, first
}

// apart is how many links one node is away from another; far: nothing leads there.
func (k *known) apart(from, to int) int32 {
	if from == to {
		return 0
	}
	a, b := k.nodes[from], k.nodes[to]
	s, t := k.stand(a.site, b.site)
	n := k.to(t)[s]
	if n == far {
		return far
	}
	if a.link >= 0 {
		n++
	}
	if b.link >= 0 {
		n++
	}
	return n
}

// pair is the number of the ways from one node to another.
func (k *known) pair(from, to int) Pair {
	if from == to {
		return 0
	}
	a, b := k.nodes[from], k.nodes[to]
	key := uint64(a.kind)<<32 | uint64(b.kind)<<1
	if a.site == b.site {
		key |= 1
	}
	pair, seen := k.pairs[key]
	if !seen {
		pair = k.number(k.trace(a, b))
		k.pairs[key] = pair
	}
	return pair
}

// number is that of ways that were traced.
func (k *known) number(traced []byte) Pair {
	pair, seen := k.same[string(traced)]
	switch {
	case seen:
		return pair
	case k.room <= 0:
		k.other++
		return math.MaxInt32 - k.other
	}
	pair, w := Pair(len(k.ways)), k.read(traced)
	for _, layer := range w {
		k.room -= len(layer)
	}
	k.same[string(traced)], k.ways = pair, append(k.ways, w)
	return pair
}

// between are the ways from one node to another.
func (k *known) between(from, to int) Ways {
	if pair := int(k.pair(from, to)); pair < len(k.ways) {
		return k.ways[pair]
	}
	return k.read(k.trace(k.nodes[from], k.nodes[to]))
}

// scratch is what trace works with.
type scratch struct {
	queue, now, next []int32 // sites
	place            []int32 // by site, in the layer that leads to it
	into             []int32 // by site: which of next it is; -1: none
	hops             [][]hop // what leads to each of next
	layer            []hop   // of all places
	begin            []int   // of each place, and the end
	key              []byte
}

// hop is a link on some of the ways: from is a place and the link, so that hops are in order by it.
type hop struct {
	from  uint64
	count int
}

func (h hop) alike(o hop) bool { return h.from == o.from }

func (h hop) compare(o hop) int { return cmp.Compare(h.from, o.from) }

func (w *scratch) init(sites int) {
	w.place, w.into = make([]int32, sites), make([]int32, sites)
	for i := range w.into {
		w.into[i] = -1
	}
}

// trace works out ways, and writes them down. They begin where the first node is, and go on by all that is nearer to
// the second. Of the nodes that are equally far, those that the same hops lead to are one place.
func (k *known) trace(from, to place) []byte {
	w := &k.work
	w.key = w.key[:0]
	site, last := k.stand(from.site, to.site)
	distance := k.to(last)
	if distance[site] == far {
		return w.key
	}
	if from.link >= 0 {
		w.single(from.link)
	}
	w.now, w.place[site] = append(w.now[:0], site), 0
	for left := distance[site]; left > 0; left-- {
		w.next = w.next[:0]
		for _, at := range w.now {
			for _, x := range k.sites[at].steps {
				if distance[x.site] == left-1 {
					w.add(x.site, uint64(w.place[at])<<32|uint64(x.link))
				}
			}
		}
		w.merge()
		w.now, w.next = w.next, w.now
	}
	if to.link >= 0 {
		w.single(to.link)
	}
	return w.key
}

// add adds a hop to those that lead to a site.
func (w *scratch) add(site int32, from uint64) {
	n := w.into[site]
	if n < 0 {
		n = int32(len(w.next))
		w.into[site], w.next = n, append(w.next, site)
		if int(n) == len(w.hops) {
			w.hops = append(w.hops, nil)
		}
		w.hops[n] = w.hops[n][:0]
	}
	for i := range w.hops[n] {
		if h := &w.hops[n][i]; h.from == from {
			h.count++
			return
		}
	}
	w.hops[n] = append(w.hops[n], hop{from, 1})
}

// merge makes a layer of what leads to the next sites.
func (w *scratch) merge() {
	w.layer, w.begin = w.layer[:0], append(w.begin[:0], 0)
	for n, site := range w.next {
		hops := w.hops[n]
		slices.SortFunc(hops, hop.compare)
		place := 0
		for ; place < len(w.begin)-1; place++ {
			if there := w.layer[w.begin[place]:w.begin[place+1]]; slices.EqualFunc(hops, there, hop.alike) {
				for i := range hops {
					there[i].count += hops[i].count
				}
				break
			}
		}
		if place == len(w.begin)-1 {
			w.layer = append(w.layer, hops...)
			w.begin = append(w.begin, len(w.layer))
		}
		w.place[site], w.into[site] = int32(place), -1
	}
	w.key = binary.AppendUvarint(w.key, uint64(len(w.layer)))
	for place := range len(w.begin) - 1 {
		for _, h := range w.layer[w.begin[place]:w.begin[place+1]] {
			w.write(h, place)
		}
	}
}

// single is a layer of one link.
func (w *scratch) single(link int32) {
	w.key = binary.AppendUvarint(w.key, 1)
	w.write(hop{uint64(link), 1}, 0)
}

func (w *scratch) write(h hop, place int) {
	for _, v := range [...]uint64{h.from >> 32, uint64(place), h.from & math.MaxUint32, uint64(h.count)} {
		w.key = binary.AppendUvarint(w.key, v)
	}
}

// read makes ways of what was written.
func (k *known) read(key []byte) (w Ways) {
	next := func() int {
		v, n := binary.Uvarint(key)
		key = key[n:]
		return int(v)
	}
	for len(key) > 0 {
		layer := make([]Hop, next())
		for i := range layer {
			h := &layer[i]
			h.From, h.To = next(), next()
			h.Link, h.Count = k.links[next()], next()
		}
		w = append(w, layer)
	}
	return w
}
