package dataplane

import (
	"math/bits"

	"photon/fabric"
	"photon/marking"
	"photon/units"
)

// What take.go asks of ports: whether there is room, what congestion points say, and that they send what has left by now.

// setBounds has all ports work out what may come without a further look. In order, what comes may be a new peak.
func (s *Switch) setBounds(w *switchWorker) {
	const step = 20 * units.KB // of the pool, before they are worked out again
	if w.bounded = w.mostPooled; s.agenda != nil {
		w.bounded = s.pool.Used() + int64(step)
	}
	for i := range s.ports {
		s.ports[i].setBounds()
	}
}

// setBounds has one port do so. In order there are none while what arrives may begin a pause, is refused or is sampled.
func (p *switchPort) setBounds() {
	if order := p.sw.agenda != nil; order && !p.onlyAdmits() {
		p.ingress.ClearBounds()
	} else {
		p.ingress.SetBounds(p.sw.lossless, p.worker.bounded, !order)
	}
}

// onlyAdmits reports that what arrives at a port begins no pause that is still to be decided on, and is neither refused
// nor sampled.
func (p *switchPort) onlyAdmits() bool { return p.refused == 0 && !p.sampled && !p.ingress.Undecided() }

// takes reports that to queue a frame at a port now ends no pause, and that the watchdog does not refuse it.
func (p *switchPort) takes(now units.Time, prio uint8) bool {
	return now < p.attend && p.shut>>prio&1 == 0
}

// room reports whether a frame that is not within bounds fits, and then whether it changes no peak of the buffer, or
// takes headroom. In order it only is in headroom if the peer is paused already: else an XOFF is due.
func (s *Switch) room(
	x *fabric.Span, now units.Time, p *switchPort, a action, most int64,
) (belowPeaks, headroom, fits bool) {
	switch {
	case s.agenda == nil:
		belowPeaks = s.fitsBelowPeaks(p, a, most)
		return belowPeaks, false, belowPeaks || s.fitsNow(x, now, p, a, most)
	case !p.onlyAdmits():
		return false, false, false
	case s.fitsNow(x, now, p, a, most):
		if !p.ingress.Bounded(a.prio()) {
			p.setBounds()
		}
		return false, false, true
	}
	return false, true, fabric.Flag(a>>56)&fabric.Lossless != 0 && p.ingress.Stopped(a.prio())
}

// fitsBelowPeaks reports that a frame fits, and that its coming changes no peak of the buffer, even if nothing has left
// that ports have not caught up with. Of most frames that is known without it.
func (s *Switch) fitsBelowPeaks(p *switchPort, a action, most int64) bool {
	pooled := p.worker.mostPooled
	if fabric.Flag(a>>56)&fabric.Lossless == 0 && (s.pool.Used()+most > pooled || !s.lossyFits(p, a, most)) {
		return false
	}
	return p.ingress.Absorbs(a.prio(), most, pooled)
}

// lossyFits reports whether the pool, the queue and the port take a lossy frame. Limits may follow what is free when
// the frame is in the buffer.
func (s *Switch) lossyFits(p *switchPort, a action, most int64) bool {
	free := s.pool.Free() - most
	return free >= 0 && s.queues[a.queue()].bytes+units.Size(most) <= s.tailOf(free) && !p.crowds(most, free)
}

// fitsNow reports whether a frame fits, after all ports have caught up. In order they always have.
func (s *Switch) fitsNow(x *fabric.Span, now units.Time, p *switchPort, a action, most int64) bool {
	if s.agenda == nil {
		s.serveAll(x, now)
	}
	if fabric.Flag(a>>56)&fabric.Lossless == 0 {
		return s.lossyFits(p, a, most)
	}
	return p.ingress.Fits(a.prio(), most)
}

// showPassingInSpan is showPassing, if the congestion point is to see the frame.
func (s *Switch) showPassingInSpan(x *fabric.Span, now units.Time, to *switchPort, f *fabric.Frame) {
	prio := f.Prio & 7
	if to.weighted>>prio&1 != 0 {
		to.rounds.current = prio
	}
	if to.shown>>prio&1 == 0 || !to.judges(f) {
		return
	}
	if s.agenda != nil {
		s.showPassing(now, to, f)
		s.agenda.woken(x, to.env, now)
		return
	}
	if to.samples>>prio&1 != 0 {
		s.sampleInSpan(x, now, to, f, marking.Queue{Bytes: units.Size(f.Len), Frames: 1})
	}
	if to.passed>>prio&1 != 0 {
		to.judgePassing(now, f)
	}
}

// wakeInSpan notes when a port is to be served of which the first frame of a priority has been queued.
func (p *switchPort) wakeInSpan(x *fabric.Span, wire *fabric.Wire, e *fabric.Exit, now units.Time, prio uint8) {
	if wire.PerByte == 0 {
		return
	}
	due := now
	if p.halted>>prio&1 != 0 {
		due = p.stops().Next()
	}
	at := max(due, e.Free)
	if a := p.sw.agenda; a != nil {
		p.env.SetDue(p.number, min(p.env.Due(p.number), due))
		if at < wire.At {
			a.put(x, p.number, at)
		}
	}
	wire.At = min(wire.At, at)
}

// sampleInSpan is sample.
func (s *Switch) sampleInSpan(x *fabric.Span, now units.Time, p *switchPort, f *fabric.Frame, q marking.Queue) {
	if s.agenda != nil {
		s.sample(now, p, f, q)
		s.agenda.woken(x, p.env, now)
		return
	}
	prio := f.Prio & 7
	feedback, ok := p.feedback(now, f, q)
	if p.unnoticed>>prio&1 != 0 { // a flow may be new
		p.notice(x, prio)
	}
	if ok {
		s.answerInSpan(x, now, p, f, feedback)
	}
}

// noteNotices is nextNotice, and notes which congestion points have none to come: only these can have one earlier.
func (p *switchPort) noteNotices() (next units.Time) {
	next, p.unnoticed = units.Never, 0
	for rest := p.notifies; rest != 0; rest &= rest - 1 {
		prio := bits.TrailingZeros8(rest)
		at := p.points[prio].notifier.Next()
		if next = min(next, at); at == units.Never {
			p.unnoticed |= 1 << prio
		}
	}
	return next
}

// notice asks a congestion point for its next CNP, which ends the span.
func (p *switchPort) notice(x *fabric.Span, prio uint8) {
	next := p.points[prio].notifier.Next()
	if next == units.Never {
		return
	}
	p.unnoticed &^= 1 << prio
	x.End = min(x.End, next)
	if wire := &x.Wires[p.number]; next < wire.At && wire.PerByte != 0 {
		wire.At = min(wire.At, max(next, p.env.Exit(p.number).Free))
	}
}

// answerInSpan sends feedback. All ports catch up before it is queued at one of them.
func (s *Switch) answerInSpan(x *fabric.Span, now units.Time, p *switchPort, f *fabric.Frame, feedback marking.Sample) {
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
func (s *Switch) serveUntil(x *fabric.Span, port int, until units.Time) {
	p, wire := &s.ports[port], &x.Wires[port]
	e, at := p.env.Exit(port), wire.At
	if s.intricate && p.intricate() {
		s.serveIntricate(x, port, until)
		return
	}
	if p.waiting == 0 { // who set the time expected something else
		at = max(p.nextNotice(), e.Free)
		x.Idle++
	}
	for at < until {
		d := x.AddDeparture()
		s.dequeueOne(at, p, uint8(7-bits.LeadingZeros8(p.waiting)), &d.Frame)
		at += wire.Took(d.Len)
		d.Gone, d.Port, e.Free = at, int32(port), at
		if p.waiting == 0 {
			if at = units.Never; p.notifies != 0 {
				at = max(p.nextNotice(), e.Free)
			}
		}
	}
	wire.At = at
}

// serveIntricate is serveUntil of a port that may be paused, or has weights, shapers or a congestion point that sends
// CNPs.
func (s *Switch) serveIntricate(x *fabric.Span, port int, until units.Time) {
	wire, e := &x.Wires[port], s.workers[0].env.Exit(port)
	for wire.At < until {
		d, at := x.AddDeparture(), wire.At
		sent, next := s.Serve(at, port, &d.Frame)
		if sent {
			d.Gone, d.Port = at+wire.Took(d.Len), int32(port)
			e.Free = d.Gone
		} else {
			x.Departures = x.Departures[:len(x.Departures)-1]
			x.Idle++
		}
		wire.At = max(next, e.Free)
	}
}

// serveAll has all ports do so.
func (s *Switch) serveAll(x *fabric.Span, until units.Time) {
	for i := range x.Wires {
		if x.Wires[i].At < until {
			s.serveUntil(x, i, until)
		}
	}
}
