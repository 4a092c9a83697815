package impair

import (
	"math/rand/v2"
	"reflect"

	"photon/units"
)

// Change is what other rules make of a node's ports, worked out while the workers run: ports that are new.
type Change struct{ ports map[int]*port }

// Prepare works out what changes when these are the rules: of a port that is not named there are none. Rules of a port
// that are the same stay as they are, with their counts of frames and with what is drawn. It is not called at the same time as Set.
func (n *Node) Prepare(specs map[int]Spec) *Change {
	c := &Change{ports: map[int]*port{}}
	for number := range n.ports {
		spec, was := specs[number], Spec{}
		if p := n.ports[number]; p != nil {
			was = p.spec
		}
		if reflect.DeepEqual(spec, was) {
			continue
		}
		p := &port{number: number, spec: spec, random: rand.New(rand.NewPCG(spec.Seed, uint64(number)))}
		for _, r := range spec.Rules {
			x := rule{Rule: r, due: units.Never}
			if x.Stop == 0 {
				x.Stop = units.Never
			}
			if r.Do == Pause {
				x.due = r.Start
			}
			p.rules = append(p.rules, x)
		}
		c.ports[number] = p
	}
	return c
}

// Set has a change take effect; nothing else is done with the node meanwhile. What was done is counted on, frames that
// are held back leave when they were to, and a port that a rule paused is resumed. laps is how often the clock was set
// back since the instants of rules began.
func (n *Node) Set(now units.Time, laps uint64, c *Change) {
	for number, p := range c.ports {
		p.env = n.envs[n.workers[number]] // only now: until here workers read whose each port is, and nobody writes it
		for i := range p.rules {
			for range laps {
				p.rules[i].rebase(units.Lap)
			}
		}
		if was := n.ports[number]; was != nil {
			p.delayed, p.out, p.count = was.delayed, was.out, was.count
			p.rules = append(was.released(now), p.rules...)
		}
		n.ports[number] = p
		p.when()
		p.wake()
	}
}

// released are rules that take back the pauses that those of the port have sent.
func (p *port) released(now units.Time) (all []rule) {
	for _, r := range p.rules {
		if r.paused && r.due < units.Never {
			r.Stop, r.due = now, now
			all = append(all, r)
		}
	}
	return all
}

var _ units.Rebaser = (*Node)(nil)

// Rebase implements units.Rebaser.
func (n *Node) Rebase(by units.Time) {
	units.Rebase(n.Server, by)
	for _, p := range n.ports {
		if p == nil {
			continue
		}
		p.next.Rebase(by)
		for i := range p.delayed {
			p.delayed[i].until.Rebase(by)
		}
		for i := range p.rules {
			p.rules[i].rebase(by)
		}
	}
}

func (r *rule) rebase(by units.Time) {
	r.Start.Rebase(by)
	r.Stop.Rebase(by)
	r.due.Rebase(by)
}
