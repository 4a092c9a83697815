package dataplane

import (
	"math/bits"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// The fourth stage: is there room in the buffer? Lossless frames are charged to the port through which
// they came (pfc.Ingress), lossy ones to the pool that all share. The check is made once per burst and
// priority: if all of its frames fit, even if all of them were queued, a frame is only charged when it is
// queued. If they might not fit, each frame is admitted by itself.

// admit finds the priorities of the vector whose frames all fit, and counts its frames as received.
func (s *Switch) admit(p *switchPort, v *vector) {
	v.admitted, v.present, v.pools, v.lossy, v.pooled = 0, 0, 0, 0, 0
	var most [pfc.Classes]int64 // most bytes that the frames of a priority may take
	pooled := int64(0)          // of the pool, by all that may take of it
	lossy := int64(0)           // by lossy frames
	tags := uint64(0)           // by which a frame may grow before it is charged
	if v.special() {
		tags = wire.VLANLen
	}
	for prio := range uint8(pfc.Classes) {
		t := v.sums[prio]
		if t == 0 {
			continue
		}
		v.sums[prio] = 0
		v.present |= 1 << prio
		p.ingress.Count(prio, t.frames(), t.bytes())
		p.ingress.Note(prio, int64(v.longest)) // as if only the longest frame were charged
		most[prio] = int64(t.bytes() + t.frames()*(s.slack+tags))
		if p.lossless>>prio&1 == 0 || p.ingress.Moves(prio) {
			pooled += most[prio]
		}
	}
	for rest := v.present; rest != 0; rest &= rest - 1 {
		prio := uint8(bits.TrailingZeros8(rest)) & 7
		if p.lossless>>prio&1 != 0 {
			if p.ingress.Room(prio, pooled-most[prio]) >= most[prio] {
				v.admitted |= 1 << prio
				if p.ingress.Pools(prio, most[prio]) {
					v.pools |= 1 << prio
				}
			}
		} else if free := s.pool.Free() - pooled; free >= 0 {
			v.lossy |= 1 << prio
			v.pooled += most[prio]
			if v.tail = s.tailOf(free); v.tail >= units.Size(most[prio]) {
				v.admitted |= 1 << prio
				lossy += most[prio]
			}
		}
	}
	if lossy != 0 && s.limitedFrom == 0 && p.crowds(lossy, s.pool.Free()-pooled) {
		v.admitted &= p.lossless
	}
	if v.present&(v.present-1) != 0 && p.ingress.Whole() { // each priority was checked as if it had the one account for itself
		v.admitted, v.lossy = 0, 0
	}
}

// admitSingly charges the frames of the vector that are queued already, and withdraws the admission of the others: a frame
// that was not part of the calculation is about to take buffer. The others are then admitted frame by frame.
func (v *vector) admitSingly() {
	v.chargeAll()
	v.admitted, v.bypass, v.fast, v.lossy = 0, 0, 0, 0
}

// chargeAll charges the frames that were queued and not charged yet.
func (v *vector) chargeAll() {
	for rest := v.fast; rest != 0; rest &= rest - 1 {
		prio := bits.TrailingZeros8(rest) & 7
		v.port.ingress.ChargeAll(uint8(prio), v.charges[prio])
		v.charges[prio] = 0
	}
	v.chargeLossy()
}

// chargeLossy charges the lossy frames that were queued and not charged yet, to the port and to the pool.
func (v *vector) chargeLossy() {
	if v.lossy == 0 {
		return
	}
	sum := int64(0)
	for rest := v.lossy; rest != 0; rest &= rest - 1 {
		prio := bits.TrailingZeros8(rest) & 7
		sum += v.charges[prio]
		v.port.ingress.ChargeAll(uint8(prio), v.charges[prio])
		v.charges[prio] = 0
	}
	if pool := v.port.sw.pool; v.held == 0 {
		pool.Add(sum)
	} else {
		pool.Settle(v.held, sum)
		v.held = 0
	}
}

// hold sets aside what the vector's lossy frames may take of the pool, if other workers take of it, too. It reports false
// if there is not so much: then each is charged by itself.
func (s *Switch) hold(v *vector) bool {
	if v.port.worker.outboxes == nil || v.held != 0 {
		return true
	}
	if !s.pool.Hold(v.pooled) {
		v.lossy = 0
		return false
	}
	v.held = v.pooled
	return true
}

// fits reports whether there is room for one frame, as it will be charged.
func (s *Switch) fits(p *switchPort, prio uint8, length uint16) bool {
	most := int64(length) + int64(s.slack)
	if p.lossless>>prio&1 != 0 {
		return p.ingress.Fits(prio, most)
	}
	free := s.pool.Free() - most
	return free >= 0 && s.tailOf(free) >= units.Size(length) && (s.limitedFrom != 0 || !p.crowds(most, free))
}

// noteAdmitted ends what admit began, when all frames are charged.
func (s *Switch) noteAdmitted(p *switchPort, v *vector) {
	for rest := v.present; rest != 0; rest &= rest - 1 {
		p.ingress.Note(uint8(bits.TrailingZeros8(rest)), 0)
	}
}

// charge charges a frame that is to be queued at a port (nil: which port is not known yet), or discards it. admitted says
// that there is room.
func (s *Switch) charge(now units.Time, p, to *switchPort, f *fabric.Frame, admitted bool) bool {
	prio, cost := f.Prio&7, s.cost(f.Len)
	switch {
	case f.Flag&fabric.Lossless != 0:
		if admitted && p.ingress.Charge(prio, cost) {
			return true
		}
		fits := p.ingress.Admit(prio, cost)
		if p.gate(); !fits { // an XOFF may be due
			s.discard(now, p, f, fabric.DropHeadroom)
			return false
		}
	case f.In >= s.limitedFrom:
		return s.chargeLimited(now, p, to, f)
	case !s.pool.Take(cost):
		s.discard(now, p, f, fabric.DropBuffer)
		return false
	default:
		p.ingress.Charge(prio, cost)
	}
	return true
}

// cost is what a frame takes of the buffer.
func (s *Switch) cost(length uint16) int64 {
	if s.slack == 0 {
		return int64(length)
	}
	return int64((uint64(length)+s.slack)*s.perCell>>32) * int64(s.cell)
}

// setCell makes cost one of whole cells, of a frame and so many bytes more.
func (s *Switch) setCell(cell, extra units.Size) {
	s.cell = uint16(max(cell, 1))
	s.slack = uint64(s.cell) - 1 + uint64(extra)
	s.perCell = 1<<32/uint64(s.cell) + 1
}

// tailOf is the least limit of an egress queue of a lossy priority when so much is free of the pool. A limit that
// follows the free part allows few congested queues to be long, and many not to fill the buffer (Choudhury and
// Hahne, Trans. Networking 1998, equation 1).
func (s *Switch) tailOf(free int64) units.Size { return tailOf(s.config.Tail, s.share, free) }

func tailOf(tail units.Size, share float64, free int64) units.Size {
	if share == 0 {
		return tail
	}
	return min(tail, units.Size(share*float64(max(0, free))))
}

// releaseAll takes frames of one priority, all lossless or none, that leave by a port out of the buffer's accounts.
func (s *Switch) releaseAll(now units.Time, p *switchPort, burst []fabric.Frame) {
	i, w := 0, p.worker
	w.notePooled(s.pool)
	lossy := burst[0].Flag&fabric.Lossless == 0
	if s.pausing == 0 && !s.credited && !(lossy && s.limitedFrom == 0) {
		pooled := int64(0)
		for prio := burst[0].Prio; i < len(burst) && burst[i].In != ownFrame; i++ {
			f := &burst[i]
			cost := s.cost(f.Len)
			if int(s.owner[f.In]) != w.number {
				w.deferRelease(int(f.In), prio, cost)
			} else if !s.ports[f.In].ingress.ReleaseFast(prio, cost) {
				break
			}
			pooled += cost
		}
		if lossy {
			s.pool.Add(-pooled)
		}
	}
	for ; i < len(burst); i++ {
		s.release(now, w, p, &burst[i])
	}
}

// release takes a frame that leaves the buffer, by a port, out of its accounts; to is nil if its egress port was never determined.
// w is the worker that does so.
func (s *Switch) release(now units.Time, w *switchWorker, to *switchPort, f *fabric.Frame) {
	cost, prio := s.cost(f.Len), f.Prio&7
	if f.Flag&fabric.Lossless == 0 {
		if f.In < s.limitedFrom {
			s.pool.Add(-cost)
		} else if s.releaseLimited(now, to, f, cost) {
			return
		}
	}
	if int(s.owner[f.In]) != w.number {
		w.deferRelease(int(f.In), prio, cost)
	} else {
		s.giveBack(now, &s.ports[f.In], prio, cost)
	}
}

// giveBack takes frames that have left the buffer out of the accounts of their ingress port. The
// port's worker calls it.
func (s *Switch) giveBack(now units.Time, from *switchPort, prio uint8, cost int64) {
	if from.ingress.Release(prio, cost) || from.credits != nil && from.freed(now, prio) {
		from.env.Wake(from.number, now)
	}
	if s.pausing != 0 && s.pool.Awaited() {
		s.wakePausing(now)
	}
}

// wakePausing wakes ports whose XON is due because the pool has more free. With several workers
// a port finds out at its next poll.
func (s *Switch) wakePausing(now units.Time) {
	for i := range s.ports {
		p := &s.ports[i]
		if p.ingress.PeerStopped() == 0 {
			continue
		}
		if p.ingress.Next(now) <= now {
			p.env.Wake(i, now)
		}
		p.ingress.Await()
	}
}

// setMoving notes whether a release at one port may let another send an XON, and how many wait for
// that.
func (s *Switch) setMoving() {
	s.moving, s.pausing = false, 0
	s.pool.Await(0)
	if len(s.workers) > 1 {
		return
	}
	for i := range s.ports {
		for prio := range pfc.Classes {
			s.moving = s.moving || s.config.Accounts(i)>>prio&1 != 0 && s.config.thresholds(i, prio).Alpha > 0
		}
		if s.ports[i].ingress.PeerStopped() != 0 {
			s.pausing++
		}
	}
	if !s.moving {
		s.pausing = 0
	}
}
