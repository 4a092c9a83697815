package dataplane

import (
	"sync/atomic"

	"photon/pfc"
	"photon/units"
)

// A port belongs to one worker. A frame that came through one worker's port and leaves through
// another's is handed over in a lane, in bursts: both workers look at it in Poll. What does not fit into the
// lane's ring waits behind it with the first; nothing is lost, for all of it has been admitted. Nothing
// is locked.
//
// A port's account is its worker's alone. Another worker that releases frames notes what it owes, and
// the port's worker collects that in Poll.

// laneLen is how many frames a lane's ring holds: some bursts of each port.
const laneLen = 1 << 10

// lane leads from one worker to another. While a frame is in it, its Digest is the port for which it
// is: no node reads digests, and a world works out again what is 0.
type lane struct {
	ring    []Frame
	waiting queue // that found no place in the ring
	put     uint64
	room    uint64 // frames may be put until then: as of the last look at taken
	_       [40]byte
	ready   atomic.Uint64 // frames that may be taken, ever
	_       [56]byte
	taken   atomic.Uint64
	_       [56]byte
}

// append puts a frame into the lane.
func (l *lane) append(f *Frame, s *store) {
	if l.waiting.frames == 0 && l.fits() {
		l.ring[l.put%laneLen].copy(f)
		l.put++
		return
	}
	l.waiting.push(f, s)
}

// handOverPlain takes frames of a vector from the i-th on, as far as they are for ports of other workers and
// are charged together; it returns where the next is. What these workers write is not looked at.
func (s *Switch) handOverPlain(w *switchWorker, v *vector, burst []Frame, i int) int {
	acts := v.acts[:len(burst)]
	for ; i < len(burst); i++ {
		a, f := acts[i], &burst[i]
		if a&actAway == 0 || v.plain>>(a&7)&1 == 0 {
			break
		}
		v.charges[a&7] += s.cost(f.Len)
		f.words()[1] = uint64(a.out()) | uint64(a&actFrame) // the digest is the port: see lane
		w.lanes[s.owner[a.out()]].append(f, &w.store)
	}
	return i
}

func (l *lane) fits() bool {
	if l.put == l.room {
		l.room = l.taken.Load() + laneLen
	}
	return l.put < l.room
}

// publish has the other worker see what was put.
func (l *lane) publish(s *store) {
	for l.waiting.frames > 0 && l.fits() {
		f := l.waiting.run(1)
		l.ring[l.put%laneLen].copy(&f[0])
		l.put++
		l.waiting.drop(1, units.Size(f[0].Len), s)
	}
	if l.ready.Load() != l.put {
		l.ready.Store(l.put)
	}
}

// each calls do for every frame in the lane. Both workers are at rest.
func (l *lane) each(do func(*Frame)) {
	for i := l.taken.Load(); i < l.put; i++ {
		do(&l.ring[i%laneLen])
	}
	l.waiting.each(do)
}

// debt is what a worker has released of one port of another worker.
type debt struct {
	sum  [pfc.Classes]int64 // ever
	_    [64]byte
	told [pfc.Classes]atomic.Int64
	_    [64]byte
}

// handOver gives an admitted frame to the worker of its egress port.
func (s *Switch) handOver(w *switchWorker, to uint, f *Frame) {
	f.Digest = uint32(to)
	w.lanes[s.owner[to]].append(f, &w.store)
}

// owe notes that a frame of a port of another worker was released.
func (w *switchWorker) owe(port int, prio uint8, cost int64) {
	if w.debts[port].sum[prio] += cost; !w.owes[port] {
		w.owes[port] = true
		w.owing = append(w.owing, uint16(port))
	}
}

// settle tells the other workers what this one owes.
func (w *switchWorker) settle() {
	for _, port := range w.owing {
		d := &w.debts[port]
		for prio := range d.sum {
			if d.told[prio].Load() != d.sum[prio] {
				d.told[prio].Store(d.sum[prio])
			}
		}
		w.owes[port] = false
	}
	w.owing = w.owing[:0]
}

// collect takes from the accounts of a port what the other workers have released.
func (s *Switch) collect(now units.Time, p *switchPort) {
	for i, w := range s.workers {
		if w == p.worker {
			continue
		}
		d, seen := &w.debts[p.number], &p.collected[i]
		for prio := range seen {
			if sum := d.told[prio].Load(); sum != seen[prio] {
				s.giveBack(now, p, uint8(prio), sum-seen[prio])
				seen[prio] = sum
			}
		}
	}
}

// Poll has a worker take over what others have for its ports, and tell them what it has for theirs.
func (s *Switch) Poll(now units.Time, worker int) {
	w := s.workers[worker]
	if w.lanes == nil {
		return
	}
	for _, other := range s.workers {
		if other != w {
			s.takeOver(now, w, &other.lanes[worker])
		}
	}
	if w.waits > 0 {
		s.catchUp(now, w)
	}
	for _, i := range w.ports {
		p := &s.ports[i]
		s.collect(now, p)
		if p.in.Held() != 0 && p.in.Next(now) <= now {
			p.env.Wake(p.number, now)
		}
	}
	w.settle()
	for i := range w.lanes {
		w.lanes[i].publish(&w.store)
	}
}

// mostTaken is how many frames a worker takes out of a lane in one poll. It sends what it took before it takes
// more: two workers that each wait until the other is through with hundreds of frames are as fast as one.
const mostTaken = 2 * vectorLen

// takeOver sends or queues what another worker has for the ports of this one.
func (s *Switch) takeOver(now units.Time, w *switchWorker, l *lane) {
	at, end := l.taken.Load(), l.ready.Load()
	if at == end {
		return
	}
	end = min(end, at+mostTaken)
	for i := at; i < end; i++ {
		w.env.fetch(&l.ring[i%laneLen])
	}
	for ; at < end; at++ {
		if at = s.takePlain(now, w, l, at, end); at == end {
			break
		}
		f := l.ring[at%laneLen]
		to := &s.ports[f.Digest]
		f.Digest = 0
		if e := w.env.Exit(to.number); !w.env.Queue && to.passes(now, e, &f) && !s.tooLong(to, &f) {
			s.release(now, w, &f)
			s.send(now, to, e, &f)
		} else {
			s.queueUp(now, to, &f)
		}
	}
	l.taken.Store(at)
}

// takePlain takes lossless frames from one on, as far as they pass the queues or are appended to one in which
// others wait, and nothing else is to be done, as enqueuePlain does; it returns where the next is.
func (s *Switch) takePlain(now units.Time, w *switchWorker, l *lane, at, end uint64) uint64 {
	for ; at < end; at++ {
		f := &l.ring[at%laneLen]
		if f.Flag&Lossless == 0 {
			break
		}
		prio := f.Prio & 7
		e, q := &w.env.exits[f.Digest], &s.queues[int(f.Digest)*pfc.Classes+int(prio)]
		where, what := f.words()[0], f.words()[1]&^(1<<32-1)
		if n := e.N; e.Unseen>>prio&1 != 0 && !w.env.Queue {
			if int(n) >= len(e.Frames) || e.Free > now || e.PerByte != 0 || q.left < 0 {
				break
			}
			if n == 0 {
				w.env.leave(int(f.Digest))
			}
			e.Frames[n].put(where, what)
			e.N = n + 1
			q.left += 1<<40 | tally(f.Len)
			q.longest = max(q.longest, f.Len)
			w.owe(int(f.In), prio, s.cost(f.Len))
			continue
		}
		if q.plain <= now || q.last >= blockLen || q.frames == 0 {
			break
		}
		q.tail.frames[q.last].put(where, what)
		q.last++
		q.frames++
		q.bytes += units.Size(f.Len)
	}
	return at
}
