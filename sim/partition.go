package sim

import (
	"sync/atomic"

	"photon/units"
)

// divide makes parts, if the world may run on several processors.
func (w *World) divide() {
	if w.maxParts < 2 || w.workers > 1 || w.pool.InUse() > 0 {
		return
	}
	n := w.assignParts()
	if n < 2 {
		return
	}
	s := new(parallel)
	s.barrier.parts = uint32(n)
	s.loads, s.carried = make([]load, n), make([]uint32, len(w.ports))
	w.parallel = s
	for range n - 1 {
		w.parts = append(w.parts, w.newPart())
	}
	owner := make([]uint8, len(w.ports))
	var all []*exchange
	for i, p := range w.parts {
		p.exchange, p.beatAt = newExchange(i, n, owner), 0
		all = append(all, p.exchange)
	}
	for i := range w.members {
		m := &w.members[i]
		m.env.Pool = w.parts[m.part].pool
	}
	w.connectParts()
	for _, x := range all {
		x.all, x.roundLength = all, s.lookahead
	}
}

// newPart returns a part without nodes, alone in its cache lines.
func (w *World) newPart() *part {
	p := &new(struct {
		_ [64]byte
		part
		_ [64]byte
	}).part
	p.pool, p.members, p.ports, p.now, p.taps = w.pool.Another(&w.parallel.pools), w.members, w.ports, w.now, w.taps
	return p
}

// maxLookahead is how far one part may be ahead of the others if no links join them.
const maxLookahead = units.Second

// connectParts finds the links between parts: which ports have their peer in another, and which channels there are.
func (w *World) connectParts() {
	s, n := w.parallel, len(w.parts)
	s.lookahead = maxLookahead
	shortest := make([]units.Time, n*n) // delay of the links from one part to another; Never: there are none
	for i := range shortest {
		shortest[i] = units.Never
	}
	owner := w.exchange.owner
	for i := range w.ports {
		owner[i] = uint8(w.members[w.ports[i].flight.node].part)
	}
	for i := range w.ports {
		p := &w.ports[i]
		if p.peer == unlinked {
			continue
		}
		p.peer = p.peerID()
		if from, to := int(owner[i]), int(owner[p.peer]); from != to {
			p.peer = inOtherPart(p.peer)
			d := &shortest[from*n+to]
			*d = min(*d, p.delay)
			s.lookahead = min(s.lookahead, p.delay)
		}
	}
	for to, p := range w.parts {
		x := p.exchange
		x.in = x.in[:0]
		for from, q := range w.parts {
			if d := shortest[from*n+to]; d != units.Never {
				x.in = append(x.in, channel{d, (*[2]atomic.Uint64)(q.exchange.shared[sharedClocks:]), q.exchange.out[to]})
			}
		}
	}
}
