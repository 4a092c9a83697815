package dataplane

import (
	"photon/marking"
	"photon/units"
	"photon/wire"
)

// quick reports whether the frames of a queue can be judged a burst at a time.
func (p *point) quick() bool { return p.cp == nil || p.burst != nil && p.stamper == nil }

// dequeueQuick takes frames of one queue, releases their buffer and lets the
// congestion point judge them, all at once. It returns how many. The first frame
// is within the budget, bytes on the wire.
func (s *Switch) dequeueQuick(now units.Time, p *switchPort, prio int, burst []Frame, budget int64) int {
	q := &p.queues[prio].queue
	n := min(len(burst), q.len(), quickBurst)
	burst = burst[:n]
	sizes := p.worker.sizes[:n]
	mask := uint32(len(q.ring) - 1)
	bytes, held := units.Size(0), units.Size(0) // of all; of those from one port
	overhead := int64(p.config.Link.overhead())
	in, flag := q.ring[q.head&mask].In, q.ring[q.head&mask].Flag
	for i := range burst {
		f := &q.ring[(q.head+uint32(i))&mask]
		if (f.Flag^flag)&Lossless != 0 { // the switch's own are not lossless, whatever their priority
			n = i
			break
		}
		if budget -= int64(f.Len) + overhead; budget < 0 {
			n = i
			break
		}
		burst[i] = *f
		sizes[i] = f.Len
		if f.In != in {
			s.releaseAll(now, in, prio, held)
			in, held = f.In, 0
		}
		held += units.Size(f.Len)
		bytes += units.Size(f.Len)
	}
	burst, sizes = burst[:n], sizes[:n]
	s.releaseAll(now, in, prio, held)
	if flag&Lossless == 0 {
		s.pool.Add(-int64(bytes))
	} else if cp := p.points[prio].burst; cp != nil {
		marks := p.worker.marks[:n]
		cp.DequeueBurst(now, marking.Queue{Bytes: q.bytes, Frames: q.len()}, sizes, marks)
		p.markAll(prio, burst, marks)
	}
	q.drop(n, bytes)
	if q.len() == 0 {
		p.waiting &^= 1 << prio
	}
	p.stats.TxFrames[prio] += uint64(n)
	p.stats.TxBytes[prio] += uint64(bytes)
	p.sent += bytes + units.Size(int64(n)*overhead)
	return n
}

// releaseAll takes frames out of the account of the port through which they came.
func (s *Switch) releaseAll(now units.Time, in uint16, prio int, bytes units.Size) {
	from := &s.ports[in]
	if from.in.Release(uint8(prio), int(bytes)) {
		from.env.Wake(int(in), now)
	}
}

// markAll writes the marks of frames of one priority.
func (p *switchPort) markAll(prio int, burst []Frame, marks []marking.Mark) {
	marked, bytes := uint64(0), uint64(0)
	marks = marks[:len(burst)]
	for i := range burst {
		f := &burst[i]
		if marks[i] != marking.Congestion || f.Flag&Markable == 0 {
			continue
		}
		p.mark(f)
		marked++
		bytes += uint64(f.Len)
	}
	p.stats.Marked[prio&7] += marked
	p.stats.MarkedBytes[prio&7] += bytes
}

// mark writes congestion experienced into a frame.
func (p *switchPort) mark(f *Frame) {
	pool := p.env.Pool
	at := pool.place(f.Ref) + int(f.Off) + int(f.L3)
	wire.SetCE((*[wire.MarkLen]byte)(pool.chunk(f.Ref)[at : at+wire.MarkLen : at+wire.MarkLen]))
}
