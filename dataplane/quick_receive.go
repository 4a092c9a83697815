package dataplane

import (
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// This file and quick_transmit.go are the way of the most common frames, a burst
// at a time: plain IPv4 from a known address to a known address behind a port of
// the same worker, with room in the buffer. Whatever is not so simple goes the
// general way, one frame at a time, in its turn, as if there were no other; the
// two ways do the same (TestQuickIsAsGeneral).

// quickBurst is how many frames go through a stage together.
const quickBurst = 32

// head is what the first stage found in a frame. Without a class it is no plain
// IPv4 packet.
type head struct {
	dst, src wire.MAC
	hash     uint32
	class    class
}

// class is what the TOS of a plain packet says: its priority and flags.
type class struct {
	prio  uint8
	flag  Flag
	plain bool
}

// setClasses works out the class of each TOS.
func (s *Switch) setClasses() {
	for tos := range s.classes {
		h := wire.Header{EtherType: wire.TypeIPv4, L3: wire.EthernetLen, TOS: uint8(tos)}
		var f Frame
		s.classify(&f, &h, nil)
		s.classes[tos] = class{prio: f.Prio, flag: f.Flag, plain: true}
	}
}

// readHeads is the first stage: it reads the headers of a burst.
func (s *Switch) readHeads(pool *Pool, burst []Frame, heads []head) {
	heads = heads[:len(burst)]
	for i := range burst {
		f, h := &burst[i], &heads[i]
		h.class = class{}
		from := int(f.Off)
		if f.Len < wire.QuickLen || from+wire.QuickLen > int(pool.slot) {
			continue
		}
		from += pool.place(f.Ref)
		q, ok := wire.Quick((*[wire.QuickLen]byte)(pool.chunk(f.Ref)[from:]))
		if !ok {
			continue
		}
		h.dst, h.src, h.hash, h.class = q.Dst, q.Src, q.Hash, s.classes[q.TOS]
		if q.CNP {
			h.class.flag &^= Markable
		}
	}
}

// admission is frames of one priority that were received and admitted, and not
// counted yet.
type admission struct {
	prio   uint8
	room   int64 // bytes that may still be admitted
	bytes  int64
	frames uint64
}

// count adds them to the port's accounts.
func (a *admission) count(p *switchPort) {
	if a.frames == 0 {
		return
	}
	p.in.AdmitAll(a.prio, a.bytes)
	p.stats.RxFrames[a.prio&7] += a.frames
	p.stats.RxBytes[a.prio&7] += uint64(a.bytes)
	p.admitted[a.prio&7] += a.frames
	a.frames, a.bytes = 0, 0
}

// receiveQuick takes up to quickBurst frames from a wire.
func (s *Switch) receiveQuick(now units.Time, p *switchPort, burst []Frame) {
	heads := p.worker.heads[:len(burst)]
	s.readHeads(p.env.Pool, burst, heads)
	second := seconds(now)
	a := admission{prio: pfc.Classes}
	for i := range burst {
		f, h := &burst[i], &heads[i]
		prio := h.class.prio & 7
		if prio != a.prio {
			a.count(p)
			a.prio, a.room = prio, p.in.Room(prio)
		}
		to := s.quickPort(p, h, second)
		if to == nil || int64(f.Len) > a.room || int(f.Len) > s.longest || !s.enqueueQuick(now, p, to, f, h) {
			a.count(p)
			s.receive(now, p, *f)
			a.room = p.in.Room(prio)
			continue
		}
		a.room -= int64(f.Len)
		a.bytes += int64(f.Len)
		a.frames++
	}
	a.count(p)
}

// quickPort is the port to which a frame goes, or nil if that is not so simple.
func (s *Switch) quickPort(p *switchPort, h *head, second uint32) *switchPort {
	if !h.class.plain || (h.dst | h.src).Multicast() {
		return nil
	}
	t := s.fdb
	if s.config.Learn {
		switch e, at := t.quick(h.src); e & 15 {
		case fdbLearned:
			if int(e>>4&(maxPorts-1)) != p.number || t.seen[at].Load() != second {
				return nil
			}
		case fdbStatic, fdbGroup:
		default:
			return nil
		}
	}
	e, at := t.quick(h.dst)
	switch e & 15 {
	case fdbLearned:
		if t.age != 0 && second-t.seen[at].Load() > t.age {
			return nil
		}
	case fdbStatic:
	default:
		return nil
	}
	out := int(e >> 4 & (maxPorts - 1))
	if out == p.number {
		return nil
	}
	to := &s.ports[out]
	if to.worker != p.worker {
		return nil
	}
	return to
}

// enqueueQuick appends a frame to its queue. It does nothing, and reports false, if
// the frame does not fit or more is to be done.
func (s *Switch) enqueueQuick(now units.Time, p, to *switchPort, f *Frame, h *head) bool {
	prio := h.class.prio & 7
	q := &to.queues[prio]
	if h.class.flag&Lossless == 0 {
		if q.bytes+units.Size(f.Len) > s.config.Tail || !s.lossy.take(int(f.Len)) {
			return false
		}
	} else if to.points[prio].sampler != nil {
		return false
	}
	to.wakeUp(now)
	if q.len() == len(q.ring) {
		q.grow()
	}
	// Field by field: what was just written in pieces is slow to copy as a whole.
	place := &q.ring[q.tail&uint32(len(q.ring)-1)]
	place.Ref, place.Hash, place.Len, place.Off = f.Ref, h.hash, f.Len, f.Off
	place.In, place.Prio, place.L3, place.Flag = uint16(p.number), prio, wire.EthernetLen, h.class.flag
	q.tail++
	if q.bytes += units.Size(f.Len); q.bytes > q.peak {
		q.peak = q.bytes
	}
	to.buffered += units.Size(f.Len)
	to.enqueued[prio]++
	if to.waiting>>prio&1 == 0 {
		s.nowWaiting(now, to, prio)
	}
	return true
}
