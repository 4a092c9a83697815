package dataplane

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// Transmit fills burst with what the port sends next: PFC frames first, which no pause stops, then
// frames of the priorities that are not paused, in the order that schedule.go finds. They leave the
// buffer, and the congestion points judge them (mark.go).
func (s *Switch) Transmit(now units.Time, port int, burst []fabric.Frame) (n int) {
	p := &s.ports[port]
	if now >= p.attend {
		p.attendTo(now)
	}
	if p.notifies != 0 {
		s.sendCNPs(now, p)
	}
	if now >= p.timerAt {
		s.serveNeighbours(now, p)
	}
	if s.credited && n < len(burst) && p.makeCredits(now, &burst[n]) {
		n++
	}
	for n < len(burst) && s.pause(now, p, &burst[n]) {
		n++
	}
	for n < len(burst) && p.nextOwn(&burst[n]) {
		n++
	}
	for n < len(burst) {
		ready := p.waiting &^ p.halted
		if p.shaped != 0 {
			ready, _ = p.open(now, ready)
		}
		if ready == 0 {
			break
		}
		prio, budget := s.next(p, ready)
		if p.shaped>>prio&1 != 0 {
			budget = 0 // one frame: then its shaper is asked again
		}
		n += s.dequeue(now, p, prio, burst[n:], budget)
	}
	return n
}

var (
	_ fabric.Server = (*Switch)(nil)
	_ fabric.Poller = (*Switch)(nil)
)

// Serve implements Server.
func (s *Switch) Serve(now units.Time, port int, f *fabric.Frame) (sent bool, next units.Time) {
	p := &s.ports[port]
	if ready := p.waiting &^ p.halted; ready != 0 && p.usual(now) { // what Transmit and Next would do
		s.dequeueOne(now, p, uint8(7-bits.LeadingZeros8(ready)), f)
		if p.waiting&^p.halted != 0 {
			return true, now
		}
		return true, s.Next(now, port)
	}
	n := s.Transmit(now, port, unsafe.Slice(f, 1))
	return n == 1, s.Next(now, port)
}

// usual reports that a port has nothing to do now but to send what waits, by strict priority.
func (p *switchPort) usual(now units.Time) bool {
	return now < p.attend && now < p.timerAt && p.shaped|p.weighted|p.outs == 0 &&
		(p.ingress.Quiet() || p.ingress.Next(now) > now) && !p.notifiesBy(now) &&
		(p.credits == nil || p.credits.Due(now) > now)
}

// dequeue takes frames of one queue, as many as lie in a row, fit, and are within a budget of bytes on
// the wire, but one at least. It returns how many.
func (s *Switch) dequeue(now units.Time, p *switchPort, prio uint8, burst []fabric.Frame, budget int64) int {
	q := &p.queues[prio]
	run := q.run(min(len(burst), fabric.MaxBurst))
	if point := &p.points[prio]; point.cp != nil && point.runner == nil {
		run = run[:1]
	}
	bytes, left := units.Size(0), budget
	burst = burst[:len(run)]
	for i := range run {
		f := &run[i]
		if left -= int64(f.Len) + int64(p.overhead); i > 0 && (left < 0 || (f.Flag^run[0].Flag)&fabric.Lossless != 0) {
			burst = burst[:i]
			break
		}
		burst[i].Copy(f)
		bytes += units.Size(f.Len)
	}
	if s.credited {
		burst = p.pay(now, prio, burst)
		bytes = 0
		for i := range burst {
			bytes += units.Size(burst[i].Len)
		}
	}
	p.mark(now, prio, burst)
	q.drop(len(burst), bytes, &p.worker.store)
	p.reportQueued(now)
	if q.frames == 0 {
		if p.waiting &^= 1 << prio; p.waiting == 0 {
			p.gate()
		}
	}
	s.releaseAll(now, p, burst)
	p.countLeft(q, len(burst), bytes)
	if (p.weighted|p.shaped)>>prio&1 != 0 {
		p.took(now, prio, bytes+units.Size(len(burst))*units.Size(p.overhead))
	}
	return len(burst)
}

// dequeueOne is dequeue of one frame, by strict priority. If its lane has credits, it has them for this frame.
func (s *Switch) dequeueOne(now units.Time, p *switchPort, prio uint8, f *fabric.Frame) {
	q, w := &p.queues[prio], p.worker
	f.Copy(&q.head.frames[q.first])
	length := units.Size(uint16(f.Words()[0] >> 32))
	if p.credits != nil {
		p.pay(now, prio, unsafe.Slice(f, 1))
	}
	if p.points[prio].cp != nil || !p.judges(f) {
		p.mark(now, prio, unsafe.Slice(f, 1))
	}
	q.drop(1, length, &w.store)
	if p.env.Queued != nil {
		p.reportQueued(now)
	}
	if q.frames == 0 {
		if p.waiting &^= 1 << prio; p.waiting == 0 {
			p.gate()
		}
	}
	w.notePooled(s.pool)
	what := f.Words()[1]
	in, flag := uint16(what>>32), fabric.Flag(what>>56)
	cost := s.cost(uint16(length))
	own := in != ownFrame && (w.outboxes == nil || int(s.owner[in]) == w.number)
	if flag&fabric.Lossless == 0 || !own || s.credited || !s.ports[in].ingress.ReleaseFast(prio, cost) {
		s.release(now, w, p, f)
	} else if s.pausing != 0 && s.pool.Awaited() {
		s.wakePausing(now)
	}
	p.countLeft(q, 1, length)
}

// unbounded is the budget of strict priorities.
const unbounded = math.MaxInt64

// pause makes the PFC frame that is due, if one is.
func (s *Switch) pause(now units.Time, p *switchPort, f *fabric.Frame) bool {
	if p.ingress.Quiet() || p.ingress.Next(now) > now || !p.env.AllocAt(f, pfc.FrameLen) {
		return false // short of memory it stays due
	}
	var what pfc.Frame
	before := p.ingress.PeerStopped() != 0
	p.ingress.Poll(now, &what)
	if after := p.ingress.PeerStopped() != 0; s.moving && after != before {
		if s.pausing--; after {
			s.pausing += 2
		}
	}
	p.gate()
	what.Encode(p.env.Bytes(f), p.config.MAC)
	p.sendsOfLink(f)
	return true
}

// sendsOfLink counts a frame of the link that begins here: MAC control, LLDP, a probe.
func (p *switchPort) sendsOfLink(f *fabric.Frame) {
	p.stats.TxControl++
	p.stats.TxControlBytes += uint64(f.Len)
}

// Next is now while something can be sent, else when the first pause timer with
// frames behind it expires, or an XOFF needs a refresh.
func (s *Switch) Next(now units.Time, port int) units.Time {
	p := &s.ports[port]
	shaped := units.Never
	if ready := p.waiting &^ p.halted; ready != 0 || p.outs != 0 {
		if p.shaped == 0 || p.outs != 0 {
			return now
		}
		if ready, shaped = p.open(now, ready); ready != 0 {
			return now
		}
	}
	next := min(p.ingress.Next(now), p.timerAt, shaped, p.nextNotice())
	if p.attend != units.Never {
		next = min(next, p.watchdog.Next())
	}
	if p.waiting != 0 {
		next = min(next, p.stops().Next())
	}
	if s.credited {
		next = min(next, p.credits.Due(now))
	}
	return max(now, next)
}

// nextNotice is when one of the port's congestion points has a CNP to send, or is to be asked.
func (p *switchPort) nextNotice() (next units.Time) {
	next = units.Never
	for rest := p.notifies; rest != 0; rest &= rest - 1 {
		next = min(next, p.points[bits.TrailingZeros8(rest)].notifier.Next())
	}
	return next
}

// notifiesBy reports that a congestion point has a CNP to send by an instant.
func (p *switchPort) notifiesBy(now units.Time) bool { return p.notifies != 0 && p.nextNotice() <= now }

// mostCNPs is more than any congestion point has to say at one instant: one for each flow that it can tell apart.
const mostCNPs = 1 << 17

// sendCNPs sends the CNPs that the port's congestion points have due. One that is due for ever would be asked for ever.
func (s *Switch) sendCNPs(now units.Time, p *switchPort) {
	for rest := p.notifies; rest != 0; rest &= rest - 1 {
		prio := bits.TrailingZeros8(rest)
		n := p.points[prio].notifier
		for asked := 0; n.Next() <= now; asked++ {
			if asked == mostCNPs {
				panic(fmt.Sprintf("congestion point %T of port %d, priority %d: "+
					"at %v its Next was still %v after %d calls of Poll", n, p.number, prio, now, n.Next(), asked))
			}
			if flow, ok := n.Poll(now, p.state(prio)); ok {
				s.sendCNP(now, p, prio, flow)
			}
		}
	}
}

// attendTo ends the pauses whose time has run out, and has the watchdog look. It comes before anything
// that depends on them: the congestion points want to know what was queued then.
func (p *switchPort) attendTo(now units.Time) {
	resumed := p.egress.Expire(now)
	p.refresh()
	p.resumed(now, resumed)
	if now >= p.watchdog.Next() {
		p.watch(now)
	}
}

// resumed notes that priorities go on. It comes after refresh.
func (p *switchPort) resumed(now units.Time, prios uint8) {
	for rest := prios; rest != 0; rest &= rest - 1 {
		prio := bits.TrailingZeros8(rest)
		if cp := p.points[prio].cp; cp != nil {
			q := p.state(prio)
			q.Frames -= int(p.queues[prio].unjudged) // it will not see them leave
			cp.Resume(now, q)
		}
	}
	if p.waiting&prios != 0 {
		p.env.Wake(p.number, now)
	}
}

// refresh brings attend, halted, shut, refused and what the queues know of them up to date. It comes after every change
// of stops, watchdog, down, off and points.
func (p *switchPort) refresh() {
	stops := p.stops()
	p.attend = min(stops.Next(), p.watchdog.Next())
	p.halted = stops.Paused() &^ p.watchdog.Ignored()
	p.shut, p.refused = p.watchdog.Dropping(), p.watchdog.Refusing()
	if p.down {
		p.shut = 0xFF
	}
	if p.off {
		p.refused = 0xFF
	}
	p.wary = p.shut | p.wred.set
	p.ingress.ClearBounds()
	for prio := range p.queues {
		if p.queues[prio].fastUntil = p.attend; p.shut>>prio&1 != 0 || p.points[prio].sampler != nil || p.env.Queued != nil {
			p.queues[prio].fastUntil = 0
		}
	}
	p.gate()
}
