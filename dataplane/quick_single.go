package dataplane

import (
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// This file is the quick way of a frame that comes, or goes, by itself: as the
// simulator has them, and a switch with little to do. There is nothing to be
// shared among the frames of a burst then, and what counts is how few lines of
// the cache are touched: the counts of a priority lie together and are added to
// the port's when somebody asks. Moving thresholds and groups of ports are no
// hindrance, since each frame is admitted, and released, by itself.

// lane is what was counted of single frames of a priority at a port, and not
// added to its statistics yet. It fills a line of the cache.
type lane struct {
	rxFrames, rxBytes   uint64 // of frames that were admitted
	txFrames, txBytes   uint64
	marked, markedBytes uint64
	enqueued            uint64
	_                   uint64
}

// settle adds up what was counted of single frames.
func (p *switchPort) settle() {
	for prio := range pfc.Classes {
		l := &p.lanes[prio]
		p.stats.RxFrames[prio] += l.rxFrames
		p.stats.RxBytes[prio] += l.rxBytes
		p.admitted[prio] += l.rxFrames
		p.stats.TxFrames[prio] += l.txFrames
		p.stats.TxBytes[prio] += l.txBytes
		p.stats.Marked[prio] += l.marked
		p.stats.MarkedBytes[prio] += l.markedBytes
		p.enqueued[prio] += l.enqueued
		*l = lane{}
	}
}

// receiveSingle takes a plain frame from a wire. It does nothing that matters to
// the general way, and reports false, if that must take it.
func (s *Switch) receiveSingle(now units.Time, p *switchPort, f *Frame) bool {
	b := p.env.single(f)
	if b == nil || !b.Plain() || int(f.Len) > s.longest {
		return false
	}
	lan, dst, src := p.lan, b.Dst(), b.Src()
	if lan == nil || (dst | src).Multicast() || s.config.Learn && !lan.fdb.confirmed(src, p.number, now) {
		return false
	}
	hash := b.Hash()
	out := lan.fdb.lookup(dst, hash, now)
	if out < 0 || out == p.number { // unknown, or to be routed
		return false
	}
	to := &s.ports[out]
	if to.lan != lan { // it leaves with a tag, or not at all
		return false
	}
	c := s.classes[b.TOS()]
	prio := c.prio()
	if to.worker != p.worker || to.shut>>prio&1 != 0 || now >= to.dog.Next() || now >= to.eg.Next() {
		return false
	}
	flag := c.flag()
	if b.CNP() {
		flag &^= Markable
	}
	f.Hash, f.In, f.Prio, f.L3, f.Flag = hash, uint16(p.number), prio, wire.EthernetLen, flag
	if to.simple>>prio&1 == 0 {
		if int64(f.Len) > p.in.Room(prio) || !s.enqueueQuick(now, to, f) {
			return false
		}
		p.in.AdmitAll(prio, int64(f.Len))
	} else {
		if !p.in.Admit(prio, int(f.Len)) {
			return false
		}
		to.queues[prio&7].push(*f)
		to.lanes[prio&7].enqueued++
		if to.waiting>>prio&1 == 0 {
			s.nowWaiting(now, to, prio)
		}
	}
	l := &p.lanes[prio&7]
	l.rxFrames++
	l.rxBytes += uint64(f.Len)
	return true
}

// dequeueSingle takes the first frame of a queue whose congestion point can judge
// bursts, releases its buffer and lets the congestion point judge it.
func (s *Switch) dequeueSingle(now units.Time, p *switchPort, prio int, f *Frame) {
	q := &p.queues[prio&7]
	*f = q.pop()
	if q.len() == 0 {
		p.waiting &^= 1 << prio
	}
	s.release(now, *f)
	l := &p.lanes[prio&7]
	l.txFrames++
	l.txBytes += uint64(f.Len)
	p.sent += units.Size(p.config.Link.WireBytes(int(f.Len)))
	if cp := p.points[prio&7].burst; cp != nil && f.Flag&Lossless != 0 {
		// As of before it left.
		state := marking.Queue{Bytes: q.bytes + units.Size(f.Len), Frames: q.len() + 1}
		sizes, marks := p.worker.sizes[:1], p.worker.marks[:1]
		sizes[0] = f.Len
		if cp.DequeueBurst(now, state, sizes, marks); marks[0] == marking.Congestion && f.Flag&Markable != 0 {
			p.mark(f)
			l.marked++
			l.markedBytes += uint64(f.Len)
		}
	}
}
