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

// head is what the first stages found out about a frame.
type head struct {
	dst, src wire.MAC
	hash     uint32
	class    class
	to       int32 // port to which it goes; noPort: it goes the general way
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
		h.class, h.to = class{}, noPort
		from := int(f.Off)
		if f.Len < wire.QuickLen || from+wire.QuickLen > int(pool.slot) {
			continue
		}
		from += pool.place(f.Ref)
		dst, src, hash, tos, cnp, ok := wire.Quick((*[wire.QuickLen]byte)(pool.chunk(f.Ref)[from:]))
		if !ok || int(f.Len) > s.longest {
			continue
		}
		h.dst, h.src, h.hash = dst, src, hash
		c := s.classes[tos]
		if cnp {
			c.flag &^= Markable
		}
		h.class = c
	}
}

// findPorts is the second stage: it looks up where a burst goes. Loops of their own
// for that let the processor wait for many cache lines at once.
func (s *Switch) findPorts(p *switchPort, heads []head, second uint32) {
	for i := range heads {
		if h := &heads[i]; h.class.plain {
			h.to = s.quickPort(p, h, second)
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
	s.findPorts(p, heads, second)
	a := admission{prio: pfc.Classes}
	general := false // a frame went the general way, and may have been learned from
	for i := range burst {
		f, h := &burst[i], &heads[i]
		prio := h.class.prio & 7
		if prio != a.prio {
			a.count(p)
			a.prio, a.room = prio, p.in.Room(prio)
		}
		if general && h.class.plain {
			h.to = s.quickPort(p, h, second)
		}
		if h.to == noPort || int64(f.Len) > a.room || !s.enqueueQuick(now, p, &s.ports[h.to], f, h) {
			a.count(p)
			s.receive(now, p, *f)
			a.room = p.in.Room(prio)
			general = true
			continue
		}
		a.room -= int64(f.Len)
		a.bytes += int64(f.Len)
		a.frames++
	}
	a.count(p)
}

// quickPort is the port to which a plain frame goes, or noPort if that is not so simple.
func (s *Switch) quickPort(p *switchPort, h *head, second uint32) int32 {
	if (h.dst | h.src).Multicast() {
		return noPort
	}
	t := s.fdb
	if s.config.Learn {
		switch e, at := t.quick(h.src); e & 15 {
		case fdbLearned:
			if int(e>>4&(maxPorts-1)) != p.number || at.seen.Load() != second {
				return noPort
			}
		case fdbStatic, fdbGroup:
		default:
			return noPort
		}
	}
	e, at := t.quick(h.dst)
	switch e & 15 {
	case fdbLearned:
		if t.age != 0 && second-at.seen.Load() > t.age {
			return noPort
		}
	case fdbStatic:
	default:
		return noPort
	}
	out := int(e >> 4 & (maxPorts - 1))
	if out == p.number || s.ports[out].worker != p.worker {
		return noPort
	}
	return int32(out)
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
