package dataplane

import (
	"math/bits"
	"unsafe"

	"photon/marking"
	"photon/units"
	"photon/wire"
)

// quick reports whether the frames of a queue can be judged a burst at a time.
func (p *point) quick() bool { return p.cp == nil || p.burst != nil && p.stamper == nil }

// drain takes frames from the queues that may send, the highest first, releases their
// buffer and lets the congestion points judge them: each queue as a whole, as long as all
// that is in it fits into the burst, begins with its ring, and nothing more is to be done.
// It returns how many. What it does for a queue and not for a frame is kept short, since a
// port with eight priorities sends few frames of each at a time.
func (s *Switch) drain(now units.Time, p *switchPort, batch uint8, burst []Frame) int {
	ready := p.waiting &^ p.halted
	ready &= 0xFF << bits.Len8(ready&^batch) // those above all that are taken one at a time
	l := &p.worker.leaving
	t := l.takeAll(s.ports, p, uint(ready), burst)
	if t.eased < t.n {
		t.whole(s.ports, p, burst)
	}
	which, begin := uint64(0), uint(0) // to be marked; where the queue's begin
	for rest := t.queues; rest != 0; {
		prio := uint(bits.Len(rest)-1) & 7
		rest &^= 1 << prio
		q := &p.queues[prio]
		bytes, frames := q.bytes, uint(q.tail)
		if cp := p.spans[prio]; cp != nil {
			from, to := 0, 0
			state := marking.Queue{Bytes: bytes, Frames: int(frames)}
			if np, ok := cp.(*marking.NPECN); ok { // no call
				from, to = np.DequeueSpan(now, state, int(frames), bytes)
			} else {
				from, to = cp.DequeueSpan(now, state, int(frames), bytes)
			}
			these := span(begin+uint(from), begin+uint(to))
			if some := these & l.markable; some != these {
				these = some
				q.countSome(burst, these)
			} else {
				q.marked += uint64(to - from)
				q.markedBytes += uint64(l.sums[begin+uint(to)] - l.sums[begin+uint(from)])
			}
			which |= these
		} else if bytes-units.Size(burst[begin].Len) > q.keep {
			p.judgeAll(now, uint8(prio), burst, int(begin), int(begin+frames))
		}
		q.most = max(q.most, bytes)
		q.tail, q.bytes = 0, 0
		q.txFrames += uint64(frames)
		q.txBytes += uint64(bytes)
		begin += frames
	}
	p.env.markEach(burst, which)
	p.waiting &^= uint8(t.queues)
	p.sent += units.Size(l.sums[t.n%uint(len(l.sums))]) + units.Size(int(t.n)*int(p.overhead))
	return int(t.n)
}

// dequeueQuick does so for frames of one queue, whatever is to be done: as many as fit and
// are within a budget, bytes on the wire. The first frame is. It returns how many; there
// may be more that could be sent.
func (s *Switch) dequeueQuick(now units.Time, p *switchPort, prio uint8, burst []Frame, budget int64) int {
	l := &p.queues[prio&7]
	q := &l.queue
	run := q.run(min(len(burst), quickBurst))
	overhead := int64(p.overhead)
	if budget != unbounded {
		run = within(run, budget, overhead)
	}
	burst = burst[:len(run)]
	n := take(s.ports, prio, run, burst)
	for n < len(run) && (run[n].Flag^run[0].Flag)&Lossless == 0 { // the switch's own are not lossless, whatever their priority
		n += s.takeHeld(now, prio, run[n:], burst[n:])
		n += take(s.ports, prio, run[n:], burst[n:])
	}
	bytes := units.Size(0)
	for i := range burst[:n] {
		bytes += units.Size(burst[i].Len)
	}
	if run[0].Flag&Lossless == 0 {
		s.pool.Add(-int64(bytes))
	} else if cp := p.spans[prio&7]; cp != nil {
		from, to := cp.DequeueSpan(now, marking.Queue{Bytes: q.bytes, Frames: q.len()}, n, bytes)
		p.markAll(prio, burst, from, to)
	} else if q.bytes-units.Size(burst[0].Len) > l.keep {
		p.judgeAll(now, prio, burst, 0, n)
	}
	q.drop(n, bytes)
	if q.len() == 0 {
		p.waiting &^= 1 << prio
	}
	l.txFrames += uint64(n)
	l.txBytes += uint64(bytes)
	p.sent += bytes + units.Size(int64(n)*overhead)
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

// take copies frames of one priority to a burst that is as long at least, and takes them
// out of the accounts of the ports through which they came, as far as they are lossless
// and nothing more is to be done. It returns how many.
func take(ports []switchPort, prio uint8, run, burst []Frame) int {
	if len(run) < fewFrames || (run[0].what()^run[1].what())&ownerOf != 0 {
		return takeEach(ports, prio, run, burst)
	}
	return takeRuns(ports, prio, run, burst)
}

// fewFrames of a queue are too few for runs: a processor cannot foresee where each ends.
const fewFrames = 12

// takeEach lowers the account of each frame.
func takeEach(ports []switchPort, prio uint8, run, burst []Frame) int {
	burst = burst[:len(run)]
	for i := range run {
		where, what := run[i].where(), run[i].what()
		in := &ports[run[i].In].in
		if run[i].Flag&Lossless == 0 || !in.Easy(prio) {
			return i
		}
		burst[i].put(where, what)
		in.Ease(prio, int64(where.length()))
	}
	return len(run)
}

// takeRuns does so once for frames that follow each other and came through one port, as
// those of a burst do. To lower it for each would be to wait each time for what was stored
// for the frame before.
func takeRuns(ports []switchPort, prio uint8, run, burst []Frame) int {
	burst = burst[:len(run)]
	i := 0
	for i < len(run) {
		in := &ports[run[i].In].in
		if run[i].Flag&Lossless == 0 || !in.Easy(prio) {
			break
		}
		bytes := int64(0)
		for owner := run[i].what(); i < len(run); i++ {
			where, what := run[i].where(), run[i].what()
			if (what^owner)&ownerOf != 0 {
				break
			}
			burst[i].put(where, what)
			bytes += int64(where.length())
		}
		in.Ease(prio, bytes)
	}
	return i
}

// takeHeld is take of the frames at the beginning that came through one port and are all
// lossless, or all not; their peer may wait for an XON.
func (s *Switch) takeHeld(now units.Time, prio uint8, run, burst []Frame) (n int) {
	in, flag := run[0].In, run[0].Flag
	bytes := 0
	for n < len(run) && run[n].In == in && (run[n].Flag^flag)&Lossless == 0 {
		bytes += int(run[n].Len)
		n++
	}
	copy(burst, run[:n])
	if from := &s.ports[in]; from.in.Release(prio, bytes) {
		from.env.Wake(int(in), now)
	}
	return n
}

// judgeAll lets the congestion point judge frames of a burst, from the i-th on, that leave
// their queue. They are still in it.
func (p *switchPort) judgeAll(now units.Time, prio uint8, burst []Frame, i, end int) {
	q := &p.queues[prio].queue
	sizes, marks := p.worker.sizes[:end-i], p.worker.marks[:end-i]
	for k := range sizes {
		sizes[k] = burst[i+k].Len
	}
	p.points[prio].burst.DequeueBurst(now, marking.Queue{Bytes: q.bytes, Frames: q.len()}, sizes, marks)
	for k, m := range marks {
		if m == marking.Congestion {
			p.markAll(prio, burst, i+k, i+k+1)
		}
	}
}

// markAll writes congestion experienced into frames of a burst, from the i-th on, if they
// may be marked.
func (p *switchPort) markAll(prio uint8, burst []Frame, i, end int) {
	pool := p.env.Pool
	var marked, bytes uint64
	if pool.base != nil {
		marked, bytes = pool.mark(burst, i, end)
	} else { // in several pieces
		for ; i < end; i++ {
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

// mark does so in a pool that is one piece of memory. It calls nothing, so that all it
// needs stays in registers. It returns how many frames and bytes it marked.
func (p *Pool) mark(burst []Frame, i, end int) (marked, bytes uint64) {
	base, most, unit := p.base, p.most+wire.QuickLen-wire.MarkLen, p.unitShift
	burst = burst[:end]
	for ; i < len(burst); i++ {
		f := &burst[i]
		if f.Flag&Markable == 0 {
			continue
		}
		at := Start(f.Ref)<<(unit&63) + Start(f.Off) + Start(f.l3())
		if at > most {
			panic(outside)
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
