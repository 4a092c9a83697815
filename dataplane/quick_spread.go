package dataplane

import (
	"math"

	"photon/pfc"
	"photon/units"
)

// This file appends the frames of a burst to the queues of several ports. Where they
// alternate there is hardly a run of two: so what is checked of a queue and counted
// is done once per burst and queue, and a frame only looks up where to be written.

// sheaf is what was appended of a burst to one queue, and not counted yet.
type sheaf struct {
	queue int32 // queueOf; noSheaf: nothing is
	tail  uint32
	ring  []Frame
	bytes int64
}

// noSheaf is nobody's queue, and nothing that stands in place of one.
const noSheaf = math.MinInt32

// sheaves are those of a burst.
type sheaves struct {
	all   [quickBurst]sheaf
	n     int
	apart int        // bursts for which not to try, since hardly two frames go to the same queue
	find  [256]uint8 // which may be a queue's
}

// soonAgain is how many bursts apart is then.
const soonAgain = 15

func (h *sheaves) init() {
	for i := range h.all {
		h.all[i].queue = noSheaf
	}
}

// of is the place in find of a queue: up to 32 ports have one for each of theirs.
func (h *sheaves) of(queue int32) *uint8 { return &h.find[uint8(queue^queue>>8)] }

// spread appends the frames of a burst from the i-th on to their queues, up to one
// of which more is to be done, and returns which that is. bytes is at least what these
// frames have together.
func (s *Switch) spread(now units.Time, p *switchPort, all *admissions, burst []Frame, to []int32, i int, bytes int64) int {
	if all.general && s.changes.Load() != all.changes { // of where they go
		return i
	}
	h := &p.worker.sheaves
	for i < len(burst) {
		i += h.take(burst[i:], to[i:])
		if i < len(burst) && !s.newSheaf(now, p, all, to[i], len(burst)-i, bytes) {
			break
		}
	}
	if h.n > quickBurst/3 {
		h.apart = soonAgain
	}
	s.bind(now, p, all)
	return i
}

// take appends frames to the queues of which there is a sheaf, and returns how many. It
// calls nothing, so that all it needs stays in registers.
func (h *sheaves) take(burst []Frame, to []int32) int {
	to = to[:len(burst)]
	for i := range burst {
		b := &h.all[*h.of(to[i])&(quickBurst-1)]
		if b.queue != to[i] {
			return i
		}
		b.ring[b.tail&uint32(len(b.ring)-1)].copy(&burst[i])
		b.tail++
		b.bytes += int64(burst[i].Len)
	}
	return len(burst)
}

// newSheaf begins to append to a queue, if up to n frames more, of so many bytes
// together, may be appended and nothing more is to be done; else it reports false.
func (s *Switch) newSheaf(now units.Time, p *switchPort, all *admissions, queue int32, n int, bytes int64) bool {
	h := &p.worker.sheaves
	if !s.simple(queue) {
		return false
	}
	at := h.of(queue)
	if other := h.all[*at&(quickBurst-1)].queue; other != noSheaf && h.of(other) == at { // it may have taken its place
		for i := range h.all[:h.n] {
			if h.all[i].queue == queue {
				*at = uint8(i)
				return true
			}
		}
	}
	prio := uint8(queue & (pfc.Classes - 1))
	to := &s.ports[queue>>3]
	q := &to.queues[prio]
	if now >= to.attend || len(q.ring)-q.len() < n {
		return false
	}
	if all.known>>prio&1 == 0 {
		all.know(p, prio)
	}
	if bytes > all.of8[prio].room {
		return false
	}
	*at = uint8(h.n)
	b := &h.all[h.n]
	h.n++
	b.queue, b.tail, b.ring, b.bytes = queue, q.tail, q.ring, 0
	return true
}

// bind counts what spread appended.
func (s *Switch) bind(now units.Time, p *switchPort, all *admissions) {
	h := &p.worker.sheaves
	for i := range h.all[:h.n] {
		b := &h.all[i]
		prio := uint8(b.queue & (pfc.Classes - 1))
		to := &s.ports[b.queue>>3]
		b.queue = noSheaf
		q := &to.queues[prio]
		n := uint64(b.tail - q.tail)
		q.tail = b.tail
		q.bytes += units.Size(b.bytes)
		q.enqueued += n
		a := &all.of8[prio]
		a.room -= b.bytes
		a.bytes += b.bytes
		a.frames += n
		if to.waiting>>prio&1 == 0 {
			s.nowWaiting(now, to, prio)
		}
	}
	h.n = 0
}
