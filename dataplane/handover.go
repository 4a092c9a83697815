package dataplane

import (
	"sync/atomic"
	"unsafe"

	"photon/fabric"
	"photon/internal/memory"
	"photon/pfc"
	"photon/units"
)

// A port belongs to one worker. A frame that came through one worker's port and leaves through
// another's is handed over in an outbox, in bursts: both workers look at it in Poll. Frames that do not fit into the
// outbox's ring wait at the first worker; none is dropped, since all were admitted. There are no locks.
//
// A port's account belongs to the port's worker. Another worker that releases frames of the port adds up the bytes, and
// sends the sums through the outbox to the port's worker in Poll, between the frames.
//
// To read a cache line that another core has written takes a tenth of a microsecond or more. So everything that goes from
// one worker to another is in the outbox, and each end reads what the other writes once per poll at most.

// outboxLen is how many frames an outbox's ring holds: some bursts of each port.
const outboxLen = 1 << 11

// outbox leads from one worker to another. While a frame is in it, its Digest is the port for which it
// is: no node reads digests, and a world works out again what is 0.
type outbox struct {
	ring    []fabric.Frame
	waiting queue // for which the ring has no room
	put     uint64
	room    uint64 // the ring has room up to this number, by the last value read from taken
	_       [24]byte
	ready   atomic.Uint64 // may be taken, ever
	_       [56]byte
	taken   atomic.Uint64 // were taken; the taking worker writes this cache line
	_       [56]byte
}

// unset is a limit that is not known yet.
const unset = -1

// isRelease, in the Digest of an entry of an outbox, says that it is not a frame but a number of released bytes: the
// other bits of the Digest are the port, Prio is the priority, and the first word is the number.
const isRelease = 1 << 31

// putRelease makes f say how much of a priority of a port was released.
func putRelease(f *fabric.Frame, port uint16, prio int, cost int64) {
	f.Put(uint64(cost), uint64(prio)<<48|isRelease|uint64(port))
}

// releaseOf is what putRelease has noted.
func releaseOf(f *fabric.Frame) (port uint32, prio uint8, cost int64) {
	return f.Digest &^ isRelease, f.Prio & 7, int64(f.Words()[0])
}

// append puts a frame into the outbox, of which both halves are given.
func (o *outbox) append(where, what uint64, s *store) {
	if o.waiting.frames == 0 && o.fits() && o.fastAppend(where, what) {
		return
	}
	var f fabric.Frame
	f.Put(where, what)
	o.waiting.push(&f, s)
}

// fastAppend does so if there is room for certain and no other frame waits for room; else it reports false.
func (o *outbox) fastAppend(where, what uint64) bool {
	if o.waiting.frames != 0 || o.put == o.room {
		return false
	}
	o.ring[o.put%outboxLen].Put(where, what)
	o.put++
	return true
}

func (o *outbox) fits() bool {
	if o.put == o.room {
		o.room = o.taken.Load() + outboxLen
	}
	return o.put < o.room
}

// publish makes what was put visible to the other worker.
func (o *outbox) publish(s *store) {
	for o.waiting.frames > 0 && o.fits() {
		f := o.waiting.run(1)
		o.ring[o.put%outboxLen].Copy(&f[0])
		o.put++
		o.waiting.drop(1, units.Size(f[0].Len), s)
	}
	if o.ready.Load() != o.put {
		memory.Publish(&o.ready, o.put)
		at := o.put % outboxLen // the other core has read these lines, a round of the ring ago
		memory.PrefetchToWrite(unsafe.Pointer(&o.ring[at]), int(min(2*fabric.MaxBurst, outboxLen-at))/4)
	}
}

// all calls do for all that is in the outbox, and each for every frame. Both workers are at rest.
func (o *outbox) all(do func(*fabric.Frame)) {
	for i := o.taken.Load(); i < o.put; i++ {
		do(&o.ring[i%outboxLen])
	}
	o.waiting.each(do)
}

func (o *outbox) each(do func(*fabric.Frame)) {
	o.all(func(f *fabric.Frame) {
		if f.Digest&isRelease == 0 {
			do(f)
		}
	})
}

// handOver gives an admitted frame to the worker of its egress port.
func (s *Switch) handOver(w *switchWorker, to uint, f *fabric.Frame) {
	f.Digest = uint32(to)
	w.outboxes[s.owner[to]].append(f.Words()[0], f.Words()[1], &w.store)
}

// deferRelease adds a released frame of another worker's port to what sendReleases sends.
func (w *switchWorker) deferRelease(port int, prio uint8, cost int64) {
	if w.released[port][prio&7] += cost; !w.hasReleased[port] {
		w.hasReleased[port] = true
		w.releasedPorts = append(w.releasedPorts, uint16(port))
	}
}

// sendReleases puts what this worker has released of other workers' accounts into outboxes to them.
func (s *Switch) sendReleases(w *switchWorker) {
	for _, port := range w.releasedPorts {
		o := &w.outboxes[s.owner[port]]
		for prio, cost := range w.released[port] {
			if cost != 0 {
				var f fabric.Frame
				putRelease(&f, port, prio, cost)
				o.append(f.Words()[0], f.Words()[1], &w.store)
			}
		}
		w.released[port] = [pfc.Classes]int64{}
		w.hasReleased[port] = false
	}
	w.releasedPorts = w.releasedPorts[:0]
}

// applyReleases gives back at once what workers have released of each other's accounts. No worker runs.
func (s *Switch) applyReleases(now units.Time) {
	for _, w := range s.workers {
		s.sendReleases(w)
		for i := range w.outboxes {
			w.outboxes[i].all(func(f *fabric.Frame) {
				if f.Digest&isRelease != 0 {
					port, prio, cost := releaseOf(f)
					s.giveBack(now, &s.ports[port], prio, cost)
					putRelease(f, uint16(port), int(prio), 0)
				}
			})
		}
	}
}

// Poll makes a worker take the frames that others have for its ports, and publish those that it has for theirs.
func (s *Switch) Poll(now units.Time, worker int) {
	w := s.workers[worker]
	if w.outboxes == nil {
		return
	}
	for _, other := range s.workers {
		if other != w {
			s.takeOver(now, w, &other.outboxes[worker])
		}
	}
	if w.waits > 0 {
		s.catchUp(now, w)
	}
	for _, i := range w.ports {
		if p := &s.ports[i]; p.ingress.PeerStopped() != 0 && p.ingress.Next(now) <= now {
			p.env.Wake(p.number, now)
		}
	}
	s.sendReleases(w)
	for i := range w.outboxes {
		w.outboxes[i].publish(&w.store)
	}
}

// mostTaken is how many frames a worker takes out of an outbox in one poll: a burst for each of its ports. It sends
// what it took before it takes more: two workers that each wait until the other has finished hundreds of frames are
// only as fast as one. Releases do not count.
func (w *switchWorker) mostTaken() int { return fabric.MaxBurst * max(len(w.ports), 2) }

// takeOver sends or queues what another worker has for the ports of this one.
func (s *Switch) takeOver(now units.Time, w *switchWorker, o *outbox) {
	at, ready := o.taken.Load(), o.ready.Load()
	if at == ready {
		return
	}
	end := at
	for frames, most := 0, w.mostTaken(); end < ready && frames < most; end++ {
		if f := &o.ring[end%outboxLen]; f.Digest&isRelease == 0 {
			w.env.AskToWrite(f)
			frames++
		}
	}
	for ; at < end; at++ {
		if at = s.takeFast(now, w, o, at, end); at == end {
			break
		}
		f := o.ring[at%outboxLen]
		if f.Digest&isRelease != 0 {
			if port, prio, cost := releaseOf(&f); cost != 0 { // 0: applyReleases has taken it
				s.giveBack(now, &s.ports[port], prio, cost)
			}
			continue
		}
		to := &s.ports[f.Digest]
		f.Digest = 0
		if e := w.env.Exit(to.number); w.env.Queue == fabric.QueueNothing && to.passes(now, e, &f) && !s.tooLong(to, &f) {
			s.release(now, w, to, &f)
			s.send(now, to, e, &f)
		} else {
			s.queueUp(now, to, &f)
		}
	}
	memory.Publish(&o.taken, at)
}

// takeFast takes frames from one on, as far as they pass the queues or are appended to one in which
// others wait, and nothing else is to be done, as enqueueFast and enqueueLossy do; it returns where the next is.
func (s *Switch) takeFast(now units.Time, w *switchWorker, o *outbox, at, end uint64) uint64 {
	pooled := int64(0)   // that lossy frames give back
	tail := int64(unset) // the least limit of their queues
	queues, exits := unsafe.Pointer(unsafe.SliceData(s.queues)), unsafe.Pointer(unsafe.SliceData(w.env.Exits()))
	ring := unsafe.Pointer(unsafe.SliceData(o.ring))
	for ; at < end; at++ {
		f := element[fabric.Frame](ring, uint(at%outboxLen)) // it names ports that there are: nothing is checked
		prio, length := f.Prio&7, int64(f.Len)
		lossy := f.Flag&fabric.Lossless == 0 // releases have no flags either
		if lossy {
			if f.Digest&isRelease != 0 || f.In >= s.limitedFrom || s.ports[f.Digest].wary>>prio&1 != 0 {
				break
			}
			if tail == unset {
				tail = int64(s.tailOf(s.pool.Free()))
			}
			if length > tail {
				break
			}
		}
		port := uint(f.Digest)
		e, q := element[fabric.Exit](exits, port), element[queue](queues, port*pfc.Classes+uint(prio))
		where, what := f.Words()[0], f.Words()[1]&^(1<<32-1)
		if e.Unseen>>prio&1 != 0 && w.env.Queue == fabric.QueueNothing {
			if !e.Takes(now) || q.left < 0 {
				break
			}
			w.env.Pass(int(port), e, where, what)
			q.pass(f.Len)
			cost := s.cost(uint16(where >> 32))
			if w.deferRelease(int(f.In), prio, cost); lossy {
				pooled += cost
			}
			continue
		}
		if !q.appends(now) || lossy && int64(q.bytes)+length > tail {
			break
		}
		if lossy {
			q.unjudged += uint32(^s.config.Judged >> prio & 1)
		}
		q.append(where, what)
	}
	if pooled != 0 {
		w.notePooled(s.pool)
		s.pool.Add(-pooled)
	}
	return at
}
