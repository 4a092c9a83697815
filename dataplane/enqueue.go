package dataplane

import "photon/units"

// The fourth stage, the last at the ingress port: a frame gets the form in which it is to leave and
// goes to its egress port. Where nothing waits, nothing is paused and the world takes a frame right now,
// it leaves past the queues; else it is charged to the buffer and queued behind what waits.

// enqueue takes frames of a vector whose actions are known, one after the other.
func (s *Switch) enqueue(now units.Time, p *switchPort, v *vector, burst []Frame, from, end int) {
	w, env := p.worker, p.env
	several, open := w.lanes != nil, !env.Queue
	acts := v.acts[:len(burst)]
	for i := from; i < end; i++ {
		f, a := &burst[i], acts[i]
		if a&(actKind|tagOp) != 0 {
			var ok bool
			if a, ok = s.change(now, p, f, a); !ok {
				continue
			}
		}
		words := f.words()
		words[1] = words[1]&(1<<32-1) | uint64(a&actFrame)
		to, prio := &s.ports[a.out()], a.prio()
		calm := v.calm>>prio&1 != 0
		if several && to.worker != w {
			if s.charge(now, p, f, calm) {
				w.handOver(to, f)
			}
			continue
		}
		if e := &env.exits[a.out()]; calm && open && e.N < len(e.Frames) && e.Free <= now && to.passes(prio) {
			if to.shown>>prio&1 == 0 || s.showPassing(now, to, f) {
				v.passed[prio] = max(v.passed[prio], f.Len)
				to.pass(env, e, f)
				continue
			}
		}
		if s.charge(now, p, f, calm) {
			s.queueUp(now, to, f)
		}
	}
}

// passes reports whether a frame that comes now is the next that Transmit would return.
func (p *switchPort) passes(prio uint8) bool {
	return p.open>>prio&1 != 0 && p.waiting == 0 && p.in.Quiet()
}

// pass puts a frame into the port's exit.
func (p *switchPort) pass(env *Env, e *Exit, f *Frame) {
	if e.N == 0 {
		env.out = append(env.out, uint16(p.number))
	}
	*e.Frames[e.N].words() = *f.words()
	e.N++
	onWire := units.Size(int32(f.Len) + p.overhead)
	e.Free += units.Time(onWire) * e.PerByte
	p.sent += onWire
	q := &p.queues[f.Prio&7]
	q.longest = max(q.longest, f.Len)
	q.txFrames++
	q.txBytes += uint64(f.Len)
	if p.weighted>>(f.Prio&7)&1 != 0 {
		p.rounds.turn = f.Prio
	}
}

// reopen works out in which priorities frames may pass the port's queues: not while a pause may end by
// itself, or the watchdog looks. It comes after every change of what it asks for.
func (p *switchPort) reopen() {
	if p.open = 0; p.attend == units.Never && p.outs == 0 {
		p.open = ^p.shut &^ p.halted
	}
}

// change finds the port of a frame whose action names none, and gives it the tag with which it is to
// leave. It reports false if the frame has gone another way.
func (s *Switch) change(now units.Time, p *switchPort, f *Frame, a action) (action, bool) {
	switch a & actKind {
	case actRoute:
		return s.route(now, p, f, a)
	case actGroup:
		group := s.lans.groups[a.out()]
		port := group[pick(p.env.flowHash(f), s.config.Salt, len(group))]
		if int(port) == p.number {
			s.drop(now, p, f, a, DropNoPort)
			return a, false
		}
		a = a&^(actKind|(maxPorts-1)) | action(port)
	}
	if a&tagOp != 0 && !s.retag(p, f, a) {
		s.drop(now, p, f, a, DropNoMemory)
		return a, false
	}
	return a, true
}

// queueUp appends an admitted frame to its queue at the egress port. The port's worker calls it.
func (s *Switch) queueUp(now units.Time, p *switchPort, f *Frame) {
	if now >= p.attend {
		p.attendTo(now)
	}
	prio := f.Prio & 7
	q := &p.queues[prio]
	switch {
	case f.Flag&Lossless == 0 && q.bytes+units.Size(f.Len) > s.tailOf(s.pool.Free()):
		s.lose(now, p, f, DropTail)
		return
	case p.shut>>prio&1 != 0:
		s.lose(now, p, f, p.whyShut())
		return
	}
	q.push(f, &p.worker.store)
	first := p.waiting>>prio&1 == 0
	p.waiting |= 1 << prio
	if p.points[prio].sampler != nil && f.Flag&Lossless != 0 {
		s.sample(now, p, f, p.state(int(prio)))
	}
	if first {
		if p.halted>>prio&1 == 0 {
			p.env.Wake(p.number, now)
		} else {
			p.env.Wake(p.number, p.eg.Next())
		}
	}
}

// discard counts a frame that never entered the buffer, and drop one of which only the action is known.
func (s *Switch) discard(now units.Time, p *switchPort, f *Frame, why Reason) {
	p.countLoss(now, f, why)
	p.env.Free(*f)
}

func (s *Switch) drop(now units.Time, p *switchPort, f *Frame, a action, why Reason) {
	f.Prio = a.prio()
	s.discard(now, p, f, why)
}

// lose discards an admitted frame at its egress port.
func (s *Switch) lose(now units.Time, p *switchPort, f *Frame, why Reason) {
	p.countLoss(now, f, why)
	s.release(now, p.worker, f)
	p.env.Free(*f)
}

// countLoss counts a discarded frame, and notes when the first of a lossless priority was.
func (p *switchPort) countLoss(now units.Time, f *Frame, why Reason) {
	prio := f.Prio & 7
	if p.stats.Discards[why][prio]++; p.of.config.Lossless>>prio&1 != 0 && p.stats.LostAt[prio] == units.Never {
		p.stats.LostAt[prio] = now
	}
}
