package dataplane

import (
	"math/bits"

	"photon/cnp"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Transmit fills burst with what the port sends next: PFC frames first, which
// no pause stops, then frames of the priorities that are not paused: strict ones,
// the highest first, and what these leave is shared by weight.
func (s *Switch) Transmit(now units.Time, port int, burst []Frame) int {
	p := &s.ports[port]
	p.wakeUp(now)
	if p.rings != nil {
		s.takeOver(now, p)
	}
	if p.notifies != 0 {
		s.sendCNPs(now, p)
	}
	n := 0
	for n < len(burst) {
		f, ok := s.pause(now, p)
		if !ok {
			break
		}
		burst[n] = f
		n++
	}
	for n < len(burst) {
		f, ok := p.nextProbe()
		if !ok {
			break
		}
		burst[n] = f
		n++
	}
	batch := p.quick // priorities of which a burst at a time is sent
	if len(burst) == 1 || s.general || s.moving {
		batch = 0
	}
	if batch != 0 && p.env.base != nil {
		n += s.drain(now, p, batch&^s.weighted, burst[n:])
	}
	for n < len(burst) {
		ready := p.waiting &^ p.paused()
		if ready == 0 {
			break
		}
		if strict := 31 - bits.LeadingZeros32(uint32(ready&^s.weighted)); strict >= 0 && batch>>(strict&7)&1 != 0 {
			n += s.dequeueQuick(now, p, uint8(strict&7), burst[n:], unbounded)
		} else {
			n += s.send(now, p, ready, batch, burst[n:])
		}
	}
	return n
}

// send takes frames of one of the ready priorities, and returns how many.
func (s *Switch) send(now units.Time, p *switchPort, ready, batch uint8, burst []Frame) (n int) {
	prio, budget := 0, int64(unbounded)
	if strict := ready &^ s.weighted; strict != 0 {
		prio = 7 - bits.LeadingZeros8(strict)
	} else {
		prio, budget = s.turn(p, ready)
	}
	before := p.sent
	switch {
	case len(burst) == 1 && p.quick>>prio&1 != 0 && !s.general:
		s.dequeueSingle(now, p, prio, &burst[0])
		n = 1
	case batch>>prio&1 != 0:
		n = s.dequeueQuick(now, p, uint8(prio), burst, budget)
	default:
		burst[0] = s.dequeue(now, p, prio)
		n = 1
	}
	if budget != unbounded {
		p.took(prio, p.sent-before)
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
func (s *Switch) pause(now units.Time, p *switchPort) (Frame, bool) {
	if p.in.Next(now) > now {
		return Frame{}, false
	}
	f, ok := p.env.Alloc(pfc.FrameLen)
	if !ok {
		return Frame{}, false // it stays due
	}
	var what pfc.Frame
	held := p.in.Held() != 0
	p.in.Poll(now, &what)
	if now := p.in.Held() != 0; s.moving && now != held {
		if s.holding--; now {
			s.holding += 2
		}
	}
	what.Encode(p.env.Header(f), p.config.MAC)
	p.stats.TxControl++
	return f, true
}

// dequeue takes the first frame of a queue, releases its buffer and lets the
// congestion point judge it.
func (s *Switch) dequeue(now units.Time, p *switchPort, prio int) Frame {
	q := &p.queues[prio].queue
	var f Frame
	q.pop(&f)
	if q.len() == 0 {
		p.waiting &^= 1 << prio
	}
	s.release(now, &f)
	p.stats.TxFrames[prio]++
	p.stats.TxBytes[prio] += uint64(f.Len)
	if f.Flag&Lossless != 0 && p.points[prio].cp != nil {
		p.judge(now, f)
	}
	p.sent += units.Size(p.config.Link.WireBytes(int(f.Len)))
	return f
}

// judge lets the congestion point look at a frame that left its queue, and
// writes its mark or its telemetry.
func (p *switchPort) judge(now units.Time, f Frame) {
	point := &p.points[f.Prio]
	p.show(f)
	state := p.state(int(f.Prio))
	switch point.cp.Dequeue(now, state, &p.packet) {
	case marking.Congestion:
		if f.Flag&Markable != 0 {
			wire.SetECN(p.packet.Bytes[f.l3():], wire.CE)
			p.stats.Marked[f.Prio]++
			p.stats.MarkedBytes[f.Prio] += uint64(f.Len)
		}
	case marking.Undetermined:
		if f.Flag&Markable != 0 {
			wire.SetECN(p.packet.Bytes[f.l3():], cnp.TCDUndetermined)
			p.stats.Undetermined[f.Prio]++
		}
	}
	if point.stamper != nil && f.l3() != 0 {
		p.stamp(point.stamper.Stamp(now, state), f)
	}
}

// stamp writes a hop into a packet that has room for telemetry.
func (p *switchPort) stamp(hop wire.INTHop, f Frame) {
	var h wire.Header
	if b := p.packet.Bytes; wire.Parse(b, &h) && h.BTH != 0 && !answers(wire.BTH(b[h.BTH:]).Opcode()) {
		if t := wire.INTOf(b[h.L3:], h.BTH-h.L3); t != nil {
			t.Push(hop)
		}
	}
}

// answers reports whether packets with an opcode bring telemetry back.
func answers(opcode uint8) bool { return opcode == wire.OpAcknowledge || opcode == wire.OpShimEcho }

// show fills in what a congestion point may know of a frame.
func (p *switchPort) show(f Frame) {
	b := p.env.Header(f)
	ecn := uint8(0)
	if f.l3() != 0 {
		ecn = wire.ECN(b[f.l3():])
	}
	if f.Hash == 0 && f.l3() != 0 { // it came in a burst
		var h wire.Header
		wire.Parse(b, &h)
		f.Hash = h.Hash
	}
	p.packet = marking.Packet{Size: int(f.Len), Hash: f.Hash, ECN: ecn, L3: f.l3(), Bytes: b}
}

// state is what a congestion point may know of its queue.
func (p *switchPort) state(prio int) marking.Queue {
	q := &p.queues[prio].queue
	return marking.Queue{Bytes: q.bytes, Frames: q.len(), Port: p.buffered(), Sent: p.sent}
}

// buffered is the bytes in all queues of the port.
func (p *switchPort) buffered() (sum units.Size) {
	for rest := p.waiting; rest != 0; rest &= rest - 1 {
		sum += p.queues[bits.TrailingZeros8(rest)].bytes
	}
	return sum
}

// Next is now while something can be sent, else when the first pause timer that
// holds something back runs out, or an XOFF needs a refresh.
func (s *Switch) Next(now units.Time, port int) units.Time {
	p := &s.ports[port]
	if p.waiting&^p.paused() != 0 || p.outs != 0 || p.inRings() {
		return now
	}
	next := p.in.Next(now)
	for rest := p.notifies; rest != 0; rest &= rest - 1 {
		next = min(next, p.points[bits.TrailingZeros8(rest)].notifier.Next())
	}
	if p.waiting != 0 {
		next = min(next, p.eg.Next())
	}
	next = min(next, p.dog.Next())
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
