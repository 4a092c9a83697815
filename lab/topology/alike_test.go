package topology

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/units"
)

// plainDistances are those of all nodes to one, link by link.
func plainDistances(p *Plan, to int) map[int]int { return plainDistancesOver(p, to, nil) }

func plainDistancesOver(p *Plan, to int, down Down) map[int]int {
	d := map[int]int{to: 0}
	for queue := []int{to}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if p.Nodes[at].Host && at != to {
			continue
		}
		for port, e := range p.Nodes[at].Ends {
			if _, seen := d[e.Node]; !seen && !down[[2]int{at, port}] {
				d[e.Node] = d[at] + 1
				queue = append(queue, e.Node)
			}
		}
	}
	return d
}

// plainWays works ways out for one pair of nodes, and knows of no others.
func plainWays(p *Plan, from, to int) (w Ways) {
	d := plainDistances(p, to)
	if _, joined := d[from]; !joined {
		return nil
	}
	alike := func(a, b Hop) bool { return a.From == b.From && a.Link == b.Link }
	nodes, places := []int{from}, map[int]int{from: 0}
	for len(nodes) > 1 || nodes[0] != to {
		into, next := map[int][]Hop{}, []int(nil)
		for _, at := range nodes {
			for _, e := range p.Nodes[at].Ends {
				if away, joined := d[e.Node]; !joined || away != d[at]-1 {
					continue
				}
				if into[e.Node] == nil {
					next = append(next, e.Node)
				}
				h := Hop{places[at], 0, e.Link, 1}
				if i := slices.IndexFunc(into[e.Node], func(o Hop) bool { return alike(h, o) }); i >= 0 {
					into[e.Node][i].Count++
				} else {
					into[e.Node] = append(into[e.Node], h)
				}
			}
		}
		var layers [][]Hop // by place
		places = map[int]int{}
		for _, node := range next {
			hops := into[node]
			slices.SortFunc(hops, func(a, b Hop) int {
				return slices.Compare(
					[]int64{int64(a.From), int64(a.Link.Rate), int64(a.Link.Delay), int64(a.Link.Overhead)},
					[]int64{int64(b.From), int64(b.Link.Rate), int64(b.Link.Delay), int64(b.Link.Overhead)})
			})
			place := slices.IndexFunc(layers, func(o []Hop) bool { return slices.EqualFunc(hops, o, alike) })
			if place < 0 {
				place = len(layers)
				for i := range hops {
					hops[i].To = place
				}
				layers = append(layers, hops)
			} else {
				for i, h := range hops {
					layers[place][i].Count += h.Count
				}
			}
			places[node] = place
		}
		w, nodes = append(w, slices.Concat(layers...)), next
	}
	return w
}

// plainPath takes the first port everywhere that leads nearer.
func plainPath(p *Plan, from, to int) (path []End) {
	d := plainDistances(p, to)
	if _, joined := d[from]; !joined {
		return nil
	}
	for at := from; at != to; {
		for _, e := range p.Nodes[at].Ends {
			if away, joined := d[e.Node]; joined && away == d[at]-1 {
				path, at = append(path, e), e.Node
				break
			}
		}
	}
	return path
}

// drawPlan is a network of any kind, some with other links than the others', with more of them or with fewer.
func drawPlan(t *rapid.T) (*Plan, func() fabric.Link) {
	n := func(most int, name string) int { return rapid.IntRange(1, most).Draw(t, name) }
	several := rapid.Bool().Draw(t, "several kinds of links")
	link := func() fabric.Link {
		if !several {
			return fabric.Link{Rate: 10 * units.Gbps, Delay: units.Microsecond}
		}
		return fabric.Link{
			Rate:     rapid.SampledFrom([]units.Rate{10 * units.Gbps, 40 * units.Gbps}).Draw(t, "rate"),
			Delay:    rapid.SampledFrom([]units.Time{0, units.Microsecond}).Draw(t, "delay"),
			Overhead: rapid.SampledFrom([]int{0, 0, fabric.NoOverhead}).Draw(t, "overhead"),
		}
	}
	host, trunk := link(), link()
	var p *Plan
	switch rapid.IntRange(0, 8).Draw(t, "kind") {
	case 0:
		p = Clos(ClosSize{
			Pods: n(3, "pods"), ToRs: n(3, "tors"), Leafs: n(3, "leafs"), Hosts: n(3, "hosts"), Spines: n(4, "spines"),
			Uplinks: n(2, "uplinks"), Core: link(),
		}, host, trunk)
	case 1:
		p = Clos(FatTree(4), host, trunk)
	case 2:
		size := ClosSize{Pods: 1, ToRs: n(5, "tors"), Hosts: n(3, "hosts"), Spines: n(4, "spines"), Uplinks: 1}
		p = Clos(size, host, trunk)
	case 3:
		p = Dragonfly(DragonflySize{n(3, "switches"), n(2, "hosts"), n(2, "global")}, host, trunk, link())
	case 4:
		p = Ring(2+n(5, "switches"), n(3, "hosts"), host, trunk)
	case 5:
		p = Rails(RailSize{n(3, "pods"), n(3, "hosts"), n(4, "nics"), n(3, "spines")}, host, trunk)
	case 6:
		p = Planes(PlaneSize{n(3, "nics"), n(3, "tors"), n(3, "hosts"), n(3, "spines")}, host, trunk)
	case 7:
		p = Compact(n(5, "hosts"), host, trunk)
	default:
		p = New()
		for i := range n(8, "switches") {
			p.Switch("x", "S%d", i)
		}
		for i := range n(8, "hosts") {
			p.Host("H%d", i)
		}
	}
	for range rapid.IntRange(0, 25).Draw(t, "more links") * rapid.IntRange(0, 1).Draw(t, "are there") {
		p.Connect(n(len(p.Nodes), "a")-1, n(len(p.Nodes), "b")-1, link())
	}
	return p, link
}

// lose takes some links away.
func lose(t *rapid.T, p *Plan) {
	for range rapid.IntRange(0, 4).Draw(t, "lost") {
		if len(p.Cables) > 0 {
			c := rapid.SampledFrom(p.Cables).Draw(t, "cable")
			p.Remove(p.Nodes[c.A].Name, p.Nodes[c.B].Name)
		}
	}
}

// compareWays holds all pairs of nodes of a plan against what is worked out for each by itself.
func compareWays(t *rapid.T, p *Plan) {
	pairs := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)).Perm(len(p.Nodes) * len(p.Nodes))
	first := map[Pair]Ways{}
	if rapid.Bool().Draw(t, "little room") {
		p.survey().room = rapid.IntRange(0, 40).Draw(t, "room")
	}
	for _, i := range pairs[:min(len(pairs), 1500)] {
		from, to := i/len(p.Nodes), i%len(p.Nodes)
		want, got := plainWays(p, from, to), p.Ways(from, to)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s to %s:\n%v, not\n%v", p.Nodes[from].Name, p.Nodes[to].Name, got, want)
		}
		if got, want := p.Path(from, to), plainPath(p, from, to); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s to %s: path %v, not %v", p.Nodes[from].Name, p.Nodes[to].Name, got, want)
		}
		pair := p.PairOf(from, to)
		if was, seen := first[pair]; seen && !reflect.DeepEqual(was, want) || (pair == 0) != (want == nil) {
			t.Fatalf("pair %d is that of\n%v and of\n%v", pair, was, want)
		}
		first[pair] = want
	}
	for a, x := range first {
		for b, y := range first {
			if a != b && p.survey().other == 0 && reflect.DeepEqual(x, y) {
				t.Fatalf("pairs %d and %d are both\n%v", a, b, x)
			}
		}
	}
}

// What nodes share are the ways that each has by itself, whichever is asked for first, and also when the plan has
// changed since.
func TestWaysAreThoseOfEachPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, link := drawPlan(t)
		compareWays(t, p)
		lose(t, p)
		compareWays(t, p)
		if rapid.Bool().Draw(t, "grows") {
			h := p.Host("new")
			if p.Ways(h, p.Hosts()[0]) != nil {
				t.Fatal("the new host has no link")
			}
			p.Connect(h, rapid.IntRange(0, len(p.Nodes)-1).Draw(t, "at"), link())
			compareWays(t, p)
		}
	})
}

// Routes of each switch to each host are its ports that lead nearer, with whatever links down.
func TestRoutesLeadNearer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := drawPlan(t)
		down := Down{}
		for range rapid.IntRange(0, 5).Draw(t, "down") * min(1, len(p.Cables)) {
			c := rapid.SampledFrom(p.Cables).Draw(t, "cable")
			down[[2]int{c.A, c.APort}], down[[2]int{c.B, c.BPort}] = true, true
		}
		routes := p.RoutesOver(down, false)
		for _, host := range p.Endpoints() {
			d := plainDistancesOver(p, host, down)
			for i := range p.Nodes {
				var want []uint16
				for port, e := range p.Nodes[i].Ends {
					away, joined := d[e.Node]
					if joined && away == d[i]-1 && !p.Nodes[i].Host && !down[[2]int{i, port}] {
						want = append(want, uint16(port))
					}
				}
				if got := routes.Ports(i, host); !slices.Equal(got, want) {
					t.Fatalf("%s to %s: ports %v, not %v", p.Nodes[i].Name, p.Nodes[host].Name, got, want)
				}
			}
		}
	})
}

// nearestPairs are those of two hosts' NICs that the fewest links join; NICs of one number, if there are such.
func nearestPairs(p *Plan, from, to int) (pairs [][2]int) {
	least, same := len(p.Nodes), false
	for round := range 3 { // the fewest, whether some are of one number, and which they are
		for j, b := range p.NICs(to) {
			d := plainDistances(p, b)
			for i, a := range p.NICs(from) {
				links, joined := d[a]
				if !joined {
					links = len(p.Nodes)
				}
				switch {
				case round == 0:
					least = min(least, links)
				case round == 1:
					same = same || links == least && i == j
				case links == least && (i == j || !same):
					pairs = append(pairs, [2]int{a, b})
				}
			}
		}
	}
	return pairs
}

// NICs send to those that are nearest in the plan as it is, not as it was.
func TestNearestNICs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := drawPlan(t)
		compare := func() {
			hosts := p.Hosts()
			for range 20 {
				from, to := rapid.SampledFrom(hosts).Draw(t, "from"), rapid.SampledFrom(hosts).Draw(t, "to")
				if !p.Several() || from == to {
					continue
				}
				for k, want := range nearestPairs(p, from, to) {
					if a, b := p.Pick(from, to, k); a != want[0] || b != want[1] {
						t.Fatalf("%s to %s: %d-%d, not %v", p.Nodes[from].Name, p.Nodes[to].Name, a, b, want)
					}
				}
			}
		}
		compare()
		lose(t, p)
		compare()
	})
}

// A Clos network has few different ways, however many pairs: on one ToR, in one pod, and across.
func TestWaysOfAClosAreFew(t *testing.T) {
	p := Clos(ClosSize{Pods: 5, ToRs: 4, Leafs: 3, Hosts: 4, Spines: 6, Uplinks: 1}, link(1), link(2))
	different := map[Pair]int{}
	for _, a := range p.Hosts() {
		for _, b := range p.Hosts() {
			if a != b {
				different[p.PairOf(a, b)] = len(p.Ways(a, b))
			}
		}
	}
	if want := map[Pair]int{1: 2, 2: 4, 3: 6}; !reflect.DeepEqual(different, want) {
		t.Errorf("pairs, and links of their ways: %v, not %v", different, want)
	}
	if k := p.survey(); len(k.pairs) != 5*5+5 { // a pod with a pod, and a ToR of each with itself
		t.Errorf("ways were worked out %d times", len(k.pairs))
	}
}

// Several goroutines read one plan.
func TestReadersOfOnePlan(t *testing.T) {
	p := Rails(RailSize{Pods: 4, Hosts: 4, NICs: 4, Spines: 4}, link(1), link(2))
	hosts, nics := p.Hosts(), p.Endpoints()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 2000 {
				a, b := nics[(i*7+g)%len(nics)], nics[(i*13+g*5)%len(nics)]
				if w := p.Ways(a, b); len(w) != len(p.Path(a, b)) || (p.PairOf(a, b) == 0) != (w == nil) {
					t.Errorf("%d to %d", a, b)
				}
				if x, y := p.Pick(hosts[i%16], hosts[(i+1+g)%16], i); len(p.Path(x, y)) == 0 && x != y {
					t.Errorf("%d to %d are nearest", x, y)
				}
			}
		})
	}
	all.Wait()
}
