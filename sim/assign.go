package sim

import (
	"cmp"
	"slices"

	"photon/units"
)

const (
	// minLookahead is the shortest delay of a link that may be between two parts: in less time too little happens to
	// be worth a synchronization.
	minLookahead = 200 * units.Nanosecond
	// maxParts is how many parts there may be: their numbers are bytes.
	maxParts = 1 << 8
)

// assignParts says which part each node belongs to, and returns how many parts there are. Nodes with short links
// between them stay together, and so do a host and its switch.
func (w *World) assignParts() int {
	sets := newSets(len(w.members))
	w.unite(sets, func(p *port) bool { return p.delay < minLookahead })
	for i := range w.members {
		w.members[i].group = sets.first(i) // hosts may leave their switch later, see rebalance
	}
	w.unite(sets, func(p *port) bool { return w.members[p.flight.node].ports == 1 })
	rates := make([]units.Rate, len(w.members)) // by first node: the sum of a set's links, which limits what it has to do
	for i := range w.ports {
		rates[sets.first(int(w.ports[i].flight.node))] += w.ports[i].link.Rate
	}
	var firsts []int
	for i := range w.members {
		if sets.first(i) == i {
			firsts = append(firsts, i)
		}
	}
	parts := min(w.maxParts, len(firsts), maxParts)
	partOf := distribute(firsts, rates, parts)
	for i := range w.members {
		w.members[i].part = partOf[sets.first(i)]
	}
	return parts
}

// unite puts the nodes at the ends of some links into one set each.
func (w *World) unite(sets disjointSets, which func(p *port) bool) {
	for i := range w.ports {
		if p := &w.ports[i]; p.peer != unlinked && which(p) {
			sets.unite(int(p.flight.node), int(w.ports[p.peerID()].flight.node))
		}
	}
}

// distribute gives each set of nodes to a part, so that the sums of their rates are alike. Sets of the same rate, as
// those of all leaf switches of a network, go to the parts in the order of their numbers, as many to each: those that
// follow each other are often neighbours. Each that is left over goes to the part with the smallest sum.
func distribute(firsts []int, rates []units.Rate, parts int) (partOf []int) {
	slices.SortStableFunc(firsts, func(a, b int) int { return cmp.Compare(rates[b], rates[a]) })
	sums := make([]units.Rate, parts)
	partOf = make([]int, len(rates))
	for len(firsts) > 0 {
		alike := 1
		for alike < len(firsts) && rates[firsts[alike]] == rates[firsts[0]] {
			alike++
		}
		each := alike / parts
		for i, first := range firsts[:alike] {
			to := slices.Index(sums, slices.Min(sums))
			if i < each*parts {
				to = i / each
			}
			partOf[first] = to
			sums[to] += rates[first]
		}
		firsts = firsts[alike:]
	}
	return partOf
}

// disjointSets are sets of nodes, as a forest (union-find): each node leads to one of its set with a lower number, and the
// first of a set to itself.
type disjointSets []int

func newSets(n int) disjointSets {
	s := make(disjointSets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// first is the first node of the set that a node is in.
func (s disjointSets) first(node int) int {
	for s[node] != node {
		node = s[node]
	}
	return node
}

func (s disjointSets) unite(a, b int) {
	a, b = s.first(a), s.first(b)
	s[max(a, b)] = min(a, b)
}
