package dataplane

import (
	"photon/pfc"
	"photon/units"
)

// This file appends lossless frames of a burst to their queues, where that is all there
// is to do.

// queueAll appends frames of a burst to their queues from the i-th on, up to one of which
// more is to be done, and returns which that is. bytes is at least what these frames have
// together.
func (s *Switch) queueAll(now units.Time, p *switchPort, burst []Frame, i int, bytes int64) int {
	w := p.worker
	fits := p.in.Fits(bytes) // whichever priorities they have
	for i < len(burst) && s.holds(w.to[i], &w.all) {
		n, sum := alike(burst[i:], w.to[i:])
		if n < len(burst)-i && fits {
			if end := s.queueEach(now, w, burst, i); end > i {
				i = end
				continue
			}
		}
		if !s.queueRun(now, p, burst[i:i+n], uint(w.to[i])&(viaHop-1), sum) {
			break
		}
		i += n
	}
	return i
}

// alike is how many frames at the beginning of a burst go to the same queue, and their bytes.
func alike(burst []Frame, to []int32) (n int, bytes int64) {
	to = to[:len(burst)]
	for n < len(burst) && to[n] == to[0] {
		bytes += int64(burst[n].Len)
		n++
	}
	return n, bytes
}

// queueRun appends frames that go to one queue and have so many bytes together, all of
// them and nothing more; else it does nothing and reports false.
func (s *Switch) queueRun(now units.Time, p *switchPort, run []Frame, queue uint, bytes int64) bool {
	prio := uint8(queue & (pfc.Classes - 1))
	to := &s.ports[queue>>3]
	q := &to.queues[prio]
	all := &p.worker.all
	if to.simple&^to.shut>>prio&1 == 0 || now >= to.attend || len(q.ring)-q.len() < len(run) || !all.fits(p, prio, bytes) {
		return false
	}
	at := int(q.tail) & (len(q.ring) - 1)
	n := copyFrames(q.ring[at:], run)
	copyFrames(q.ring, run[n:])
	q.tail += uint32(len(run))
	q.bytes += units.Size(bytes)
	q.enqueued += uint64(len(run))
	all.of8[prio] += tallyOf(len(run), bytes)
	if to.waiting>>prio&1 == 0 {
		s.nowWaiting(now, to, prio)
	}
	return true
}

// copyFrames copies frames as they were written (see Frame.copy), and returns how many.
func copyFrames(to, from []Frame) int {
	from = from[:min(len(to), len(from))]
	to = to[:len(from)]
	for i := range from {
		to[i].copy(&from[i])
	}
	return len(from)
}

// queueEach does so one by one, as long as the queues are open; for each there is room. It
// looks at a queue anew for each frame: what would be found out once for each queue of the
// burst takes longer, unless they are very few.
func (s *Switch) queueEach(now units.Time, w *switchWorker, burst []Frame, i int) int {
	end, began := w.appendEach(s.ports, burst, uint(i))
	for _, queue := range w.began[:began] {
		to := &s.ports[queue>>3] // nothing of it is paused, since it is open
		if to.waiting == 0 {     // else it is due already
			to.env.Wake(to.number, now)
		}
		to.waiting |= 1 << (queue & (pfc.Classes - 1))
	}
	return int(end)
}

// appendEach is queueEach, and returns how many queues in began were empty before, too.
func (w *switchWorker) appendEach(ports []switchPort, burst []Frame, i uint) (end, began uint) {
	end = uint(min(len(burst), quickBurst))
	if i >= end {
		return i, 0
	}
	if i, began = appendAhead(w, ports, &burst[0], i, end); i == end {
		return i, began
	}
	return w.appendRest(ports, burst[:end], i, began)
}

// appendRest is appendEach without appendAhead, when some queues have begun. It calls nothing and
// needs little, so that most of that stays in registers.
func (w *switchWorker) appendRest(ports []switchPort, burst []Frame, i, before uint) (end, began uint) {
	for began = before; i < uint(len(burst)); i++ {
		queue := uint(uint32(w.to[i&(quickBurst-1)]) &^ viaHop) // what is no queue's is too large
		port, prio := queue>>3, queue&(pfc.Classes-1)
		if port >= uint(len(ports)) || uint32(ports[port].open)>>prio&1 == 0 {
			break
		}
		q := &ports[port].queues[prio]
		n := uint(q.tail - q.head)
		if n >= uint(len(q.ring)) {
			break
		}
		w.began[began&(quickBurst-1)] = uint16(queue)
		if n == 0 {
			began++
		}
		f := &burst[i]
		length := units.Size(f.Len)
		q.ring[uint(q.tail)&uint(len(q.ring)-1)].copy(f)
		q.tail++
		q.enqueued++
		q.bytes += length
		w.all.of8[prio] += tally(length) | 1<<32
	}
	return i, began
}
