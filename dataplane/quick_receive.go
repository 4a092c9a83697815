package dataplane

import (
	"math"
	"math/bits"

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
	class    class
	to       int32    // port to which it goes; noPort: it goes the general way
	hop      wire.MAC // to which it is routed; 0: it is not
}

// class is what the TOS of a plain packet says: priority, flags, and that it is
// plain. Zero is any other frame.
type class uint32

const plain class = 1 << 16

func (c class) prio() uint8 { return uint8(c) & 7 }
func (c class) flag() Flag  { return Flag(c >> 8) }

// setClasses works out the class of each TOS.
func (s *Switch) setClasses() {
	for tos := range s.classes {
		h := wire.Header{EtherType: wire.TypeIPv4, L3: wire.EthernetLen, TOS: uint8(tos)}
		var f Frame
		s.classify(&f, &h, nil)
		s.classes[tos] = class(f.Prio) | class(f.Flag)<<8 | plain
	}
}

// readHeads is the first stage: it reads the headers of a burst, and writes what
// is known by that into its frames.
func (s *Switch) readHeads(p *switchPort, burst []Frame, heads []head) {
	var starts [quickBurst]*wire.Quick
	p.env.starts(burst, &starts)
	classes, longest, number := &s.classes, s.bare, uint16(p.number)
	heads = heads[:len(burst)]
	for i := range heads {
		f, h, b := &burst[i], &heads[i], starts[i&(quickBurst-1)]
		h.class, h.to, h.hop = 0, noPort, 0
		if b == nil || !b.Plain() || int(f.Len) > longest {
			continue
		}
		c := classes[b.TOS()]
		if b.CNP() {
			c &^= class(Markable) << 8
		}
		h.dst, h.src, h.class = b.Dst(), b.Src(), c
		f.Hash, f.In, f.Prio, f.L3, f.Flag = b.Hash(), number, c.prio(), wire.EthernetLen, c.flag()
	}
}

// findPorts is the second stage: it looks up where the plain frames of a burst go,
// or leaves noPort if that is not so simple. A loop of its own lets the processor
// wait for many cache lines at once.
func (s *Switch) findPorts(p *switchPort, burst []Frame, heads []head, second uint32) {
	if p.lan == nil {
		return // frames without tag have no VLAN here
	}
	fdb := p.lan.fdb
	learn, direct, number, age := s.config.Learn, s.direct, uint64(p.number), fdb.age
	if age == 0 {
		age = math.MaxUint32
	}
	entries := fdb.entries
	mask := len(entries) - 1
	for i := range heads {
		h := &heads[i]
		if h.class == 0 || (h.dst | h.src).Multicast() {
			continue
		}
		if learn { // is the source known here, and was that noted in this second?
			at := &entries[spread(h.src)&mask]
			e := at.Load()
			if e>>16 != uint64(h.src) && e != 0 {
				e, at = fdb.further(h.src)
			}
			if e>>16 != uint64(h.src) || e&15 == fdbLearned && (e>>4&(maxPorts-1) != number || at.seen.Load() != second) {
				continue
			}
		}
		at := &entries[spread(h.dst)&mask]
		e := at.Load()
		if e>>16 != uint64(h.dst) && e != 0 {
			e, at = fdb.further(h.dst)
		}
		out := e >> 4 & (maxPorts - 1)
		if e>>16 != uint64(h.dst) || e&15 >= fdbGroup || e&15 == fdbLearned && second-at.seen.Load() > age || out == number {
			if e>>16 == uint64(h.dst) && e&15 == fdbRouter {
				s.routeQuick(p, &burst[i], h)
			}
			continue
		}
		// What came without a tag leaves without where it is of the same LAN.
		if direct || s.ports[out].worker == p.worker && s.ports[out].lan == p.lan {
			h.to = int32(out)
		}
	}
}

// admission is frames of one priority that were received and admitted, and not
// counted yet.
type admission struct {
	room   int64 // bytes that may still be admitted
	bytes  int64
	frames uint64
}

// countAll adds them to the port's accounts; prios are those there are.
func (p *switchPort) countAll(all *[pfc.Classes]admission, prios uint8) {
	for ; prios != 0; prios &= prios - 1 {
		prio := bits.TrailingZeros8(prios)
		a := &all[prio]
		if a.frames == 0 {
			continue
		}
		p.in.AdmitAll(uint8(prio), a.bytes)
		p.stats.RxFrames[prio] += a.frames
		p.stats.RxBytes[prio] += uint64(a.bytes)
		p.admitted[prio] += a.frames
		a.frames, a.bytes = 0, 0
	}
}

// receiveQuick takes up to quickBurst frames from a wire.
func (s *Switch) receiveQuick(now units.Time, p *switchPort, burst []Frame) {
	heads := p.worker.heads[:len(burst)]
	second := seconds(now)
	s.readHeads(p, burst, heads)
	s.findPorts(p, burst, heads, second)
	var all [pfc.Classes]admission
	known := uint8(0) // priorities whose room is known
	general := false  // a frame went the general way, and may have been learned from
	for i := range heads {
		f, h := &burst[i], &heads[i]
		prio := h.class.prio()
		a := &all[prio]
		if known>>prio&1 == 0 {
			known |= 1 << prio
			a.room = p.in.Room(prio)
		}
		if general && h.class != 0 {
			h.to, h.hop = noPort, 0
			s.findPorts(p, burst[i:i+1], heads[i:i+1], second)
		}
		length := int64(f.Len)
		queued := false
		if h.to != noPort && length <= a.room {
			to := &s.ports[h.to]
			q := &to.queues[prio]
			n := uint32(len(q.ring))
			if to.waiting&to.simple>>prio&1 != 0 && now < to.eg.Next() && now < to.dog.Next() && q.tail-q.head < n {
				q.ring[q.tail&(n-1)] = *f // what enqueueQuick comes to in most cases
				q.tail++
				q.bytes += units.Size(length)
				to.enqueued[prio]++
				queued = true
			} else {
				queued = s.enqueueQuick(now, to, f)
			}
		}
		if !queued {
			p.countAll(&all, known)
			s.receive(now, p, *f)
			known, general = 0, true
			continue
		}
		if h.hop != 0 {
			p.env.Quick(f).Route(h.hop, s.routes.mac)
			p.stats.Routed++
		}
		a.room -= length
		a.bytes += length
		a.frames++
	}
	p.countAll(&all, known)
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
	q.push(*f)
	to.enqueued[prio]++
	if to.waiting>>prio&1 == 0 {
		s.nowWaiting(now, to, prio)
	}
	return true
}
