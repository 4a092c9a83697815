package dataplane

import (
	"fmt"
	"math"

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
	s.weighted, s.quantum = 0, [pfc.Classes]int64{}
	least := maxWeight
	for prio, w := range s.config.Weights {
		if w > 0 {
			s.weighted |= 1 << prio
			least = min(least, w)
		}
	}
	for prio, w := range s.config.Weights {
		s.quantum[prio] = int64(w * (s.longest + wire.Overhead) / least)
	}
}

// rounds is the state of deficit round robin at one port.
type rounds struct {
	turn    uint8 // the priority whose turn it is, if it has frames
	deficit [pfc.Classes]int64
}

// turn chooses which of the ready priorities, all of which have weights, sends
// next, and how many bytes on the wire it may send. Priorities without weight
// come first, as in 802.1Q clause 8.6.8.4: shared is what they leave.
func (s *Switch) turn(p *switchPort, ready uint8) (prio int, budget int64) {
	r := &p.rounds
	if t := r.turn & 7; ready>>t&1 != 0 && p.first(t) <= r.deficit[t] {
		return int(t), r.deficit[t]
	}
	for {
		r.turn = (r.turn - 1) & 7
		if t := r.turn; ready>>t&1 != 0 {
			r.deficit[t] += s.quantum[t]
			return int(t), r.deficit[t]
		}
	}
}

// first is what the first frame of a queue occupies on the link.
func (p *switchPort) first(prio uint8) int64 {
	q := &p.queues[prio]
	return int64(p.config.Link.WireBytes(int(q.ring[q.head&uint32(len(q.ring)-1)].Len)))
}

// took takes what was sent from a priority's deficit. An empty queue keeps none:
// who has nothing to send saves nothing up.
func (p *switchPort) took(prio int, bytes units.Size) {
	if p.rounds.deficit[prio] -= int64(bytes); p.queues[prio].len() == 0 {
		p.rounds.deficit[prio] = 0
	}
}

// unbounded is the budget of strict priorities.
const unbounded = math.MaxInt64
