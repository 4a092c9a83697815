package topology

import (
	"strconv"

	"photon/fabric"
)

// Dumbbell is n senders H0.. on switch S0 and n receivers R0.. on switch S1.
func Dumbbell(n int, host, trunk fabric.Link) *Plan {
	p := New()
	left, right := p.Switch("switch", "S0"), p.Switch("switch", "S1")
	for i := range n {
		p.Connect(p.Host("H%d", i), left, host)
	}
	for i := range n {
		p.Connect(p.Host("R%d", i), right, host)
	}
	p.Connect(left, right, trunk)
	return p
}

// Star is n hosts H0.. on switch S0.
func Star(n int, host fabric.Link) *Plan {
	p := New()
	s := p.Switch("switch", "S0")
	for i := range n {
		p.Connect(p.Host("H%d", i), s, host)
	}
	return p
}

// Compact is figure 1 of the PCN paper: two switches, H0 and H1 on S0, and on S1
// the receivers R0 and R1 and n bursting hosts H2.. .
func Compact(n int, host, trunk fabric.Link) *Plan {
	p := New()
	s0, s1 := p.Switch("switch", "S0"), p.Switch("switch", "S1")
	for i := range 2 {
		p.Connect(p.Host("H%d", i), s0, host)
	}
	for i := range 2 {
		p.Connect(p.Host("R%d", i), s1, host)
	}
	for i := range n {
		p.Connect(p.Host("H%d", i+2), s1, host)
	}
	p.Connect(s0, s1, trunk)
	return p
}

// ParkingLot is a chain of n bottlenecks between n+1 switches S0..Sn. H0 on S0
// sends across all to R0 on Sn; Hi on S(i-1) sends across the i-th to Ri on Si.
func ParkingLot(n int, host, trunk fabric.Link) *Plan {
	p := New()
	s := make([]int, n+1)
	for i := range s {
		s[i] = p.Switch("switch", "S%d", i)
	}
	p.Connect(p.Host("H0"), s[0], host)
	for i := 1; i <= n; i++ {
		p.Connect(p.Host("H%d", i), s[i-1], host)
	}
	p.Connect(p.Host("R0"), s[n], host)
	for i := 1; i <= n; i++ {
		p.Connect(p.Host("R%d", i), s[i], host)
	}
	for i := range n {
		p.Connect(s[i], s[i+1], trunk)
	}
	return p
}

// Chain is n switches S0.. in a row with so many hosts on each: Hi-j is the j-th on Si.
func Chain(n, hosts int, host, trunk fabric.Link) *Plan {
	p := New()
	s := make([]int, n)
	for i := range s {
		s[i] = p.Switch("switch", "S%d", i)
		for j := range hosts {
			p.Connect(p.Host("H%d-%d", i, j), s[i], host)
		}
	}
	for i := range n - 1 {
		p.Connect(s[i], s[i+1], trunk)
	}
	return p
}

// ClosSize is the size of a Clos network of pods.
type ClosSize struct {
	Pods, ToRs, Leafs, Hosts int // per pod: ToRs, leafs; per ToR: hosts
	Spines                   int
	Uplinks                  int // parallel links between a ToR and a leaf
	// Grouped: leaf k of every pod reaches the k-th group of spines only, as in a
	// fat tree; otherwise every leaf reaches every spine.
	Grouped bool
	// Core is the link of leafs to spines; a rate of 0: as that of ToRs to leafs.
	Core fabric.Link
}

// FatTree is the size of a fat tree of switches with k ports, k even (Al-Fares et al., SIGCOMM'08): k pods of k/2 ToRs
// and k/2 leafs, k/2 hosts on each ToR, and k*k/4 spines.
func FatTree(k int) ClosSize {
	return ClosSize{Pods: k, ToRs: k / 2, Leafs: k / 2, Hosts: k / 2, Spines: k * k / 4, Uplinks: 1, Grouped: true}
}

// Clos is pods of ToRs and leafs below spines. Hosts are H0.., in the order of
// pods and ToRs; switches T0.., L0.., C0.. in the same order. Without pods
// beyond one and without leafs, spines stand directly above the ToRs.
func Clos(c ClosSize, host, trunk fabric.Link) *Plan {
	p := New()
	core := c.Core
	if core.Rate == 0 {
		core = trunk
	}
	spines := make([]int, c.Spines)
	for i := range spines {
		spines[i] = p.Switch("spine", "C%d", i)
	}
	hosts := 0
	for pod := range c.Pods {
		leafs := make([]int, c.Leafs)
		for k := range leafs {
			leafs[k] = p.Switch("leaf", "L%d", pod*c.Leafs+k)
			p.connectSpines(leafs[k], k, c, spines, core)
		}
		for t := range c.ToRs {
			tor := p.Switch("tor", "T%d", pod*c.ToRs+t)
			for _, l := range leafs {
				for range c.Uplinks {
					p.Connect(tor, l, trunk)
				}
			}
			if c.Leafs == 0 {
				for _, s := range spines {
					for range c.Uplinks {
						p.Connect(tor, s, trunk)
					}
				}
			}
			for range c.Hosts {
				p.Connect(p.Host("H%d", hosts), tor, host)
				hosts++
			}
		}
	}
	return p
}

func (p *Plan) connectSpines(leaf, k int, c ClosSize, spines []int, trunk fabric.Link) {
	from, to := 0, len(spines)
	if c.Grouped {
		per := len(spines) / c.Leafs
		from, to = k*per, (k+1)*per
	}
	for _, s := range spines[from:to] {
		p.Connect(leaf, s, trunk)
	}
}

// Ring is n switches in a circle with so many hosts on each, as Chain names them:
// frames that go two thirds round depend on each other's buffers in a cycle.
func Ring(n, hosts int, host, trunk fabric.Link) *Plan {
	p := Chain(n, hosts, host, trunk)
	p.Connect(p.names["S"+strconv.Itoa(n-1)], p.names["S0"], trunk)
	return p
}

// DragonflySize is the size of a dragonfly (Kim et al., ISCA'08): every switch of a group has a link to each other
// switch of it, and every group one to each other group.
type DragonflySize struct {
	Switches int // per group: a
	Hosts    int // per switch: p
	Global   int // links of a switch to other groups: h
}

// Groups is how many there are: each switch of a group has links to h others.
func (d DragonflySize) Groups() int { return d.Switches*d.Global + 1 }

// Dragonfly has hosts H0.. in the order of switches, switches S0.. in the order of groups. Frames take shortest
// paths: at most one link within the first group, one between groups, and one within the last. global is the
// link between groups.
func Dragonfly(d DragonflySize, host, local, global fabric.Link) *Plan {
	p := New()
	groups := d.Groups()
	s := make([]int, groups*d.Switches)
	hosts := 0
	for i := range s {
		s[i] = p.Switch("switch", "S%d", i)
		for range d.Hosts {
			p.Connect(p.Host("H%d", hosts), s[i], host)
			hosts++
		}
	}
	for g := range groups {
		for a := range d.Switches {
			for b := range a {
				p.Connect(s[g*d.Switches+b], s[g*d.Switches+a], local)
			}
		}
	}
	// The k-th link of a group leads to the k-th of the others, counted from its own: each pair of groups has one.
	for g := range groups {
		for k := range groups - 1 {
			other := (g + k + 1) % groups
			back := groups - 2 - k // by which the other counts this one
			if g < other {
				p.Connect(s[g*d.Switches+k/d.Global], s[other*d.Switches+back/d.Global], global)
			}
		}
	}
	return p
}
