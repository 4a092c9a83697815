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

// What the first stages know of a frame in place of its queue.
const (
	unfound   = -3 // plain, and where it goes is to be found out
	notSimple = -4 // plain, and more is to be done than to queue it
)

// viaHop is added to a queue if the frame is routed.
const viaHop = maxPorts << 3

// setClasses works out what is read from a plain packet with each TOS.
func (s *Switch) setClasses() {
	for tos := range s.classes {
		h := wire.Header{EtherType: wire.TypeIPv4, L3: wire.EthernetLen, TOS: uint8(tos)}
		var f Frame
		s.classify(&f, &h, nil)
		s.classes[tos] = newRead(0, f.Prio, f.Flag)
	}
}

func (r read) prio() uint8 { return uint8(r>>48) & (pfc.Classes - 1) }

// notMarkable is for a CNP: it is not marked.
const notMarkable = ^(read(Markable) << 56)

// queueOf is a queue of a port by one number.
func queueOf(port uint32, prio uint8) int32 { return int32(port<<3 | uint32(prio)) }

// findPorts is the second stage: it looks up where the other plain frames of a
// burst go, and whether their sources are known. A loop of its own lets the
// processor wait for many cache lines at once.
func (s *Switch) findPorts(p *switchPort, burst []Frame, second uint32) {
	pairs, to, back := &p.worker.pairs, p.worker.to[:len(burst)], int32(p.number)
	for i, queue := range to {
		if queue != unfound && queue>>3 != back {
			continue
		}
		to[i] = notSimple
		out := toRouter
		if queue == unfound {
			b := p.env.Quick(&burst[i])
			if out = s.findPort(p, b, second); out >= 0 {
				to[i] = queueOf(uint32(out), burst[i].Prio)
				pairs.remember(b, p.number, out)
			} else if out == toRouter {
				pairs.remember(b, p.number, p.number)
			}
		}
		if out == toRouter {
			to[i] = s.routeQuick(p, &burst[i], &p.worker.hops[i&(quickBurst-1)])
		}
	}
}

// findPort looks up where a plain frame goes: a port, toRouter, or noPort if that
// is not so simple.
func (s *Switch) findPort(p *switchPort, b *wire.Quick, second uint32) int {
	dst, src := b.Dst(), b.Src()
	if p.lan == nil || dst == 0 || src == 0 || (dst | src).Multicast() { // no VLAN for frames without tag; zero is an empty place of the table
		return noPort
	}
	fdb, number := p.lan.fdb, uint64(p.number)
	if s.config.Learn { // is the source known here, and was that noted in this second?
		e, at := fdb.entry(src)
		if e>>16 != uint64(src) || e&15 == fdbLearned && (e>>4&(maxPorts-1) != number || at.seen.Load() != second) {
			return noPort
		}
	}
	e, at := fdb.entry(dst)
	out := e >> 4 & (maxPorts - 1)
	switch {
	case e>>16 != uint64(dst):
		return noPort
	case e&15 == fdbRouter:
		return toRouter
	case e&15 >= fdbGroup || e&15 == fdbLearned && fdb.age != 0 && second-at.seen.Load() > fdb.age || out == number:
		return noPort
	}
	// What came without a tag leaves without where it is of the same LAN.
	if s.direct || s.ports[out].worker == p.worker && s.ports[out].lan == p.lan {
		return int(out)
	}
	return noPort
}

// admissions are the frames of a burst that were admitted, and not counted yet.
type admissions struct {
	of8     [pfc.Classes]tally
	room    [pfc.Classes]int64 // bytes that may be admitted, these included
	known   uint8              // priorities whose room is known
	general bool               // a frame went the general way, and may have been learned from
	changes uint32             // of the tables by which the burst's queues were found
}

// tally is a number of frames and, in its lower half, of their bytes: those of a burst
// are counted by one addition.
type tally uint64

func tallyOf(frames int, bytes int64) tally { return tally(frames)<<32 | tally(bytes) }

func (t tally) frames() uint64 { return uint64(t >> 32) }
func (t tally) bytes() int64   { return int64(uint32(t)) }

// fits reports whether there is room for so many bytes more of a priority.
func (a *admissions) fits(p *switchPort, prio uint8, bytes int64) bool {
	if a.known>>(prio&7)&1 == 0 {
		a.known |= 1 << (prio & 7)
		a.room[prio&7] = p.in.Room(prio)
	}
	return a.of8[prio&7].bytes()+bytes <= a.room[prio&7]
}

// countAll adds them to the port's accounts; then no room is known any more.
func (p *switchPort) countAll(all *admissions) {
	for prio, t := range &all.of8 {
		if t == 0 {
			continue
		}
		if !p.in.AdmitEasily(uint8(prio), t.bytes()) {
			p.in.AdmitAll(uint8(prio), t.bytes())
		}
		p.in.CountAll(uint8(prio), t.frames(), uint64(t.bytes()))
		all.of8[prio] = 0
	}
	all.known = 0
}

// receiveQuick takes up to quickBurst frames from a wire.
func (s *Switch) receiveQuick(now units.Time, p *switchPort, burst []Frame) {
	w := p.worker
	to := w.to[:len(burst)]
	second := seconds(now)
	w.pairs.renew(second, s.changes.Load())
	bytes, left := s.readHeads(p, burst)
	if left {
		s.findPorts(p, burst, second)
	}
	all := &w.all
	all.general, all.changes = false, w.pairs.changes
	burst = burst[:len(to)]
	for i := 0; ; {
		if i = s.queueAll(now, p, burst, i, bytes); i == len(burst) {
			break
		}
		n := i + 1
		for n < len(burst) && !s.simple(to[n]) {
			n++
		}
		s.receiveEach(now, p, all, burst, i, n)
		i = n
	}
	if s.routes != nil {
		s.routeAll(p, burst, to)
	}
	p.countAll(all)
}

// simple reports whether to is a queue to which frames are appended, and that is all.
func (s *Switch) simple(to int32) bool {
	if to < 0 {
		return false
	}
	p := &s.ports[to&(viaHop-1)>>3]
	return p.simple&^p.shut>>(to&(pfc.Classes-1))&1 != 0
}

// holds reports whether a queue is one, and still that to which a frame goes.
func (s *Switch) holds(to int32, all *admissions) bool {
	return to >= 0 && (!all.general || s.changes.Load() == all.changes)
}

// routeAll writes what a router changes into those frames of a burst that were queued
// together.
func (s *Switch) routeAll(p *switchPort, burst []Frame, to []int32) {
	hops := &p.worker.hops
	for i, queue := range to[:len(burst)] {
		if queue >= viaHop {
			p.env.Quick(&burst[i]).Route(hops[i&(quickBurst-1)], s.routes.mac)
			p.stats.Routed++
		}
	}
}

// receiveEach takes frames of a burst, those from the i-th on and before another,
// one after the other.
func (s *Switch) receiveEach(now units.Time, p *switchPort, all *admissions, burst []Frame, i, end int) {
	w := p.worker
	for ; i < end; i++ {
		f := &burst[i]
		if all.general && w.to[i] != noPort && !s.holds(w.to[i], all) {
			s.findAgain(now, p, burst, i)
		}
		if w.to[i] >= 0 {
			prio := f.Prio & 7
			if all.fits(p, prio, int64(f.Len)) && s.enqueueQuick(now, &s.ports[w.to[i]>>3&(maxPorts-1)], f) {
				all.of8[prio] += tallyOf(1, int64(f.Len))
				continue
			}
		}
		w.to[i] = noPort // the general way does all
		p.countAll(all)
		s.receive(now, p, *f)
		all.general = true
	}
}

// findAgain finds out anew where a frame goes: the switch may have learned from
// one before it in its burst, which went the general way.
func (s *Switch) findAgain(now units.Time, p *switchPort, burst []Frame, i int) {
	w, second := p.worker, seconds(now)
	w.pairs.renew(second, s.changes.Load())
	first, hop := w.to[0], w.hops[0] // which may be written into a frame yet
	if _, left := s.readHeads(p, burst[i:i+1]); left {
		s.findPorts(p, burst[i:i+1], second)
	}
	again, next := w.to[0], w.hops[0]
	w.to[0], w.hops[0] = first, hop
	w.to[i], w.hops[i] = again, next
}

// enqueueQuick appends a frame to its queue. It does nothing, and reports false, if
// the frame does not fit or more is to be done.
func (s *Switch) enqueueQuick(now units.Time, to *switchPort, f *Frame) bool {
	prio := f.Prio & 7
	q := &to.queues[prio]
	if to.shut>>prio&1 != 0 || now >= to.dog.Next() { // the watchdog may flush queues
		return false
	}
	if f.Flag&Lossless == 0 {
		if q.bytes+units.Size(f.Len) > s.tail(int(f.Len)) || !s.pool.Take(int(f.Len)) {
			return false
		}
	} else if to.sampled>>prio&1 != 0 {
		return false
	}
	to.wakeUp(now)
	q.push(f)
	q.enqueued++
	if to.waiting>>prio&1 == 0 {
		s.nowWaiting(now, to, prio)
	}
	return true
}
