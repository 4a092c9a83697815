package dataplane

import (
	"fmt"
	"math/bits"

	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// maxWeight bounds a priority's weight: what SONiC's schedulers take.
const maxWeight = 100

// checkWeights says what is wrong with the scheduler's weights, in one line.
func (c *SwitchConfig) checkWeights() error {
	for prio, w := range c.Weights {
		if w < 0 || w > maxWeight {
			return fmt.Errorf("priority %d: weight %d must be from 1 to %d; strict priorities have none", prio, w, maxWeight)
		}
	}
	return nil
}

// setWeights works out which priorities share the link by weight, and what each
// may send in a round. The least weight stands for one frame of the longest
// kind, so that no turn is without a frame (Shreedhar and Varghese, SIGCOMM'95,
// section 3).
func (s *Switch) setWeights() {
	weighted, least := uint8(0), maxWeight
	for prio, w := range s.config.Weights {
		if w > 0 {
			weighted |= 1 << prio
			least = min(least, w)
		}
	}
	for prio, w := range s.config.Weights {
		s.quantum[prio] = int64(w * (int(s.longest) + wire.VLANLen + wire.Overhead) / least)
	}
	for i := range s.ports {
		p := &s.ports[i]
		p.weighted = weighted
		for prio := range p.rounds.deficit {
			if weighted>>prio&1 == 0 { // a strict priority saves nothing up for when it has a weight again
				p.rounds.deficit[prio] = 0
			}
		}
		p.gate() // what passes the queues takes its turn, too
	}
}

// rounds is the state of deficit round robin at one port.
type rounds struct {
	current uint8 // the priority whose turn it is, if it has frames
	deficit [pfc.Classes]int64
}

// next chooses which of the ready priorities sends next, and how many bytes on the wire it may send.
// Priorities without weight come first, the highest of them, as in 802.1Q clause 8.6.8.4; what they leave
// is shared by deficit round robin.
func (s *Switch) next(p *switchPort, ready uint8) (prio uint8, budget int64) {
	if strict := ready &^ p.weighted; strict != 0 {
		return uint8(7 - bits.LeadingZeros8(strict)), unbounded
	}
	r := &p.rounds
	if t := r.current & 7; ready>>t&1 != 0 && p.first(t) <= r.deficit[t] {
		return t, r.deficit[t]
	}
	for {
		r.current = (r.current - 1) & 7
		if t := r.current; ready>>t&1 != 0 {
			// A frame with two tags may be longer than a quantum: it waits for another. What is left of a turn that
			// a pause or a shaper cut short is no more than that of one that ended: it would add up, and later
			// take the turns of others.
			first := p.first(t)
			if r.deficit[t] = min(r.deficit[t], first-1) + s.quantum[t]; first <= r.deficit[t] {
				return t, r.deficit[t]
			}
		}
	}
}

// first is what the first frame of a queue occupies on the link.
func (p *switchPort) first(prio uint8) int64 {
	return int64(p.queues[prio].run(1)[0].Len) + int64(p.overhead)
}

// took takes what was sent from a priority's deficit, and its tokens. An empty queue keeps no deficit:
// who has nothing to send saves nothing up.
func (p *switchPort) took(now units.Time, prio uint8, bytes units.Size) {
	if p.shaped>>prio&1 != 0 {
		p.spend(now, prio, bytes)
	}
	if p.weighted>>prio&1 == 0 {
		return
	}
	if p.rounds.deficit[prio] -= int64(bytes); p.queues[prio].frames == 0 {
		p.rounds.deficit[prio] = 0
	}
}
