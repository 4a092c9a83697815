package topology

import (
	"cmp"
	"slices"

	"photon/fabric"
	"photon/units"
)

// Ways are all shortest paths from one node to another, link by link. What is alike in them is there once: the many
// paths of a regular network are a single one here.
type Ways [][]Hop

// Hop is a link on some of the ways. It leads from one of the places that the link before leads to; the first comes
// from place 0, and the last leads to place 0.
type Hop struct {
	From, To int
	Link     fabric.Link
	Count    int // of links that are alike
}

// Pair is what the ways between two hosts depend on: the switches that these are joined to, and their cables. All hosts of a
// switch with equal cables are equally far from everything.
type Pair struct{ from, to End }

// PairOf is that of two hosts, each of which has one link.
func (p *Plan) PairOf(from, to int) Pair {
	a, b := p.Nodes[from].Ends[0], p.Nodes[to].Ends[0]
	a.Port, b.Port = 0, 0
	return Pair{a, b}
}

// Ways returns the shortest paths between two nodes; nil if there are none.
func (p *Plan) Ways(from, to int) (w Ways) {
	distance := p.distances(to)
	if distance[from] == len(p.Nodes) {
		return nil
	}
	nodes, places := []int{from}, map[int]int{from: 0}
	for len(nodes) > 1 || nodes[0] != to {
		into := map[int][]Hop{} // by the node that it leads to
		var next []int
		for _, at := range nodes {
			for _, e := range p.Nodes[at].Ends {
				if distance[e.Node] != distance[at]-1 {
					continue
				}
				if into[e.Node] == nil {
					next = append(next, e.Node)
				}
				into[e.Node] = add(into[e.Node], Hop{From: places[at], Link: e.Link, Count: 1})
			}
		}
		var layer []Hop
		var alike [][]Hop // what leads to each place
		var begin []int   // and where it is in the layer
		places = map[int]int{}
		for _, node := range next {
			hops := into[node]
			slices.SortFunc(hops, Hop.compare)
			place := slices.IndexFunc(alike, func(other []Hop) bool { return slices.EqualFunc(hops, other, Hop.alike) })
			if place < 0 {
				place = len(alike)
				alike, begin = append(alike, hops), append(begin, len(layer))
				for _, h := range hops {
					layer = append(layer, Hop{h.From, place, h.Link, 0})
				}
			}
			for i, h := range hops {
				layer[begin[place]+i].Count += h.Count
			}
			places[node] = place
		}
		w, nodes = append(w, layer), next
	}
	return w
}

// add adds a link to some, or to the count of those that are alike.
func add(hops []Hop, h Hop) []Hop {
	if i := slices.IndexFunc(hops, h.alike); i >= 0 {
		hops[i].Count++
		return hops
	}
	return append(hops, h)
}

func (h Hop) alike(o Hop) bool { return h.compare(o) == 0 }

func (h Hop) compare(o Hop) int {
	return cmp.Or(cmp.Compare(h.From, o.From), cmp.Compare(h.Link.Rate, o.Link.Rate),
		cmp.Compare(h.Link.Delay, o.Link.Delay), cmp.Compare(h.Link.Overhead, o.Link.Overhead))
}

// Shortest is the least that any of the ways takes, where links take what is said of them by their places on it.
func (w Ways) Shortest(takes func(i int, l fabric.Link) units.Time) units.Time {
	return w.best(takes, func(a, b units.Time) bool { return a < b })
}

// Longest is the most that any of the ways takes.
func (w Ways) Longest(takes func(i int, l fabric.Link) units.Time) units.Time {
	return w.best(takes, func(a, b units.Time) bool { return a > b })
}

func (w Ways) best(takes func(int, fabric.Link) units.Time, better func(a, b units.Time) bool) units.Time {
	sums := []units.Time{0} // by place
	for i, layer := range w {
		var next []units.Time
		for _, h := range layer { // in the order of the places that they lead to
			sum := sums[h.From] + takes(i, h.Link)
			if h.To == len(next) {
				next = append(next, sum)
			} else if better(sum, next[h.To]) {
				next[h.To] = sum
			}
		}
		sums = next
	}
	return sums[0]
}
