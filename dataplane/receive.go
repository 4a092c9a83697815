package dataplane

import (
	"photon/fabric"
	"photon/units"
)

// Receive takes frames from a wire through the stages (doc.go), in the order in which they came.
func (s *Switch) Receive(now units.Time, port int, burst []fabric.Frame) {
	p := &s.ports[port]
	if now >= p.attend {
		p.attendTo(now)
	}
	if changes, c := s.counts.Changes.Load(), &p.worker.cache; now >= c.until || changes != c.changes {
		s.renew(now, p.worker, changes)
	}
	if p.sampled {
		p.sampler.take(p.env, burst)
	}
	if p.refused != 0 {
		s.refuseBurst(now, p, burst)
		burst = nil
	}
	if len(burst) == 1 || s.credited {
		for i := range burst {
			s.receiveOne(now, p, &burst[i])
		}
	} else {
		for len(burst) > fabric.MaxBurst {
			s.receive(now, p, burst[:fabric.MaxBurst])
			burst = burst[fabric.MaxBurst:]
		}
		s.receive(now, p, burst)
	}
	p.wakeToAnswer(now)
}

// wakeToAnswer has the port be served when it has a pause to send, or credits.
func (p *switchPort) wakeToAnswer(now units.Time) {
	switch {
	case p.credits != nil:
		if p.credits.Due(now) <= now {
			p.env.Wake(p.number, now)
		}
	case !p.ingress.Quiet():
		if at := p.ingress.Next(now); at != units.Never {
			p.env.Wake(p.number, at)
		}
	}
}

// receive takes one vector. It goes through the stages together as far as the actions of its frames are
// known; the next one is resolved by itself, and may change what becomes of those behind it.
func (s *Switch) receive(now units.Time, p *switchPort, burst []fabric.Frame) {
	v, c := &scratchOf(p.env.Pool).vector, &p.worker.cache
	v.port = p
	for done := 0; done < len(burst); {
		end := done + s.known(p, &v.match, burst[done:], v.acts[done:])
		if end > done {
			s.admit(p, v)
			from, left := done, end
			if v.special() || s.portless || uint16(v.longest) > s.narrow {
				from, left = s.rewrite(now, p, v, burst, done, end)
			}
			s.enqueue(now, p, v, burst, from, left)
			s.noteAdmitted(p, v)
		}
		if end < len(burst) {
			s.resolve(now, p, &v.key, &burst[end])
			end++
			if changes := s.counts.Changes.Load(); changes != c.changes { // an address moved: its actions are void
				s.renew(now, p.worker, changes)
			}
		}
		done = end
	}
}

// through adds the ingress port to actions that do not name it.
func (s *Switch) through(p *switchPort) action {
	if s.portless {
		return action(p.number) << 32
	}
	return 0
}

// back reports that an action, which was worked out for a frame of any port, would send this one back.
func (s *Switch) back(p *switchPort, a action) bool {
	return s.portless && a&actKind == actPort && int(a.out()) == p.number
}

// receiveOne takes one frame through the same stages.
func (s *Switch) receiveOne(now units.Time, p *switchPort, f *fabric.Frame) {
	k := s.parseOne(p, f)
	a, ok := p.worker.cache.find(k)
	if !ok {
		unknown := k // so that k stays in registers
		prio := -1
		if p.credits != nil {
			if prio = p.laneOf(p.env.Bytes(f)); prio >= 0 {
				p.arrives(uint8(prio), f.Len)
			}
		}
		s.resolve(now, p, &unknown, f)
		s.catchUp(now, p.worker)
		if prio >= 0 {
			p.arrived(uint8(prio))
		}
		return
	}
	s.receiveKnown(now, p, f, a|s.through(p))
}

// receiveKnown takes a frame of which the action is known.
func (s *Switch) receiveKnown(now units.Time, p *switchPort, f *fabric.Frame, a action) {
	if p.credits == nil {
		s.takeKnown(now, p, f, a)
		return
	}
	p.arrives(a.prio(), f.Len)
	s.takeKnown(now, p, f, a)
	p.arrived(a.prio())
}

func (s *Switch) takeKnown(now units.Time, p *switchPort, f *fabric.Frame, a action) {
	p.ingress.Count(a.prio(), 1, uint64(f.Len))
	if s.back(p, a) {
		s.drop(now, p, f, a, fabric.DropNoPort)
		return
	}
	if a&(actKind|tagOp) != 0 {
		var ok bool
		a, ok = s.rewriteOne(now, p, f, a)
		if s.sendPending(now, p); !ok {
			return
		}
	}
	if f.Len > s.narrow && s.tooWide(p, f, a) {
		s.drop(now, p, f, a, fabric.DropOversize)
		return
	}
	fits := s.fits(p, a.prio(), f.Len)
	// That ports are to be served now does not matter where none concerns another: take does not know it, either.
	passes := p.env.Queue == fabric.QueueNothing || p.env.Queue == fabric.QueueIfDependent && s.apart(now, units.Never) > now
	s.enqueueOne(now, p, f, a, fits, fits && passes)
}
