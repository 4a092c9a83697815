package dataplane

import (
	"math/bits"

	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Transmit fills burst with what the port sends next: PFC frames first, which
// no pause stops, then the frames of the highest priority that is not paused.
func (s *Switch) Transmit(now units.Time, port int, burst []Frame) int {
	p := &s.ports[port]
	p.wakeUp(now)
	if p.rings != nil {
		s.takeOver(now, p)
	}
	n := 0
	for n < len(burst) {
		f, ok := p.pause(now)
		if !ok {
			break
		}
		burst[n] = f
		n++
	}
	for n < len(burst) {
		ready := p.waiting &^ p.eg.Paused()
		if ready == 0 {
			break
		}
		burst[n] = s.dequeue(now, p, 7-bits.LeadingZeros8(ready))
		n++
	}
	return n
}

// takeOver queues what other workers received for this port, and learns what
// they learned.
func (s *Switch) takeOver(now units.Time, p *switchPort) {
	for _, r := range p.rings {
		if r == nil {
			continue
		}
		for f, ok := r.pop(); ok; f, ok = r.pop() {
			s.enqueue(now, p, f)
		}
	}
	if p.worker.learned == nil {
		s.takeLearned(now)
	}
}

// pause makes the PFC frame that is due, if one is.
func (p *switchPort) pause(now units.Time) (Frame, bool) {
	if p.in.Next(now) > now {
		return Frame{}, false
	}
	f, ok := p.env.Alloc(pfc.FrameLen)
	if !ok {
		return Frame{}, false // it stays due
	}
	var what pfc.Frame
	p.in.Poll(now, &what)
	what.Encode(p.env.Header(f), p.config.MAC)
	p.stats.TxControl++
	return f, true
}

// dequeue takes the first frame of a queue, releases its buffer and lets the
// congestion point judge it.
func (s *Switch) dequeue(now units.Time, p *switchPort, prio int) Frame {
	q := &p.queues[prio]
	f := q.pop()
	if q.len() == 0 {
		p.waiting &^= 1 << prio
	}
	s.release(now, f)
	p.stats.TxFrames[prio]++
	p.stats.TxBytes[prio] += uint64(f.Len)
	if f.Flag&Lossless != 0 {
		verdict := p.cp[prio].Dequeue(now, q.state(), int(f.Len))
		if verdict == marking.Congestion && f.Flag&Markable != 0 {
			wire.SetECN(p.env.Header(f)[f.L3:], wire.CE)
			p.stats.Marked[prio]++
			p.stats.MarkedBytes[prio] += uint64(f.Len)
		}
	}
	return f
}

// Next is now while something can be sent, else when the first pause timer that
// holds something back runs out, or an XOFF needs a refresh.
func (s *Switch) Next(now units.Time, port int) units.Time {
	p := &s.ports[port]
	if p.waiting&^p.eg.Paused() != 0 || p.inRings() {
		return now
	}
	next := p.in.Next(now)
	if p.waiting != 0 {
		next = min(next, p.eg.Next())
	}
	return max(now, next)
}

// inRings reports whether other workers have frames for this port.
func (p *switchPort) inRings() bool {
	for _, r := range p.rings {
		if r != nil && !r.empty() {
			return true
		}
	}
	return false
}
