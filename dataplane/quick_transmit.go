package dataplane

import (
	"unsafe"

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
	burst = burst[:q.copyTo(burst[:n])]
	bytes, held := units.Size(0), units.Size(0) // of all; of those from one port
	overhead := int64(p.config.Link.overhead())
	in, flag := burst[0].In, burst[0].Flag
	for i := range burst {
		f := &burst[i]
		length := f.Len
		if (f.Flag^flag)&Lossless != 0 { // the switch's own are not lossless, whatever their priority
			n = i
			break
		}
		if budget -= int64(length) + overhead; budget < 0 {
			n = i
			break
		}
		if f.In != in {
			s.releaseAll(now, in, prio, held)
			in, held = f.In, 0
		}
		held += units.Size(length)
		bytes += units.Size(length)
	}
	burst = burst[:n]
	s.releaseAll(now, in, prio, held)
	if flag&Lossless == 0 {
		s.pool.Add(-int64(bytes))
	} else if point := &p.points[prio]; point.span != nil {
		from, to := point.span.DequeueSpan(now, marking.Queue{Bytes: q.bytes, Frames: q.len()}, n, bytes)
		p.markAll(prio, burst[from:to])
	} else if q.bytes-units.Size(burst[0].Len) > p.queues[prio].keep {
		p.judgeAll(now, prio, burst)
	}
	q.drop(n, bytes)
	if q.len() == 0 {
		p.waiting &^= 1 << prio
	}
	l := &p.queues[prio].lane
	l.txFrames += uint64(n)
	l.txBytes += uint64(bytes)
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

// judgeAll lets the congestion point judge frames of one priority that leave their
// queue, in which they still are.
func (p *switchPort) judgeAll(now units.Time, prio int, burst []Frame) {
	q := &p.queues[prio].queue
	sizes, marks := p.worker.sizes[:len(burst)], p.worker.marks[:len(burst)]
	for i := range burst {
		sizes[i] = burst[i].Len
	}
	p.points[prio].burst.DequeueBurst(now, marking.Queue{Bytes: q.bytes, Frames: q.len()}, sizes, marks)
	for i, m := range marks {
		if m == marking.Congestion {
			p.markAll(prio, burst[i:i+1])
		}
	}
}

// markAll writes congestion experienced into those of the frames that may be marked.
func (p *switchPort) markAll(prio int, burst []Frame) {
	pool := p.env.Pool
	var marked, bytes uint64
	if pool.base != nil {
		marked, bytes = markIn(pool.base, pool.most+wire.QuickLen-wire.MarkLen, pool.unitShift, burst)
	} else { // in several pieces
		for i := range burst {
			if f := &burst[i]; f.Flag&Markable != 0 {
				p.mark(f)
				marked++
				bytes += uint64(f.Len)
			}
		}
	}
	p.stats.Marked[prio&7] += marked
	p.stats.MarkedBytes[prio&7] += bytes
}

// markIn does so in a pool that is one piece of memory, in which most is the last place
// for wire.MarkLen bytes. It calls nothing, so that all it needs stays in registers. It
// returns how many frames and bytes it marked.
func markIn(base unsafe.Pointer, most Start, unit uint8, burst []Frame) (marked, bytes uint64) {
	for i := range burst {
		f := &burst[i]
		if f.Flag&Markable == 0 {
			continue
		}
		at := Start(f.Ref)<<(unit&63) + Start(f.Off) + Start(f.l3())
		if at > most {
			panic("dataplane: a frame outside its pool")
		}
		wire.SetCE((*[wire.MarkLen]byte)(unsafe.Add(base, at)))
		marked++
		bytes += uint64(f.Len)
	}
	return marked, bytes
}

// mark writes congestion experienced into a frame.
func (p *switchPort) mark(f *Frame) {
	pool := p.env.Pool
	at := pool.place(f.Ref) + int(f.Off) + f.l3()
	wire.SetCE((*[wire.MarkLen]byte)(pool.chunk(f.Ref)[at : at+wire.MarkLen : at+wire.MarkLen]))
}
