package dataplane

import (
	"math/bits"

	"photon/marking"
	"photon/pfc"
	"photon/units"
)

// This file is the quick way of a frame that comes, or goes, by itself: as the
// simulator has them, and a switch with little to do. There is nothing to be
// shared among the frames of a burst then, and what counts is how few lines of
// the cache are touched: the counts of a priority lie together and are added to
// the port's when somebody asks. Moving thresholds and groups of ports are no
// hindrance, since each frame is admitted, and released, by itself.

// lane is what was counted of frames of a priority that left a port, and not added to
// its statistics yet; it, and what is beside it, fill a line of the cache. What came in
// is counted in the line of its account, see pfc.Ingress.
type lane struct {
	txFrames, txBytes uint64
	enqueued          uint64
	passed            units.Size // the longest frame that went through without being queued
	keep              units.Size // the congestion point keeps what leaves at most this behind; -1: it must be asked
	marked            uint64     // of the frames that left together, those with CE set
	markedBytes       uint64
	_                 uint64
}

// peak is the most bytes that were in the queue.
func (l *level) peak() units.Size { return max(l.queue.peak(), l.passed) }

// settle adds up what was counted of single frames.
func (p *switchPort) settle() {
	for prio := range pfc.Classes {
		l := &p.queues[prio].lane
		frames, bytes := p.in.Counted(uint8(prio))
		p.stats.RxFrames[prio] += frames
		p.stats.RxBytes[prio] += bytes
		p.admitted[prio] += frames
		p.stats.TxFrames[prio] += l.txFrames
		p.stats.TxBytes[prio] += l.txBytes
		p.stats.Marked[prio] += l.marked
		p.stats.MarkedBytes[prio] += l.markedBytes
		p.enqueued[prio] += l.enqueued
		*l = lane{passed: l.passed, keep: l.keep}
	}
}

// receiveSingle takes a plain frame from a wire. It does nothing that matters to
// the general way, and reports false, if that must take it.
func (s *Switch) receiveSingle(now units.Time, p *switchPort, f *Frame) bool {
	to := s.routeSingle(now, p, f)
	if to == nil || !s.admitSingle(p, to, f) {
		return false
	}
	s.queueSingle(now, to, f)
	return true
}

// routeSingle finds the port through which a plain frame is to leave; nil: the
// general way must take it, and nothing happened that matters to that.
func (s *Switch) routeSingle(now units.Time, p *switchPort, f *Frame) *switchPort {
	b := p.env.single(f)
	if b == nil || !b.Plain() || int(f.Len) > s.bare {
		return nil
	}
	fdb, dst, src := p.fdb, b.Dst(), b.Src()
	if fdb == nil || src == 0 || (dst | src).Multicast() || s.config.Learn && !fdb.confirmed(src, p.number, now) {
		return nil
	}
	hash := b.Hash()
	out := fdb.lookup(dst, hash, now)
	if out < 0 || out == p.number { // unknown, or to be routed
		return nil
	}
	to := &s.ports[out]
	r := s.classes[b.TOS()]
	prio := r.prio()
	// If it is of another LAN, it leaves with a tag, or not at all.
	if to.fdb != fdb || !s.direct && to.worker != p.worker || to.shut>>prio&1 != 0 || now >= to.attend {
		return nil
	}
	if b.CNP() {
		r &= notMarkable
	}
	f.set(r | newRead(uint16(p.number), 0, 0) | read(hash))
	return to
}

// admitSingle admits a plain frame that is for a port. It does nothing, and
// reports false, if the general way must take it.
func (s *Switch) admitSingle(p, to *switchPort, f *Frame) bool {
	prio := f.Prio & 7
	if to.simple>>prio&1 != 0 {
		if !p.in.Admit(prio, int(f.Len)) {
			return false
		}
	} else {
		if !s.fitsLossy(p, to.queues[prio].bytes, f) || !s.pool.Take(int(f.Len)) {
			return false
		}
		p.in.AdmitAll(prio, int64(f.Len))
	}
	p.in.Count(prio, int(f.Len))
	return true
}

// fitsLossy reports whether a frame is not lossless, and may be admitted behind so
// many bytes if the pool has room for it.
func (s *Switch) fitsLossy(p *switchPort, queued units.Size, f *Frame) bool {
	return f.Flag&Lossless == 0 && queued+units.Size(f.Len) <= s.tail(int(f.Len)) && int64(f.Len) <= p.in.Room(f.Prio&7)
}

// queueSingle appends an admitted frame to its queue.
func (s *Switch) queueSingle(now units.Time, to *switchPort, f *Frame) {
	prio := f.Prio & 7
	q := &to.queues[prio]
	q.push(f)
	q.lane.enqueued++
	if to.waiting>>prio&1 == 0 {
		s.nowWaiting(now, to, prio)
	}
}

// dequeueSingle takes the first frame of a queue whose congestion point can judge
// bursts, releases its buffer and lets the congestion point judge it.
func (s *Switch) dequeueSingle(now units.Time, p *switchPort, prio int, f *Frame) {
	q := &p.queues[prio&7]
	q.pop(f)
	if q.len() == 0 {
		p.waiting &^= 1 << prio
	}
	s.release(now, f)
	l := &q.lane
	l.txFrames++
	l.txBytes += uint64(f.Len)
	p.sent += units.Size(int(f.Len) + int(p.overhead))
	if q.bytes > l.keep && f.Flag&Lossless != 0 {
		// As of before it left.
		state := marking.Queue{Bytes: q.bytes + units.Size(f.Len), Frames: q.len() + 1}
		sizes, marks := p.worker.sizes[:1], p.worker.marks[:1]
		sizes[0] = f.Len
		if q.burst.DequeueBurst(now, state, sizes, marks); marks[0] == marking.Congestion && f.Flag&Markable != 0 {
			p.mark(f)
			p.stats.Marked[prio&7]++
			p.stats.MarkedBytes[prio&7] += uint64(f.Len)
		}
	}
}

// What follows is for a world that knows when a port is free, and hands over one
// frame at a time: it does what Receive, Transmit and Next do, with the least that
// is to be done.

// Take is Receive of one frame, but for its queue: out is the port for which the
// frame is, and Through or Queue must follow. If out is negative the frame has gone
// its way.
func (s *Switch) Take(now units.Time, port int, f *Frame) (out int) {
	p := &s.ports[port]
	p.wakeUp(now)
	if !s.general {
		if to := s.routeSingle(now, p, f); to != nil {
			return to.number
		}
	}
	s.receiveAlone(now, p, f)
	return noPort
}

// receiveAlone is Receive of one frame that must go the general way.
func (s *Switch) receiveAlone(now units.Time, p *switchPort, f *Frame) {
	s.receive(now, p, *f)
	p.wakePause(now)
}

// wakePause asks to be called when a PFC frame is due.
func (p *switchPort) wakePause(now units.Time) {
	if !p.in.Quiet() {
		if at := p.in.Next(now); at != units.Never {
			p.env.Wake(p.number, at)
		}
	}
}

// Queue admits and queues a frame that is for a port.
func (s *Switch) Queue(now units.Time, out int, f *Frame) {
	p, to := &s.ports[f.In], &s.ports[out]
	if !s.admitSingle(p, to, f) {
		s.receiveAlone(now, p, f)
		return
	}
	s.queueSingle(now, to, f)
	p.wakePause(now)
}

// Through sends a frame that is for a port at once, as if it had been admitted and
// queued, and taken out again. It does nothing and reports false if there is more to it.
func (s *Switch) Through(out int, f *Frame) bool {
	p := &s.ports[out]
	prio := f.Prio & 7
	from := &s.ports[f.In]
	if p.waiting|p.notifies|p.outs != 0 || p.attend != units.Never || !p.alone || p.quick&^s.weighted>>prio&1 == 0 || !p.in.Quiet() || !from.in.Quiet() || s.holding > 0 {
		return false
	}
	l := &p.queues[prio].lane
	if p.simple>>prio&1 != 0 {
		if l.keep < 0 && f.Flag&Lossless != 0 {
			return false
		}
	} else if !s.fitsLossy(from, 0, f) || !s.pool.Fits(int(f.Len)) { // nothing waits
		return false
	}
	if !from.in.Pass(prio, int(f.Len)) {
		return false
	}
	from.in.Count(prio, int(f.Len))
	l.passed = max(l.passed, units.Size(f.Len))
	l.enqueued++
	l.txFrames++
	l.txBytes += uint64(f.Len)
	p.sent += units.Size(int(f.Len) + int(p.overhead))
	return true
}

// Give is Transmit of one frame, and Next. It does nothing and reports false if
// there is more to it.
func (s *Switch) Give(now units.Time, port int, f *Frame) (next units.Time, ok bool) {
	p := &s.ports[port]
	ready := p.waiting &^ p.halted &^ s.weighted
	if ready == 0 || p.notifies|p.outs != 0 || now >= p.attend || !p.alone || !p.in.Quiet() || s.general {
		return 0, false
	}
	prio := 7 - bits.LeadingZeros8(ready)
	if p.quick>>prio&1 == 0 {
		return 0, false
	}
	s.dequeueSingle(now, p, prio, f)
	switch {
	case p.waiting&^p.halted != 0:
		return now, true
	case p.waiting != 0 || p.attend == units.Never:
		return p.attend, true
	}
	return p.dog.Next(), true
}
