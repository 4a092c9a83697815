package dataplane

import (
	"math/bits"
	"unsafe"

	"photon/marking"
	"photon/pfc"
	"photon/units"
)

// A switch can be handed all that arrives within a span of time (span.go). Most of the time nothing that happens at one
// egress port within a span concerns another: no port pauses its peer, and the buffer has room. Then what leaves a port
// is worked out when the next frame for that port comes, and not at its own instant in between: nobody sees the
// difference. So frames go through the stages together, and there is no event for each departure.
//
// Where that is not so the world calls Receive and Transmit; also where ports have credits or samples for sFlow, and
// where addresses are learned or there are VLANs.
//
// What is charged to the buffer may meanwhile be more than it should be, never less, since some frames are still in it
// that have left by now. Where that might matter (a threshold, a peak), all ports catch up first.

var _ Spanner = (*Switch)(nil)

// Spans implements Spanner. Pauses that end by themselves, the watchdog, announcements and CNPs of congestion points end
// a span.
func (s *Switch) Spans(from, end units.Time) (until units.Time) {
	if !s.portless || s.credited || s.limitedFrom == 0 || len(s.workers) != 1 {
		return from
	}
	special := false
	for i := range s.ports {
		p := &s.ports[i]
		if !p.ingress.Quiet() || p.sampled || p.refused|p.outs|p.shut|p.judgesIdle&p.notifies != 0 || p.env.Queued != nil {
			return from
		}
		if end = min(end, p.attend, p.timerAt); p.notifies != 0 {
			end = min(end, p.nextNotice())
		}
		special = special || p.special() || p.notifies != 0
	}
	s.special = special
	return end
}

// special reports that a port does not only send what waits by strict priority.
func (p *switchPort) special() bool {
	return p.attend != units.Never || p.timerAt != units.Never || p.shaped|p.weighted != 0
}

// Span implements Spanner.
func (s *Switch) Span(x *Span) (taken int) {
	w := s.workers[0]
	if changes, c := s.changes.Load(), &w.cache; x.Base >= c.until || changes != c.changes {
		s.renew(x.Base, w, changes)
	}
	s.setBounds(w)
	if s.special {
		for i := range x.Wires {
			x.Wires[i].special = s.ports[i].special()
		}
	}
	all := x.within(x.Keys[:len(x.Frames)], 0)
	w.env.askAll(x.Frames[:min(MaxBurst, all)])
	for taken < all && x.End <= w.cache.until {
		n := min(MaxBurst, all-taken)
		w.env.askAll(x.Frames[taken+n : min(taken+n+MaxBurst, all)])
		took := s.take(x, taken, n)
		if taken += took; took < n {
			break
		}
	}
	until := x.End
	if taken < all {
		until = min(until, x.at(x.Keys[taken]))
	}
	s.serveAll(x, until)
	return taken
}

// take looks some frames up and takes them, as far as they need nothing special. It returns how many it took.
func (s *Switch) take(x *Span, from, n int) (taken int) {
	env := s.workers[0].env
	v, frames := &env.scratch.vector, x.Frames[from:from+n]
	n = s.known(&s.ports[0], &v.match, frames, v.acts[:])
	v.sums = [pfc.Classes]tally{}
	if v.special() {
		if n = s.chooseAll(env, frames[:n], v.acts[:]); s.config.Paths.By != ByFlow {
			return s.takeSingly(x, x.Keys[from:from+n+1], frames[:n], v.acts[:n])
		}
	}
	return s.takeChosen(x, x.Keys[from:from+n+1], frames[:n], v.acts[:n])
}

// takeSingly takes frames one by one, each after a path has been chosen for it.
func (s *Switch) takeSingly(x *Span, keys []uint64, frames []Frame, acts []action) (taken int) {
	for i := range frames {
		now, p, f, a := x.at(keys[i]), &s.ports[uint16(keys[i])], &frames[i], acts[i]
		if now >= x.End {
			return i
		}
		var before drawn
		if a&actKind != 0 {
			if s.config.Paths.By == ByQueue {
				s.serveAll(x, now)
			}
			before = p.paths.state(p.env.flowHash(f))
			acts[i] = s.choose(now, p, f, a) &^ actKind
		}
		if s.takeChosen(x, keys[i:i+2], frames[i:i+1], acts[i:i+1]) == 0 {
			if a&actKind != 0 {
				p.paths.restore(&before) // the choice is made again
			}
			return i
		}
	}
	return len(frames)
}

// takeChosen takes frames whose actions only name a port. What is done to one is what receiveOne does. There is a key
// behind those of the frames.
func (s *Switch) takeChosen(x *Span, keys []uint64, frames []Frame, acts []action) (taken int) {
	w := s.workers[0]
	frames = frames[:len(acts)]
	queues, exits := unsafe.Pointer(unsafe.SliceData(s.queues)), unsafe.Pointer(unsafe.SliceData(w.env.exits))
	wires, ports := unsafe.Pointer(unsafe.SliceData(x.Wires)), unsafe.Pointer(unsafe.SliceData(s.ports))
	for i, a := range acts {
		// Keys and actions name ports that there are: nothing is checked.
		key, f, out := keys[i], &frames[i], a.out()
		in, now, length := uint(uint16(key)), x.Base+units.Time(key>>KeyPortBits), uint16(f.words()[0]>>32)
		if in == out || length > s.narrow {
			return i
		}
		p, wire := element[switchPort](ports, in), element[Wire](wires, out)
		if wire.At < now {
			s.serveUntil(x, int(out), now)
		}
		prio := a.prio()
		most := int64(length) + int64(s.slack) // bytes of the buffer that it may take
		settled := Flag(a>>56)&Lossless != 0 && p.ingress.Within(prio, most) && s.pool.Used()+most <= w.mostPooled
		if !settled {
			if settled = s.settled(p, a, most); !settled && !s.fitsNow(x, now, p, a, most) {
				return i
			}
		}
		p.ingress.Count(prio, 1, uint64(length))
		what := uint64(uint32(f.words()[1])) | uint64(a>>32|action(in))<<32
		e, q := element[Exit](exits, out), element[queue](queues, a.queue())
		if e.Open>>prio&1 != 0 && e.Free <= now && wire.PerByte != 0 && keys[i+1]>>KeyPortBits != key>>KeyPortBits {
			where := f.words()[0]
			if e.Unseen>>prio&1 == 0 {
				seen := &w.env.scratch.frame // x.Left may move
				seen.put(where, what)
				s.showPassingInSpan(x, now, &s.ports[out], seen)
				what = seen.words()[1]
			}
			d := x.leave()
			d.put(where, what)
			gone := now + wire.took(length)
			d.Gone, d.Port, e.Free = gone, int32(out), gone
			wire.At = max(wire.At, gone) // there may be feedback behind it
			if q.left += 1<<40 | tally(length); q.left < 0 {
				s.ports[out].count()
			}
			if length > q.longest {
				q.longest = length
			}
			if !settled {
				p.ingress.Note(prio, int64(length))
			}
			if s.special && x.at(keys[i+1]) >= x.End {
				return i + 1
			}
			continue
		}
		cost := s.cost(length)
		p.ingress.ChargeAll(prio, cost)
		if Flag(a>>56)&Lossless == 0 {
			s.pool.Add(cost)
		}
		if !settled {
			p.ingress.Note(prio, 0)
			if w.notePooled(s.pool); s.pool.Used() == w.mostPooled {
				s.setBounds(w)
			}
		}
		f.words()[1] = what
		to := element[switchPort](ports, out)
		if Flag(a>>56)&Lossless == 0 {
			if to.wary>>prio&1 != 0 {
				if why, refuses := to.refuses(f); refuses {
					s.lose(now, to, f, why)
					continue
				}
			}
			q.unjudged += uint16(^s.config.Judged >> prio & 1)
		}
		q.push(f, &w.store)
		if to.waiting>>prio&1 == 0 {
			to.wakeInSpan(wire, e, now, prio)
			to.waiting |= 1 << prio
			e.Open, e.Unseen = 0, 0
		}
		if to.samples>>prio&1 != 0 && to.judges(f) {
			s.sampleInSpan(x, now, to, f, to.state(int(prio)))
			if x.at(keys[i+1]) >= x.End {
				return i + 1
			}
		}
	}
	return len(acts)
}

// element is one of an array, whose end is not checked.
func element[T any](array unsafe.Pointer, i uint) *T {
	return (*T)(unsafe.Add(array, i*uint(unsafe.Sizeof(*new(T)))))
}

// chooseAll chooses among equal paths for all frames that have some, if the choice is by flow, and returns how many
// frames there are before one of which something else is to be done.
func (s *Switch) chooseAll(env *Env, frames []Frame, acts []action) int {
	for i := range frames {
		a := acts[i]
		if a&(actKind|tagOp) == 0 {
			continue
		}
		if a&(actKind|tagOp) != actGroup {
			return i
		}
		if s.config.Paths.By != ByFlow {
			continue
		}
		group := s.lans.groups[a.out()]
		acts[i] = a.to(group[pick(env.flowHash(&frames[i]), s.config.Salt, len(group))]) &^ actKind
	}
	return len(frames)
}

// setBounds has all ports work out what may come without a further look.
func (s *Switch) setBounds(w *switchWorker) {
	for i := range s.ports {
		s.ports[i].ingress.SetBounds(s.lossless, w.mostPooled)
	}
}

// settled reports that a frame fits, and that its coming changes no peak of the buffer, even if nothing has left that
// ports have not caught up with. Of most frames that is known without it.
func (s *Switch) settled(p *switchPort, a action, most int64) bool {
	pooled := p.worker.mostPooled
	if Flag(a>>56)&Lossless == 0 && (s.pool.Used()+most > pooled || !s.lossyFits(a, most)) {
		return false
	}
	return p.ingress.Absorbs(a.prio(), most, pooled)
}

// lossyFits reports whether the pool and the queue take a lossy frame. The queue's limit may follow what is free when
// the frame is in the buffer.
func (s *Switch) lossyFits(a action, most int64) bool {
	free := s.pool.Free() - most
	return free >= 0 && s.queues[a.queue()].bytes+units.Size(most) <= s.tailOf(free)
}

// fitsNow reports whether a frame fits, after all ports have caught up.
func (s *Switch) fitsNow(x *Span, now units.Time, p *switchPort, a action, most int64) bool {
	s.serveAll(x, now)
	if Flag(a>>56)&Lossless == 0 {
		return s.lossyFits(a, most)
	}
	return p.ingress.Fits(a.prio(), most)
}

// showPassingInSpan is showPassing, if the congestion point is to see the frame.
func (s *Switch) showPassingInSpan(x *Span, now units.Time, to *switchPort, f *Frame) {
	prio := f.Prio & 7
	if to.weighted>>prio&1 != 0 {
		to.rounds.current = prio
	}
	if to.shown>>prio&1 == 0 || !to.judges(f) {
		return
	}
	if to.samples>>prio&1 != 0 {
		s.sampleInSpan(x, now, to, f, marking.Queue{Bytes: units.Size(f.Len), Frames: 1})
	}
	to.judgePassing(now, f)
}

// wakeInSpan notes when a port is to be served of which the first frame of a priority has been queued.
func (p *switchPort) wakeInSpan(wire *Wire, e *Exit, now units.Time, prio uint8) {
	if wire.PerByte == 0 {
		return
	}
	due := now
	if p.halted>>prio&1 != 0 {
		due = p.stops().Next()
	}
	wire.At = min(wire.At, max(due, e.Free))
}

// sampleInSpan is sample. All ports catch up before feedback is queued at one of them.
func (s *Switch) sampleInSpan(x *Span, now units.Time, p *switchPort, f *Frame, q marking.Queue) {
	feedback, ok := p.feedback(now, f, q)
	if n := p.points[f.Prio&7].notifier; n != nil {
		next, wire := n.Next(), &x.Wires[p.number]
		x.End = min(x.End, next) // a flow may be new
		if next < wire.At && wire.PerByte != 0 {
			wire.At = min(wire.At, max(next, p.env.Exit(p.number).Free))
		}
	}
	if !ok {
		return
	}
	s.serveAll(x, now)
	for port := range x.Wires {
		p.env.SetDue(port, units.Never) // so that it is heard of
	}
	p.show(f)
	s.sendCNM(now, p, f, feedback)
	p.worker.notePooled(s.pool)
	s.setBounds(p.worker)
	for _, port := range p.env.Woken() {
		if wire := &x.Wires[port]; wire.PerByte != 0 {
			wire.At = min(wire.At, max(now, p.env.Due(int(port)), p.env.Exit(int(port)).Free))
		}
	}
}

// serveUntil has a port send what leaves before an instant.
func (s *Switch) serveUntil(x *Span, port int, until units.Time) {
	p, wire := &s.ports[port], &x.Wires[port]
	e, at := p.env.Exit(port), wire.At
	if wire.special {
		s.serveSpecial(x, port, until)
		return
	}
	if p.waiting == 0 { // who set the time expected something else
		at = max(p.nextNotice(), e.Free)
		x.Idle++
	}
	for at < until {
		d := x.leave()
		s.dequeueOne(at, p, uint8(7-bits.LeadingZeros8(p.waiting)), &d.Frame)
		at += wire.took(d.Len)
		d.Gone, d.Port, e.Free = at, int32(port), at
		if p.waiting == 0 {
			if at = units.Never; p.notifies != 0 {
				at = max(p.nextNotice(), e.Free)
			}
		}
	}
	wire.At = at
}

// serveSpecial is serveUntil of a port that may be paused, or has weights, shapers or a congestion point that sends
// CNPs.
func (s *Switch) serveSpecial(x *Span, port int, until units.Time) {
	wire, e := &x.Wires[port], s.workers[0].env.Exit(port)
	for wire.At < until {
		d, at := x.leave(), wire.At
		if s.Transmit(at, port, unsafe.Slice(&d.Frame, 1)) == 0 {
			x.Left = x.Left[:len(x.Left)-1]
			x.Idle++
		} else {
			d.Gone, d.Port = at+wire.took(d.Len), int32(port)
			e.Free = d.Gone
		}
		wire.At = max(s.Next(at, port), e.Free)
	}
}

// serveAll has all ports do so.
func (s *Switch) serveAll(x *Span, until units.Time) {
	for i := range x.Wires {
		if x.Wires[i].At < until {
			s.serveUntil(x, i, until)
		}
	}
}
