package dataplane

import (
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Receive takes frames from a wire: it consumes MAC control frames, and hands
// every other to the egress port for which it is.
func (s *Switch) Receive(now units.Time, port int, burst []Frame) {
	p := &s.ports[port]
	p.wakeUp(now)
	for len(burst) > 0 {
		n := min(len(burst), quickBurst)
		if s.general || n == 1 || p.env.base == nil {
			n = 1
			if s.general || !s.receiveSingle(now, p, &burst[0]) {
				s.receive(now, p, burst[0])
			}
		} else {
			s.receiveQuick(now, p, burst[:n])
		}
		burst = burst[n:]
	}
	if at := p.in.Next(now); at != units.Never {
		p.env.Wake(port, at)
	}
}

func (s *Switch) receive(now units.Time, p *switchPort, f Frame) {
	b := p.env.Header(f)
	var h wire.Header
	if !wire.Parse(b, &h) {
		p.stats.RxFrames[0]++
		p.stats.RxBytes[0] += uint64(f.Len)
		s.discard(p, f, DropMalformed)
		return
	}
	if h.EtherType == wire.TypeMACControl && h.Payload == wire.EthernetLen {
		p.control(now, b)
		p.env.Free(f)
		return
	}
	if s.isProbe(&h) {
		p.probed(b)
		p.env.Free(f)
		return
	}
	s.classify(&f, &h, b)
	f.In = uint16(p.number)
	p.stats.RxFrames[f.Prio]++
	p.stats.RxBytes[f.Prio] += uint64(f.Len)
	in, tag := s.lanOf(p, b)
	switch {
	case int(f.Len) > s.bare+tag:
		s.discard(p, f, DropOversize)
		return
	case h.Dst.LinkLocal() || h.EtherType == wire.TypeMACControl:
		s.discard(p, f, DropReserved)
		return
	case h.Src.Multicast() || h.Src == 0: // nobody has such an address (IEEE 802.3 clause 3.2.3); bridges do not pass them on
		s.discard(p, f, DropSource)
		return
	case in == nil:
		s.discard(p, f, DropVLAN)
		return
	}
	if s.config.Learn {
		s.learn(now, p, in, h.Src)
	}
	if s.routes != nil && s.routes.own && s.answer(now, p, in, f, &h) {
		return
	}
	out := noPort
	if !h.Dst.Multicast() {
		out = in.fdb.lookup(h.Dst, h.Hash, now)
	}
	switch out {
	case noPort:
		if why, ok := s.mayFlood(now, p, f, h.Dst); !ok {
			s.discard(p, f, why)
			return
		}
		s.flood(now, p, in, f)
	case toRouter:
		s.route(now, p, in, f)
	case p.number:
		s.discard(p, f, DropNoPort)
	default:
		s.forward(now, p, out, in, f)
	}
}

// control applies a PFC or PAUSE frame to what this port sends.
func (p *switchPort) control(now units.Time, b []byte) {
	p.stats.RxControl++
	var f pfc.Frame
	if f.Decode(b) != nil {
		p.stats.BadControl++
		return
	}
	resumed := p.eg.Receive(now, &f)
	p.note()
	if resumed != 0 {
		p.resumed(now, resumed)
	}
	if p.dog.Config().Detect != 0 {
		p.watch(now)
	}
}

// wakeUp ends the pauses whose time has run out. It comes before anything that
// depends on them: the congestion points want to know what was queued then.
func (p *switchPort) wakeUp(now units.Time) {
	if now >= p.attend {
		p.attendTo(now)
	}
}

func (p *switchPort) attendTo(now units.Time) {
	resumed := p.eg.Expire(now)
	p.note()
	if resumed != 0 {
		p.resumed(now, resumed)
	}
	if now >= p.dog.Next() {
		p.watch(now)
	}
}

func (p *switchPort) resumed(now units.Time, prios uint8) {
	for prio := range pfc.Classes {
		if prios>>prio&1 != 0 {
			if cp := p.points[prio].cp; cp != nil {
				cp.Resume(now, p.state(prio))
			}
		}
	}
	if p.waiting&prios != 0 {
		p.env.Wake(p.number, now)
	}
}

// classify reads the priority, and whether the frame may be marked.
func (s *Switch) classify(f *Frame, h *wire.Header, b []byte) {
	f.Hash, f.Flag = h.Hash, Flag(h.L3)
	switch {
	case h.EtherType == wire.TypeCNM:
		f.Prio = s.config.Control
	case h.Tagged && (s.config.TrustPCP || h.L3 == 0):
		f.Prio = s.config.PCP[h.PCP]
	case h.L3 != 0:
		f.Prio = s.config.DSCP[h.TOS>>2]
	default:
		f.Prio = 0
	}
	if s.config.Lossless>>f.Prio&1 != 0 {
		f.Flag |= Lossless
		ecn := h.TOS & 3
		if h.L3 != 0 && (ecn == wire.ECT0 || ecn == wire.ECT1) && (h.BTH == 0 || wire.BTH(b[h.BTH:]).Opcode() != wire.OpCNP) {
			f.Flag |= Markable
		}
	}
}

// admit accounts a frame to the port through which it came, or discards it.
func (s *Switch) admit(p *switchPort, f Frame) bool {
	if f.Flag&Lossless == 0 && !s.pool.Take(int(f.Len)) {
		s.discard(p, f, DropBuffer)
		return false
	}
	if !p.in.Admit(f.Prio, int(f.Len)) {
		s.discard(p, f, DropHeadroom)
		return false
	}
	p.admitted[f.Prio]++
	return true
}

// release takes a frame out of the account of the port through which it came.
func (s *Switch) release(now units.Time, f *Frame) {
	if f.Flag&Lossless == 0 {
		s.pool.Add(-int64(f.Len))
	}
	from := &s.ports[f.In]
	if from.in.Release(f.Prio, int(f.Len)) {
		from.env.Wake(int(f.In), now)
	}
	if s.holding > 0 {
		s.wakeHolding(now)
	}
}

// wakeHolding lets ports send the XON that is due because the pool has more
// free. With several workers a port finds out at its next poll.
func (s *Switch) wakeHolding(now units.Time) {
	for i := range s.ports {
		if p := &s.ports[i]; p.in.Held() != 0 && p.in.Next(now) <= now {
			p.env.Wake(i, now)
		}
	}
}

// hand gives an admitted frame to its egress port, directly or through the ring
// to that port's worker.
func (s *Switch) hand(now units.Time, from, to *switchPort, f Frame) {
	if to.worker == from.worker {
		s.enqueue(now, to, f)
		return
	}
	if !to.rings[from.worker.number].push(f) {
		from.stats.Discards[DropRing][f.Prio]++
		s.release(now, &f)
		from.env.Free(f)
	}
}

// enqueue appends a frame to its queue at the egress port. The port's worker calls it.
func (s *Switch) enqueue(now units.Time, p *switchPort, f Frame) {
	p.wakeUp(now)
	q := &p.queues[f.Prio]
	if f.Flag&Lossless == 0 && q.bytes+units.Size(f.Len) > s.tail(0) {
		p.stats.Discards[DropTail][f.Prio]++
		s.release(now, &f)
		p.env.Free(f)
		return
	}
	if p.shut>>f.Prio&1 != 0 {
		s.refuse(now, p, f)
		return
	}
	q.push(&f)
	p.enqueued[f.Prio]++
	if sampler := p.points[f.Prio].sampler; sampler != nil && f.Flag&Lossless != 0 {
		p.show(f)
		if sample, ok := sampler.Enqueue(now, p.state(int(f.Prio)), &p.packet); ok {
			s.sendCNM(now, p, f, sample)
		}
	}
	if p.waiting>>f.Prio&1 == 0 {
		s.nowWaiting(now, p, f.Prio)
	}
}

// tail is the limit of an egress queue of a lossy priority when n more bytes
// are taken of the buffer. What follows the free part lets few congested queues
// be long, and many not fill the buffer (Choudhury and Hahne, Trans. Networking
// 1998, equation 1).
func (s *Switch) tail(n int) units.Size {
	if s.config.Share == 0 {
		return s.config.Tail
	}
	return min(s.config.Tail, units.Size(s.config.Share*float64(max(0, s.pool.Free()-int64(n)))))
}

// nowWaiting notes that a priority has frames, and when the port can send them.
func (s *Switch) nowWaiting(now units.Time, p *switchPort, prio uint8) {
	p.waiting |= 1 << prio
	if p.paused()>>prio&1 == 0 {
		p.env.Wake(p.number, now)
	} else {
		p.env.Wake(p.number, p.eg.Next())
	}
}

// discard counts a frame that never entered the buffer.
func (s *Switch) discard(p *switchPort, f Frame, why Reason) {
	p.stats.Discards[why][f.Prio]++
	p.env.Free(f)
}
