package topology

import (
	"cmp"

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

// Pair numbers the different ways of a plan as it is: pairs of nodes of one number have the same ways. The same ways
// have one number, unless there are very many that differ. 0 is that of nodes that nothing joins, and of a node with
// itself.
type Pair int

// PairOf is that of two nodes. It costs little, and several goroutines may ask for it.
func (p *Plan) PairOf(from, to int) Pair {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.survey().pair(from, to)
}

// Ways returns the shortest paths between two nodes; nil if there are none. They are the plan's, and not to be changed.
func (p *Plan) Ways(from, to int) Ways {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.survey().between(from, to)
}

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
