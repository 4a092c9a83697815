package dataplane

import (
	"fmt"
	"sync/atomic"

	"photon/fabric"
	"photon/internal/memory"
	"photon/pfc"
	"photon/units"
)

// Lossy frames share a pool. What ports and queues have of it for themselves stands here: how much the frames may take
// that came through one port, how long a queue may become, and what is set aside for a queue (its minimum), which
// no other queue takes. A frame that fits into its queue's minimum is taken, however full the rest is.
//
// Where nothing of it is configured no frame is asked for it: Switch.limitedFrom is a number that no port has, and tailOf is
// the limit of every queue. Only what exceeds that one is looked at again.

// NoAlpha is the Alpha of a queue that has no limit by what is free, although the switch has one for queues.
const NoAlpha = -1

// minimum is buffer that is set aside for the lossy frames of one egress queue. Frames are charged to it when they are
// admitted, by the workers of all ports.
type minimum struct {
	size, used int64
	shared     bool
	_          [memory.Line - 17]byte
}

// add charges n bytes, or gives them back if n is negative, and returns what of them is the pool's.
func (m *minimum) add(n int64) (pooled int64) {
	if m.shared {
		return m.beyond(atomic.AddInt64(&m.used, n), n)
	}
	m.used += n
	return m.beyond(m.used, n)
}

// beyond is what n bytes, with which so many are used, added to what is more than the minimum.
func (m *minimum) beyond(used, n int64) int64 { return max(0, used-m.size) - max(0, used-n-m.size) }

// covers reports whether what is charged is no more than the minimum.
func (m *minimum) covers() bool {
	if m.shared {
		return atomic.LoadInt64(&m.used) <= m.size
	}
	return m.used <= m.size
}

// minimumOf is what is set aside for a queue; nil: nothing is for any.
func (s *Switch) minimumOf(p *switchPort, prio uint8) *minimum {
	if s.mins == nil || p == nil {
		return nil
	}
	return &s.mins[p.number*pfc.Classes+int(prio&7)]
}

// limited reports whether a port or a queue has something of its own for which lossy frames are to be asked.
func (c *SwitchConfig) limited() bool {
	for i := range c.Ports {
		if p := &c.Ports[i]; p.LossyLimit > 0 || p.LossyAlpha > 0 {
			return true
		}
	}
	return c.Minimums() > 0
}

// Minimums is what is set aside for all egress queues.
func (c *SwitchConfig) Minimums() (sum units.Size) {
	for i := range c.Ports {
		for prio := range c.Ports[i].Queues {
			if !c.Ports[i].Vacant {
				sum += c.Ports[i].Queues[prio].Min
			}
		}
	}
	return sum
}

// share is the part of what is free that a queue of lossy frames may have; 0: there is no such limit.
func (c *SwitchConfig) share(q *QueueConfig) float64 {
	switch {
	case q.Alpha > 0:
		return q.Alpha
	case q.Alpha == NoAlpha:
		return 0
	}
	return c.Share
}

// leastShare is the least that a queue of any port has; 0: none has such a limit.
func (c *SwitchConfig) leastShare() (least float64) {
	for i := range c.Ports {
		for prio := range c.Ports[i].Queues {
			if a := c.share(&c.Ports[i].Queues[prio]); a > 0 && (least == 0 || a < least) {
				least = a
			}
		}
	}
	return least
}

// checkLimits says what is wrong with what a port and its queues have of the buffer for lossy frames.
func (p *PortConfig) checkLimits() error {
	switch {
	case p.LossyLimit < 0:
		return fmt.Errorf("limit of lossy frames %v must not be negative", p.LossyLimit)
	case !(p.LossyAlpha >= 0 && p.LossyAlpha <= 1024):
		return fmt.Errorf("alpha of lossy frames %v must be from 0 to 1024", p.LossyAlpha)
	}
	for prio := range p.Queues {
		switch q := &p.Queues[prio]; {
		case q.Min < 0:
			return fmt.Errorf("queue %d: min %v must not be negative", prio, q.Min)
		case q.Alpha != NoAlpha && !(q.Alpha >= 0 && q.Alpha <= 1024):
			return fmt.Errorf("queue %d: alpha %v must be from 0 to 1024", prio, q.Alpha)
		}
	}
	return nil
}

// setLimits puts the limits of the configuration in force, but for what is set aside.
func (s *Switch) setLimits() {
	if s.limitedFrom, s.share = ownFrame, s.config.leastShare(); s.config.limited() {
		s.limitedFrom = 0
	}
}

// setAside has queues have their minimums, and their frames that are in the switch be charged to them; or, with nothing,
// be charged to the pool like all others. No worker runs.
func (s *Switch) setAside(c *SwitchConfig) {
	for i := range s.mins {
		m := &s.mins[i]
		s.pool.Add(min(m.used, m.size))
	}
	if s.mins = nil; c == nil || c.Minimums() == 0 {
		return
	}
	s.mins = make([]minimum, len(s.queues))
	for i := range s.mins {
		m := &s.mins[i]
		if m.shared = len(s.workers) > 1; !c.Ports[i/pfc.Classes].Vacant {
			m.size = int64(c.Ports[i/pfc.Classes].Queues[i%pfc.Classes].Min)
		}
	}
	s.eachLossy(func(queue int, cost int64) { s.pool.Add(s.mins[queue].add(cost) - cost) })
}

// eachLossy calls do for every lossy frame in a queue or on its way to it from another worker. No worker runs.
func (s *Switch) eachLossy(do func(queue int, cost int64)) {
	for i := range s.queues {
		s.queues[i].each(func(f *fabric.Frame) {
			if f.Flag&fabric.Lossless == 0 {
				do(i, s.cost(f.Len))
			}
		})
	}
	for _, w := range s.workers {
		for i := range w.outboxes {
			w.outboxes[i].each(func(f *fabric.Frame) {
				if f.Flag&fabric.Lossless == 0 {
					do(int(f.Digest)*pfc.Classes+int(f.Prio&7), s.cost(f.Len))
				}
			})
		}
	}
}

// notePooled notes how much of the pool is used, which is most before some of it is given back.
func (w *switchWorker) notePooled(pool *pfc.Pool) { w.mostPooled = max(w.mostPooled, pool.Used()) }

// lossyBytes is what lossy frames take that came through the port.
func (p *switchPort) lossyBytes() (sum int64) {
	for prio := range uint8(pfc.Classes) {
		if p.lossless>>prio&1 == 0 {
			sum += int64(p.ingress.Bytes(prio))
		}
	}
	return sum
}

// crowds reports whether n bytes more of lossy frames, with which so much is free of the pool, are more than the port
// may have.
func (p *switchPort) crowds(n, free int64) bool {
	c := p.config
	if c.LossyLimit == 0 && c.LossyAlpha == 0 {
		return false
	}
	n += p.lossyBytes()
	return c.LossyLimit > 0 && n > int64(c.LossyLimit) || c.LossyAlpha > 0 && n > int64(c.LossyAlpha*float64(max(0, free)))
}

// lossyLimit is what the port may have, and has.
func (p *switchPort) lossyLimit(pool *pfc.Pool) LossyLimit {
	size, _ := pool.State()
	l := LossyLimit{Limit: p.config.LossyLimit, Alpha: p.config.LossyAlpha, Now: size, Used: units.Size(p.lossyBytes())}
	if l.Limit > 0 {
		l.Now = min(l.Now, l.Limit)
	}
	if l.Alpha > 0 {
		l.Now = min(l.Now, units.Size(l.Alpha*float64(pool.Free())))
	}
	return l
}

// chargeLimited charges a lossy frame that is to be queued at a port, or discards it, where limits are to be asked and
// for frames of the switch's own. to is nil if it is not known yet by which port the frame leaves.
func (s *Switch) chargeLimited(now units.Time, p, to *switchPort, f *fabric.Frame) bool {
	prio, cost, own := f.Prio&7, s.cost(f.Len), f.In == ownFrame
	if own {
		scratchOf(p.env.Pool).vector.admitSingly()
	}
	m, pooled := s.minimumOf(to, prio), cost
	if m != nil {
		pooled = m.add(cost)
	}
	why := fabric.DropBuffer
	switch {
	case pooled == 0:
	case !own && p.crowds(cost, s.pool.Free()):
		why = fabric.DropIngress
		fallthrough
	case !s.pool.Take(pooled):
		if m != nil {
			s.pool.Add(pooled + m.add(-cost)) // nothing, unless another worker was between
		}
		s.discard(now, p, f, why)
		return false
	}
	if !own {
		p.ingress.Charge(prio, cost)
	}
	return true
}

// releaseLimited gives back what a lossy frame took that leaves by a port; nil: it was not known yet. It reports
// whether that is all, which it is for a frame of the switch's own.
func (s *Switch) releaseLimited(now units.Time, to *switchPort, f *fabric.Frame, cost int64) (own bool) {
	if m := s.minimumOf(to, f.Prio); m != nil {
		s.pool.Add(m.add(-cost))
	} else {
		s.pool.Add(-cost)
	}
	if f.In != ownFrame {
		return false
	}
	s.wakePausing(now)
	return true
}

// tooLongFor reports whether a lossy frame that was charged finds its queue too long, by the queue's own limits.
func (s *Switch) tooLongFor(p *switchPort, f *fabric.Frame) bool {
	prio := f.Prio & 7
	if m := s.minimumOf(p, prio); m != nil && m.covers() {
		return false
	}
	return p.queues[prio].bytes+units.Size(f.Len) > tailOf(s.config.Tail, s.config.share(&p.config.Queues[prio]), s.pool.Free())
}
