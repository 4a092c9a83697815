package dataplane

import (
	"unsafe"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// A switch can be handed all that arrives within a span of time (fabric.Span). Most of the time nothing that happens at
// one egress port within a span concerns another: no port pauses its peer, and the buffer has room. Then what leaves a
// port is worked out when the next frame for that port comes, and not at its own instant in between: nobody sees the
// difference. So frames go through the stages together, and there is no event for each departure.
//
// Where that is not so, one event is handled after the other (inorder.go); also where ports have credits or samples for
// sFlow, and where addresses are learned or there are VLANs.
//
// What is charged to the buffer may meanwhile be more than it should be, never less, since some frames are still in it
// that have left by now. Where that might matter (a threshold, a peak), all ports catch up first.

var _ fabric.Spanner = (*Switch)(nil)

// Span implements Spanner.
func (s *Switch) Span(x *fabric.Span) {
	taken, end, first := 0, x.End, x.At(x.Keys[0])
	x.End = x.Base
	if until := s.apart(first, end); until > first {
		x.End = until
		taken = s.takeAll(x)
	}
	if x.End < end {
		x.End = end
		s.inOrder(x, taken)
	}
}

// apart is until when nothing that happens at one port concerns another, before an end. Pauses that end by themselves, the
// watchdog, announcements and CNPs of congestion points may.
func (s *Switch) apart(from, end units.Time) (until units.Time) {
	if w := s.workers[0]; !s.portless || s.credited || s.mins != nil || w.outboxes != nil || w.waits > 0 {
		return from
	}
	intricate := false
	for i := range s.ports {
		p := &s.ports[i]
		if !p.ingress.Quiet() || p.sampled || p.refused|p.outs|p.shut|p.judgesIdle&p.notifies != 0 || p.env.Queued != nil {
			return from
		}
		if end = min(end, p.attend, p.timerAt); p.notifies != 0 {
			end = min(end, p.noteNotices())
		}
		intricate = intricate || p.intricate() || p.notifies != 0
	}
	s.intricate = intricate
	return end
}

// intricate reports that a port does not only send what waits by strict priority.
func (p *switchPort) intricate() bool {
	return p.attend != units.Never || p.timerAt != units.Never || p.shaped|p.weighted != 0
}

// takeAll takes what arrives as long as nothing that happens at one port concerns another. It returns how many frames it
// has taken; what was to leave before the next has left.
func (s *Switch) takeAll(x *fabric.Span) (taken int) {
	w := s.workers[0]
	if changes, c := s.counts.Changes.Load(), &w.cache; x.Base >= c.until || changes != c.changes {
		s.renew(x.Base, w, changes)
	}
	s.setBounds(w)
	all := x.Within(x.Keys[:len(x.Frames)], 0)
	w.env.AskAll(x.Frames[:min(fabric.MaxBurst, all)])
	for taken < all && x.End <= w.cache.until {
		n := min(fabric.MaxBurst, all-taken)
		w.env.AskAll(x.Frames[taken+n : min(taken+n+fabric.MaxBurst, all)])
		took := s.take(x, taken, n)
		if taken += took; took < n {
			break
		}
	}
	x.End = min(x.End, x.At(x.Keys[taken]))
	s.serveAll(x, x.End)
	return taken
}

// take looks some frames up and takes them, as far as they need nothing special. It returns how many it took.
func (s *Switch) take(x *fabric.Span, from, n int) (taken int) {
	env := s.workers[0].env
	v, frames := &scratchOf(env.Pool).vector, x.Frames[from:from+n]
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
func (s *Switch) takeSingly(x *fabric.Span, keys []uint64, frames []fabric.Frame, acts []action) (taken int) {
	for i := range frames {
		now, p, f, a := x.At(keys[i]), &s.ports[uint16(keys[i])], &frames[i], acts[i]
		if now >= x.End {
			return i
		}
		var before drawn
		if a&actKind != 0 {
			if s.config.Paths.By == ByQueue {
				s.serveAll(x, now)
			}
			before = p.paths.state(flowHash(p.env.Pool, f))
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
// behind those of the frames. If events are handled in their order, ports send what leaves before each frame comes.
func (s *Switch) takeChosen(x *fabric.Span, keys []uint64, frames []fabric.Frame, acts []action) (taken int) {
	w := s.workers[0]
	frames, order := frames[:len(acts)], s.agenda
	queues, exits := unsafe.Pointer(unsafe.SliceData(s.queues)), unsafe.Pointer(unsafe.SliceData(w.env.Exits()))
	wires, ports := unsafe.Pointer(unsafe.SliceData(x.Wires)), unsafe.Pointer(unsafe.SliceData(s.ports))
	for i, a := range acts {
		// Keys and actions name ports that there are: nothing is checked.
		key, f, out := keys[i], &frames[i], a.out()
		in, now, length := uint(uint16(key)), x.Base+units.Time(key>>fabric.KeyPortBits), uint16(f.Words()[0]>>32)
		if in == out || length > s.narrow {
			return i
		}
		if order != nil && order.next>>fabric.KeyPortBits < key>>fabric.KeyPortBits {
			if s.serveInOrder(x, key>>fabric.KeyPortBits); s.counts.Changes.Load() != w.cache.changes {
				return i
			}
		}
		p, wire := element[switchPort](ports, in), element[fabric.Wire](wires, out)
		if wire.At < now {
			s.serveUntil(x, int(out), now)
		}
		prio, headroom := a.prio(), false
		most := int64(length) + int64(s.slack) // bytes of the buffer that it may take
		belowPeaks := fabric.Flag(a>>56)&fabric.Lossless != 0 &&
			p.ingress.Within(prio, most) && s.pool.Used()+most <= w.bounded
		if !belowPeaks {
			var fits bool
			if belowPeaks, headroom, fits = s.room(x, now, p, a, most); !fits {
				return i
			}
		}
		e, q := element[fabric.Exit](exits, out), element[queue](queues, a.queue())
		passes := e.Open>>prio&1 != 0 && !headroom && e.Free <= now && wire.PerByte != 0 && !atOnce(keys[i+1], key)
		// In order, where a pause ends, the watchdog refuses or something else is to leave now, it is received by itself.
		if order != nil && (now >= p.attend || q.fastUntil <= now && !s.ports[out].takes(now, prio) ||
			passes && (atOnce(order.next, key) || s.ports[out].notifiesBy(now))) {
			return i
		}
		p.ingress.Count(prio, 1, uint64(length))
		what := uint64(uint32(f.Words()[1])) | uint64(a>>32|action(in))<<32
		if passes {
			where := f.Words()[0]
			if e.Unseen>>prio&1 == 0 {
				seen := &scratchOf(w.env.Pool).frame // x.Departures may move
				seen.Put(where, what)
				s.showPassingInSpan(x, now, &s.ports[out], seen)
				what = seen.Words()[1]
			}
			d := x.AddDeparture()
			d.Put(where, what)
			gone := now + wire.Took(length)
			d.Gone, d.Port, e.Free = gone, int32(out), gone
			if wire.At < gone { // there may be feedback behind it
				if wire.At = gone; order != nil {
					order.put(x, int(out), gone)
				}
			}
			if q.pass(length); q.left < 0 {
				s.ports[out].count()
			}
			if !belowPeaks || order != nil {
				p.ingress.Note(prio, int64(length))
			}
			if s.intricate && x.At(keys[i+1]) >= x.End {
				return i + 1
			}
			continue
		}
		f.Words()[1] = what
		cost := s.cost(length)
		if !headroom {
			p.ingress.ChargeAll(prio, cost)
		} else if !p.ingress.Admit(prio, cost) {
			s.discard(now, p, f, fabric.DropHeadroom)
			continue
		}
		if fabric.Flag(a>>56)&fabric.Lossless == 0 {
			s.pool.Add(cost)
		}
		if !belowPeaks || order != nil {
			if p.ingress.Note(prio, 0); order == nil {
				w.notePooled(s.pool)
			}
			if s.pool.Used() >= w.bounded {
				s.setBounds(w)
			}
		}
		to := element[switchPort](ports, out)
		if fabric.Flag(a>>56)&fabric.Lossless == 0 {
			if to.wary>>prio&1 != 0 {
				if why, refuses := to.refuses(f); refuses {
					s.lose(now, to, f, why)
					continue
				}
			}
			q.unjudged += uint32(^s.config.Judged >> prio & 1)
		}
		q.push(f, &w.store)
		if to.waiting>>prio&1 == 0 {
			to.wakeInSpan(x, wire, e, now, prio)
			to.waiting |= 1 << prio
			e.Open, e.Unseen = 0, 0
		}
		if to.samples>>prio&1 != 0 && to.judges(f) {
			s.sampleInSpan(x, now, to, f, to.state(int(prio)))
			if x.At(keys[i+1]) >= x.End {
				return i + 1
			}
		}
	}
	return len(acts)
}

// atOnce reports whether two keys are of the same instant.
func atOnce(a, b uint64) bool { return (a^b)>>fabric.KeyPortBits == 0 }

// chooseAll chooses among equal paths for all frames that have some, if the choice is by flow, and returns how many
// frames there are before one of which something else is to be done.
func (s *Switch) chooseAll(env *fabric.Env, frames []fabric.Frame, acts []action) int {
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
		acts[i] = a.to(group[pick(flowHash(env.Pool, &frames[i]), s.config.Salt, len(group))]) &^ actKind
	}
	return len(frames)
}
