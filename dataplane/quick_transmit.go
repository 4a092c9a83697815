package dataplane

import (
	"photon/marking"
	"photon/units"
	"photon/wire"
)

// quick reports whether the frames of a queue can be judged a burst at a time.
func (p *point) quick() bool { return p.cp == nil || p.burst != nil && p.stamper == nil }

// dequeueQuick takes frames of one queue, releases their buffer and lets the
// congestion point judge them, all at once. It returns how many; there may be more
// that could be sent. The first frame is within the budget, bytes on the wire.
func (s *Switch) dequeueQuick(now units.Time, p *switchPort, prio int, burst []Frame, budget int64) int {
	l := &p.queues[prio&7]
	q := &l.queue
	run := q.run(min(len(burst), quickBurst))
	overhead := int64(p.overhead)
	if budget != unbounded {
		run = within(run, budget, overhead)
	}
	burst = burst[:len(run)]
	n, bytes := s.take(prio, run, burst)
	for n < len(run) && (run[n].Flag^run[0].Flag)&Lossless == 0 { // the switch's own are not lossless, whatever their priority
		held, more := s.takeHeld(now, prio, run[n:], burst[n:])
		n, bytes = n+held, bytes+more
		if n < len(run) {
			held, more = s.take(prio, run[n:], burst[n:])
			n, bytes = n+held, bytes+more
		}
	}
	burst = burst[:n]
	if run[0].Flag&Lossless == 0 {
		s.pool.Add(-bytes)
	} else if point := &p.points[prio&7]; point.span != nil {
		from, to := point.span.DequeueSpan(now, marking.Queue{Bytes: q.bytes, Frames: q.len()}, n, units.Size(bytes))
		p.markAll(prio, burst[from:to])
	} else if q.bytes-units.Size(burst[0].Len) > l.keep {
		p.judgeAll(now, prio, burst)
	}
	q.drop(n, units.Size(bytes))
	if q.len() == 0 {
		p.waiting &^= 1 << prio
	}
	l.txFrames += uint64(n)
	l.txBytes += uint64(bytes)
	p.sent += units.Size(bytes + int64(n)*overhead)
	return n
}

// within is the first of some frames, those that are within a budget.
func within(run []Frame, budget, overhead int64) []Frame {
	for i := range run {
		if budget -= int64(run[i].Len) + overhead; budget < 0 {
			return run[:i]
		}
	}
	return run
}

// take copies frames of one priority to a burst that is as long, and takes them out of
// the accounts of the ports through which they came, as far as all are lossless or none
// is, and nothing more is to be done. It returns how many, and their bytes. It hardly
// takes longer to lower a number for each than to find out which came through one port.
func (s *Switch) take(prio int, run, burst []Frame) (n int, bytes int64) {
	ports, flag := s.ports, run[0].Flag
	burst = burst[:len(run)]
	for i := range run {
		f := &run[i]
		if (f.Flag^flag)&Lossless != 0 || !ports[f.In].in.Easy(uint8(prio)) {
			return i, bytes
		}
		ports[f.In].in.Ease(uint8(prio), int64(f.Len))
		burst[i] = *f
		bytes += int64(f.Len)
	}
	return len(run), bytes
}

// takeHeld is take of the frames at the beginning that came through one port, whose
// peer may wait for an XON.
func (s *Switch) takeHeld(now units.Time, prio int, run, burst []Frame) (n int, bytes int64) {
	in, flag := run[0].In, run[0].Flag
	for n < len(run) && run[n].In == in && (run[n].Flag^flag)&Lossless == 0 {
		bytes += int64(run[n].Len)
		n++
	}
	copy(burst, run[:n])
	if from := &s.ports[in]; from.in.Release(uint8(prio), int(bytes)) {
		from.env.Wake(int(in), now)
	}
	return n, bytes
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
	marked, bytes := uint64(0), uint64(0)
	pool := p.env.Pool
	memory, unit := pool.chunks[0], pool.unitShift&63
	for i := range burst {
		f := &burst[i]
		if f.Flag&Markable == 0 {
			continue
		}
		ref := f.Ref
		if len(pool.chunks) != 1 {
			memory, ref = pool.chunk(ref), ref&pool.chunkMask
		}
		wire.SetCE((*[wire.MarkLen]byte)(memory[uint64(ref)<<unit+uint64(f.Off)+uint64(f.l3()):]))
		marked++
		bytes += uint64(f.Len)
	}
	p.stats.Marked[prio&7] += marked
	p.stats.MarkedBytes[prio&7] += bytes
}

// mark writes congestion experienced into a frame.
func (p *switchPort) mark(f *Frame) {
	pool := p.env.Pool
	at := pool.place(f.Ref) + int(f.Off) + f.l3()
	wire.SetCE((*[wire.MarkLen]byte)(pool.chunk(f.Ref)[at : at+wire.MarkLen : at+wire.MarkLen]))
}
