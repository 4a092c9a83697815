package dataplane

import (
	"unsafe"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// The last stage at the ingress port: a frame goes to its egress port. Where nothing waits, nothing is paused and the world takes a frame right now,
// it leaves past the queues; else it is charged to the buffer and queued behind what waits.

// enqueue takes frames of a vector, from one on and before another, one after the other.
func (s *Switch) enqueue(now units.Time, p *switchPort, v *vector, burst []fabric.Frame, from, end int) {
	if v.bypass = v.admitted; p.env.Queue != fabric.QueueNothing {
		v.bypass = 0
	}
	v.fast = v.admitted & p.lossless
	// What another priority may have depends on what is taken of the pool before, and what there is on other workers.
	if v.present&(v.present-1) != 0 || p.worker.outboxes != nil {
		v.fast &^= v.pools
	}
	if s.limitedFrom == 0 { // each has limits of its own
		v.lossy = 0
	}
	v.away = v.fast
	for i := from; i < end; {
		if i = s.enqueueFast(now, p.worker, v, burst[:end], i); i == end {
			break
		}
		if v.lossy != 0 && s.hold(v) {
			v.away |= v.lossy
			if next := s.enqueueLossy(now, v, burst[:end], i); next > i || v.handsOver(v.acts[i]) {
				i = next
				continue
			}
		}
		v.chargeLossy() // what comes now asks how much of the pool is free
		v.away = v.fast // lossy ones not before there is something set aside for them
		a := v.acts[i]
		s.enqueueOne(now, p, &burst[i], a, v.admitted>>a.prio()&1 != 0, v.bypass>>a.prio()&1 != 0)
		i++
	}
	v.chargeAll()
}

// handsOver reports whether enqueueFast takes a frame for another worker's port.
func (v *vector) handsOver(a action) bool { return a&actAway != 0 && v.away>>(a&7)&1 != 0 }

// enqueueOne takes one frame whose action only names a port. fits says that there is room for it, and bypass that it
// may leave past the queues.
func (s *Switch) enqueueOne(now units.Time, p *switchPort, f *fabric.Frame, a action, fits, bypass bool) {
	f.Words()[1] = f.Words()[1]&(1<<32-1) | uint64(a&actFrame)
	e, prio := p.env.Exit(int(a.out())), a.prio()
	if bypass && e.Unseen>>prio&1 != 0 && e.Takes(now) && a&actAway == 0 {
		p.ingress.Note(prio, int64(f.Len))
		p.env.Pass(int(a.out()), e, f.Words()[0], f.Words()[1])
		q := &s.queues[a.queue()]
		if q.pass(f.Len); q.left < 0 {
			s.ports[a.out()].count()
		}
		return
	}
	to := &s.ports[a.out()]
	if a&actAway != 0 {
		if s.charge(now, p, to, f, fits) {
			p.ingress.Note(prio, 0)
			s.handOver(p.worker, a.out(), f)
		}
		return
	}
	if bypass && to.passes(now, e, f) {
		p.ingress.Note(prio, int64(f.Len))
		s.send(now, to, e, f)
		return
	}
	if s.charge(now, p, to, f, fits) {
		p.ingress.Note(prio, 0)
		s.queueUp(now, to, f)
	}
}

// enqueueFast takes frames from the i-th on, as far as they pass the queues, are appended to one in which others wait,
// or are handed over to another worker, and nothing else is to be done; it returns where the next is. On the usual ways
// it calls nothing, so that all it needs stays in registers.
func (s *Switch) enqueueFast(now units.Time, w *switchWorker, v *vector, burst []fabric.Frame, i int) int {
	// An action names ports that there are, or it would not be in the cache: nothing is checked.
	env := w.env
	queues, exits := unsafe.Pointer(unsafe.SliceData(s.queues)), unsafe.Pointer(unsafe.SliceData(env.Exits()))
	acts := v.acts[:len(burst)]
	for ; i < len(burst); i++ {
		a := acts[i]
		if a&actAway != 0 {
			owner := *element[uint8](unsafe.Pointer(unsafe.SliceData(s.owner)), a.out())
			o := element[outbox](unsafe.Pointer(unsafe.SliceData(w.outboxes)), uint(owner))
			if !v.handsOver(a) {
				break
			}
			where, what := burst[i].Words()[0], uint64(a.out())|uint64(a&actFrame) // the digest is the port: see outbox
			if !o.fastAppend(where, what) {
				o.append(where, what, &w.store)
			}
			v.charges[a&7] += s.cost(uint16(where >> 32))
			continue
		}
		e, q := element[fabric.Exit](exits, a.out()), element[queue](queues, a.queue())
		where, what := burst[i].Words()[0], burst[i].Words()[1]&(1<<32-1)|uint64(a&actFrame)
		length := uint16(where >> 32)
		if (v.bypass&e.Unseen)>>(a&7)&1 != 0 {
			if !e.Takes(now) || q.left < 0 {
				break
			}
			env.Pass(int(a.out()), e, where, what)
			q.pass(length)
			continue
		}
		if v.fast>>(a&7)&1 == 0 || !q.appends(now) {
			break
		}
		q.append(where, what)
		v.charges[a&7] += s.cost(length)
	}
	return i
}

// enqueueLossy takes lossy frames from the i-th on, as far as they are appended to queues in which others wait; it returns
// where the next is. What fits into the pool and the queue even if all of the vector is queued fits now.
func (s *Switch) enqueueLossy(now units.Time, v *vector, burst []fabric.Frame, i int) int {
	queues := unsafe.Pointer(unsafe.SliceData(s.queues))
	acts := v.acts[:len(burst)]
	for ; i < len(burst); i++ {
		a := acts[i]
		q := element[queue](queues, a.queue())
		where, what := burst[i].Words()[0], burst[i].Words()[1]&(1<<32-1)|uint64(a&actFrame)
		length := units.Size(uint16(where >> 32))
		if v.lossy>>(a&7)&1 == 0 || a&actAway != 0 || !q.appends(now) || q.bytes+length > v.tail ||
			s.ports[a.out()].wary>>(a&7)&1 != 0 {
			break
		}
		q.append(where, what)
		q.unjudged += uint32(^s.config.Judged >> (a & 7) & 1)
		v.charges[a&7] += s.cost(uint16(length))
	}
	return i
}

// element is one of an array, whose end is not checked.
func element[T any](array unsafe.Pointer, i uint) *T {
	return (*T)(unsafe.Add(array, i*uint(unsafe.Sizeof(*new(T)))))
}

// countLeft counts frames that left through the port, of one of its queues.
func (p *switchPort) countLeft(q *queue, frames int, bytes units.Size) {
	if q.left += tallyOf(frames, bytes); q.left < 0 {
		p.count()
	}
}

// gate works out of which priorities frames may pass the port's queues, if the world lets them: of none
// while something waits, a PFC frame or probe is to be sent or may be, a pause may end by itself or the watchdog
// looks. It comes after every change of what it asks for.
func (p *switchPort) gate() {
	e := p.env.Exit(p.number)
	if e.Open, e.Unseen = 0, 0; p.waiting == 0 && p.attend == units.Never && p.outs == 0 && p.ingress.Quiet() && p.credits == nil {
		e.Open = ^p.shut &^ p.halted &^ p.shaped
		if p.notifies == 0 {
			e.Unseen = e.Open &^ p.shown &^ p.weighted
		}
	}
}

// passes reports whether a frame may pass the queues: it is the next that Transmit would return, the
// world takes it now, and no CNP of a congestion point of the port comes before it.
func (p *switchPort) passes(now units.Time, e *fabric.Exit, f *fabric.Frame) bool {
	prio := f.Prio & 7
	if e.Open>>prio&1 == 0 || int(e.N) == len(e.Frames) || e.Free > now {
		return false
	}
	return !p.notifiesBy(now)
}

// send puts a frame into the port's exit, after its congestion point has seen it.
func (s *Switch) send(now units.Time, p *switchPort, e *fabric.Exit, f *fabric.Frame) {
	prio := f.Prio & 7
	if p.shown>>prio&1 != 0 && p.judges(f) {
		s.showPassing(now, p, f)
	}
	p.env.Pass(p.number, e, f.Words()[0], f.Words()[1])
	e.Free += units.Time(int32(f.Len)+int32(p.overhead)) * e.PerByte
	q := &s.queues[p.number*pfc.Classes+int(prio)]
	p.countLeft(q, 1, units.Size(f.Len))
	q.longest = max(q.longest, f.Len)
	if p.weighted>>prio&1 != 0 {
		p.rounds.current = prio
	}
}

// queueUp appends an admitted frame to its queue at the egress port. The port's worker calls it.
func (s *Switch) queueUp(now units.Time, p *switchPort, f *fabric.Frame) {
	if now >= p.attend {
		p.attendTo(now)
	}
	prio := f.Prio & 7
	q := &p.queues[prio]
	switch {
	case s.tooLong(p, f):
		s.lose(now, p, f, fabric.DropTail)
		return
	case p.wary>>prio&1 != 0:
		if why, refuses := p.refuses(f); refuses {
			s.lose(now, p, f, why)
			return
		}
	}
	q.push(f, &p.worker.store)
	if !p.judges(f) {
		q.unjudged++
	}
	first := p.waiting>>prio&1 == 0
	p.waiting |= 1 << prio
	p.reportQueued(now)
	e := p.env.Exit(p.number)
	e.Open, e.Unseen = 0, 0
	if p.points[prio].sampler != nil && p.judges(f) && f.In != ownFrame {
		s.sample(now, p, f, p.state(int(prio)))
	}
	if first {
		if p.credits != nil {
			p.want(now, prio, f)
		}
		if p.halted>>prio&1 == 0 {
			p.env.Wake(p.number, now)
		} else {
			p.env.Wake(p.number, p.stops().Next())
		}
	}
}

// tooLong reports whether a lossy frame that was charged finds its queue too long.
func (s *Switch) tooLong(p *switchPort, f *fabric.Frame) bool {
	return f.Flag&fabric.Lossless == 0 && p.queues[f.Prio&7].bytes+units.Size(f.Len) > s.tailOf(s.pool.Free()) && s.tooLongFor(p, f)
}

// discard counts a frame that never entered the buffer, and drop one of which only the action is known.
func (s *Switch) discard(now units.Time, p *switchPort, f *fabric.Frame, why fabric.Reason) {
	p.countLoss(now, f, why)
	p.env.Free(*f)
}

func (s *Switch) drop(now units.Time, p *switchPort, f *fabric.Frame, a action, why fabric.Reason) {
	f.Prio = a.prio()
	s.discard(now, p, f, why)
}

// lose discards an admitted frame at its egress port.
func (s *Switch) lose(now units.Time, p *switchPort, f *fabric.Frame, why fabric.Reason) {
	p.countLoss(now, f, why)
	p.worker.notePooled(s.pool)
	s.release(now, p.worker, p, f)
	p.env.Free(*f)
}

// countLoss counts a discarded frame, and notes when the first was lost that was lossless: by the priority, or by the
// port through which it came.
func (p *switchPort) countLoss(now units.Time, f *fabric.Frame, why fabric.Reason) {
	prio := f.Prio & 7
	p.stats.Discards[why][prio]++
	if p.log != nil {
		p.log.lost(now, why, prio, f.Len, p.env.Bytes(f))
	}
	lossless := f.Flag&fabric.Lossless != 0 || (p.sw.lossless|p.lossless)>>prio&1 != 0
	if lossless && why.Loses() && p.stats.LostAt[prio] == units.Never {
		p.stats.LostAt[prio] = now
	}
}

// reportQueued calls Queued with what waits at the port.
func (p *switchPort) reportQueued(now units.Time) {
	if p.env.Queued != nil {
		p.env.Queued(now, p.number, p.buffered())
	}
}
