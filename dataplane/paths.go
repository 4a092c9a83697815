package dataplane

import (
	"errors"
	"fmt"

	"photon/fabric"
	"photon/units"
)

// Paths says how a switch chooses among ports, or next hops, of equal cost.
type Paths struct {
	By  PathChoice
	Gap units.Time // ByFlowlet: a flow that was silent for longer may take another path
	// Seed is that of random choices. The port's number is combined with it by XOR: seeds of different runs are to
	// differ above the bits of port numbers.
	Seed uint64
}

func (p Paths) String() string {
	if p.By == ByFlowlet {
		return fmt.Sprintf("%v after %v", p.By, p.Gap)
	}
	return p.By.String()
}

// PathChoice is what the choice goes by.
type PathChoice uint8

// Ways to choose a path. All but ByFlow have the packets of a flow overtake each other; receivers must place them
// (selective repeat), or senders send them again.
const (
	ByFlow       PathChoice = iota // a hash of the headers: a flow keeps its path (ECMP; RFC 2992)
	ByRoundRobin                   // one after the other, packet by packet, for each port that packets come in at
	AtRandom                       // at random, packet by packet (packet spraying)
	ByFlowlet                      // at random whenever a flow was silent for Gap (LetFlow, NSDI'17)
	ByQueue                        // two at random, of which the shorter queue (DRILL, SIGCOMM'17, with d = 2 and m = 0)
)

// PathChoices are their names.
var PathChoices = []string{"flow", "round_robin", "random", "flowlet", "queue"}

func (c PathChoice) String() string { return PathChoices[c] }

// checkPaths says what is wrong with the choice of paths, in one line.
func (c *SwitchConfig) checkPaths() error {
	switch p := c.Paths; {
	case int(p.By) >= len(PathChoices):
		return fmt.Errorf("paths: there is no choice %d", p.By)
	case p.By == ByFlowlet && p.Gap <= 0:
		return fmt.Errorf("paths by flowlet: the gap %v must be positive", p.Gap)
	case p.By != ByFlowlet && p.Gap != 0:
		return fmt.Errorf("paths by %v: a gap is of flowlets", p.By)
	case p.By == ByQueue:
		for i := range c.Ports {
			if c.Ports[i].Worker != c.Ports[0].Worker {
				return &ItemError{"paths", 0, errors.New("paths by queue: one worker must have all ports, or it does not know all queues")}
			}
		}
	}
	return nil
}

// flowlets is how many flowlets a port tells apart. Two flows of the same number are one.
const flowlets = 1024

// paths is what a port that packets come in at keeps for the choice.
type paths struct {
	next   uint32
	random random
	flows  []flowlet // ByFlowlet
}

type flowlet struct {
	last   units.Time // its last packet
	draw   uint32     // which path: a hash, of which the number of paths is not known
	active bool
}

func newPaths(c *SwitchConfig, port int) *paths {
	if c.Paths.By == ByFlow {
		return nil
	}
	mixed := (c.Paths.Seed ^ uint64(c.Salt)<<32 ^ uint64(port)) * 0x9E3779B97F4A7C15
	p := &paths{next: uint32(port), random: random(mixed | 1)}
	if c.Paths.By == ByFlowlet {
		p.flows = make([]flowlet, flowlets)
	}
	return p
}

// random is a generator of random numbers (xorshift64*; Vigna, "An experimental exploration of Marsaglia's xorshift
// generators"). It begins with any number but 0.
type random uint64

func (r *random) draw() uint32 {
	*r ^= *r >> 12
	*r ^= *r << 25
	*r ^= *r >> 27
	return uint32(*r * 0x2545F4914F6CDD1D >> 32)
}

// below makes a number below n of a random one.
func below(random uint32, n int) int { return int(uint64(random) * uint64(n) >> 32) }

// flowlet is the random number of a flow's flowlet.
func (p *paths) flowlet(now units.Time, hash uint32, gap units.Time) uint32 {
	f := &p.flows[hash%flowlets]
	if !f.active || now-f.last > gap {
		f.draw, f.active = p.random.draw(), true
	}
	f.last = now
	return f.draw
}

// drawn is what the choice for a flow changes.
type drawn struct {
	next   uint32
	number uint32
	random random
	flow   flowlet
}

func (p *paths) state(hash uint32) drawn {
	d := drawn{next: p.next, number: hash % flowlets, random: p.random}
	if p.flows != nil {
		d.flow = p.flows[d.number]
	}
	return d
}

func (p *paths) restore(d *drawn) {
	if p.next, p.random = d.next, d.random; p.flows != nil {
		p.flows[d.number] = d.flow
	}
}

// Rebase implements units.Rebaser.
func (p *paths) Rebase(by units.Time) {
	for i := range p.flows {
		p.flows[i].last.Rebase(by)
	}
}

// portOf chooses among ports of equal cost for a frame of a priority.
func (s *Switch) portOf(now units.Time, p *switchPort, f *fabric.Frame, prio uint8, group []uint16) uint16 {
	if s.config.Paths.By == ByFlow { // as path does; most switches choose so, and need not make it a function
		return group[pick(flowHash(p.env.Pool, f), s.config.Salt, len(group))]
	}
	return group[s.path(now, p, f, prio, len(group), func(i int) uint16 { return group[i] })]
}

// path chooses among n paths for a frame of a priority; port says the port of each.
func (s *Switch) path(now units.Time, p *switchPort, f *fabric.Frame, prio uint8, n int, port func(i int) uint16) int {
	c := &s.config
	switch c.Paths.By {
	case ByFlow:
		return pick(flowHash(p.env.Pool, f), c.Salt, n)
	case ByRoundRobin:
		p.paths.next++
		return int(p.paths.next % uint32(n))
	case AtRandom:
		return below(p.paths.random.draw(), n)
	case ByFlowlet:
		return below(p.paths.flowlet(now, flowHash(p.env.Pool, f), c.Paths.Gap), n)
	}
	if n == 1 {
		return 0
	}
	a, b := below(p.paths.random.draw(), n), below(p.paths.random.draw(), n-1)
	if b >= a {
		b++
	}
	if s.waitsAt(port(b), prio) < s.waitsAt(port(a), prio) {
		return b
	}
	return a
}

// waitsAt is how much of a priority waits at a port; of a neighbour whose port is not known, nothing.
func (s *Switch) waitsAt(port uint16, prio uint8) units.Size {
	if int(port) >= len(s.ports) {
		return 0
	}
	return s.ports[port].queues[prio&7].bytes
}
