package dataplane

import (
	"fmt"

	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
)

// Stats copies the counters of all ports.
func (s *Switch) Stats(now units.Time) fabric.Stats {
	st := fabric.Stats{Ports: make([]fabric.PortStats, len(s.ports))}
	s.CopyStats(now, &st)
	return st
}

// CopyStats is Stats into memory that the caller has made, with a place for
// every port: workers that rest meanwhile do not wait for it to be found.
func (s *Switch) CopyStats(now units.Time, st *fabric.Stats) {
	s.countNeighbours(st)
	st.RemovedRouted = s.gone.routed
	st.Unlearned = s.counts.Unlearned.Load()
	for i := range st.Ports {
		p := &s.ports[i]
		p.count()
		st.Ports[i] = p.stats
		q := &st.Ports[i]
		for prio := range pfc.Classes {
			q.QueueBytes[prio] = p.queues[prio].bytes
			q.QueueFrames[prio] = uint64(p.queues[prio].frames)
			q.QueuePeak[prio] = p.queues[prio].peak()
			q.Buffered[prio] = p.ingress.Bytes(uint8(prio))
		}
		q.Ingress = p.ingress.Counters(now)
		q.Egress = p.egress.Counters(now)
		q.Watchdog = p.watchdog.Counters(now)
		if p.credits != nil {
			q.Credits = p.credits.Counters(now)
		}
		q.Deadlocks, q.Deadlocked = p.probes.count, p.probes.dead
	}
}

// count adds what was counted where frames pass to the port's statistics.
func (p *switchPort) count() {
	st := &p.stats
	for prio := range pfc.Classes {
		q := &p.queues[prio]
		frames, bytes := p.ingress.Counted(uint8(prio))
		st.RxFrames[prio] += frames
		st.RxBytes[prio] += bytes
		st.TxFrames[prio] += q.left.frames()
		st.TxBytes[prio] += q.left.bytes()
		q.left = 0
	}
}

// ClearWatermarks resets the watermarks of a port's queues, and of the frames that came through it,
// with what is there. It is called between bursts.
func (s *Switch) ClearWatermarks(port int) {
	p := &s.ports[port]
	for prio := range p.queues {
		p.queues[prio].clearPeak()
	}
	p.ingress.ClearPeaks()
}

// ClearPools resets the watermarks of the buffer that all ports share. It is called between bursts.
func (s *Switch) ClearPools() {
	for _, w := range s.workers {
		w.mostPooled = s.pool.Used()
	}
	for i := range s.ports {
		s.ports[i].ingress.ClearHeadroomPeak()
	}
}

// peaks are the most that was used of the pool, and of the headroom of all.
func (s *Switch) peaks() (pool, heads units.Size) {
	pool, heads = units.Size(s.pool.Used()), units.Size(s.heads.Used())
	for _, w := range s.workers {
		pool = max(pool, units.Size(w.mostPooled))
	}
	for i := range s.ports {
		heads = max(heads, s.ports[i].ingress.HeadroomPeak())
	}
	return pool, heads
}

// Ports is how many ports the switch has.
func (s *Switch) Ports() int { return len(s.ports) }

// QueueBytes is the length of one egress queue.
func (s *Switch) QueueBytes(port, prio int) units.Size { return s.ports[port].queues[prio].bytes }

// QueuePeak is the most that was in one egress queue.
func (s *Switch) QueuePeak(port, prio int) units.Size { return s.ports[port].queues[prio].peak() }

// Paused is the set of priorities that a port's peer has stopped.
func (s *Switch) Paused(port int) uint8 { return s.ports[port].stops().Paused() }

// Pauses is how many XOFF frames a port has sent for a priority, refreshes included.
func (s *Switch) Pauses(port, prio int) uint64 { return s.ports[port].ingress.Sent()[prio] }

// Sent is how many bytes a port has put on the wire, MAC control left out.
func (s *Switch) Sent(port int) units.Size { return s.ports[port].sent() }

// Losses is how many frames were lost at any port, of priorities of which a lossless frame was lost there. It is called
// between bursts.
func (s *Switch) Losses() (sum uint64) {
	sum = s.gone.losses
	for i := range s.ports {
		sum += s.ports[i].losses()
	}
	return sum
}

// RemovedLosses is how many of Losses were lost at ports that have been removed.
func (s *Switch) RemovedLosses() uint64 { return s.gone.losses }

func (p *switchPort) losses() (sum uint64) {
	for why := range fabric.Reasons {
		if !why.Loses() {
			continue
		}
		for prio, n := range p.stats.Discards[why] {
			if p.stats.LostAt[prio] != units.Never {
				sum += n
			}
		}
	}
	return sum
}

// TxFrames is how many frames of a priority a port has sent.
func (s *Switch) TxFrames(port, prio int) uint64 {
	return s.ports[port].stats.TxFrames[prio] + s.ports[port].queues[prio].left.frames()
}

// Marked is how many of a port's frames were marked with CE and with TCD's UE.
func (s *Switch) Marked(port, prio int) (ce, ue uint64) {
	p := &s.ports[port]
	return p.stats.Marked[prio], p.stats.Undetermined[prio]
}

// Discarded is how many frames of a priority were discarded at a port for want of room, or by WRED.
func (s *Switch) Discarded(port, prio int) (sum uint64) {
	for _, why := range [...]fabric.Reason{fabric.DropBuffer, fabric.DropTail, fabric.DropIngress, fabric.DropWRED, fabric.DropHeadroom, fabric.DropNoMemory} {
		sum += s.ports[port].stats.Discards[why][prio]
	}
	return sum
}

// Ternary is the state that TCD finds a port in, for a priority; none with other congestion points.
func (s *Switch) Ternary(now units.Time, port, prio int) marking.TCDState {
	if t, ok := s.ports[port].points[prio].cp.(*marking.TCD); ok {
		return t.StateAt(now)
	}
	return marking.TCDNone
}

// PausesSent is how many XOFF frames the switch has sent, refreshes included.
func (s *Switch) PausesSent() (sum uint64) {
	sum = s.gone.pauses
	for i := range s.ports {
		sum += s.ports[i].pauses()
	}
	return sum
}

func (p *switchPort) pauses() (sum uint64) {
	for _, n := range p.ingress.Sent() {
		sum += n
	}
	return sum
}

// Audit checks, per priority, that every frame that the switch received, copied or made was sent, was for
// the switch itself, was discarded with a reason, is in a queue, or is on its way from one worker to another;
// and that what is accounted to an ingress port is what its frames there take. The workers must be at rest.
func (s *Switch) Audit() error {
	in, out := s.gone.in, s.gone.out
	buffered, pooled := make([][pfc.Classes]int64, len(s.ports)), int64(0)
	s.each(func(f *fabric.Frame) {
		out[f.Prio]++
		if f.In != ownFrame {
			account := f.Prio
			if s.ports[f.In].ingress.Whole() {
				account = 0
			}
			buffered[f.In][account] += s.cost(f.Len)
		}
		if f.Flag&fabric.Lossless == 0 {
			pooled += s.cost(f.Len)
		}
	})
	for _, w := range s.workers {
		for port := range w.released { // what is accounted, and has left
			for prio, cost := range w.released[port] {
				buffered[port][prio] += cost
			}
		}
		for i := range w.outboxes {
			w.outboxes[i].all(func(f *fabric.Frame) {
				if f.Digest&isRelease != 0 {
					port, prio, cost := releaseOf(f)
					buffered[port][prio] += cost
				}
			})
		}
	}
	for i := range s.ports {
		s.ports[i].sum(&in, &out)
	}
	for prio := range pfc.Classes {
		if in[prio] != out[prio] {
			return fmt.Errorf("priority %d: %d frames received, copied or made, %d sent, discarded or still there", prio, in[prio], out[prio])
		}
		for i := range s.ports {
			if got := int64(s.ports[i].ingress.Bytes(uint8(prio))); got != buffered[i][prio] {
				return fmt.Errorf("port %d priority %d: %d bytes accounted, %d buffered", i, prio, got, buffered[i][prio])
			}
		}
	}
	headed := int64(0)
	for i := range s.ports {
		pooled += s.ports[i].ingress.Pooled()
		headed += s.ports[i].ingress.Headed()
	}
	if used := s.heads.Used(); used != headed {
		return fmt.Errorf("%v of the headroom taken, %v by what is there", units.Size(used), units.Size(headed))
	}
	lossy := make([]int64, len(s.mins))
	if s.mins != nil {
		s.eachLossy(func(queue int, cost int64) { lossy[queue] += cost })
	}
	for i := range s.mins {
		if m := &s.mins[i]; m.used != lossy[i] {
			return fmt.Errorf("port %d queue %d: %d bytes charged to its minimum, %d there", i/pfc.Classes, i%pfc.Classes, m.used, lossy[i])
		}
		pooled -= min(lossy[i], s.mins[i].size)
	}
	if _, used := s.pool.State(); int64(used) != pooled {
		return fmt.Errorf("%v of the pool taken, %v by what is there", used, units.Size(pooled))
	}
	return nil
}

// sum adds the frames that came through the port or began there, and those that left through it or ended there.
func (p *switchPort) sum(in, out *[pfc.Classes]uint64) {
	p.count()
	all := p.stats.Discarded()
	for prio := range pfc.Classes {
		in[prio] += p.stats.RxFrames[prio] + p.copied[prio] + p.made[prio]
		out[prio] += p.stats.TxFrames[prio] + all[prio] + p.taken[prio]
	}
}

// each calls do for every frame in the switch: in a queue, on its way from one worker to another, or waiting for a
// neighbour. The workers must be at rest.
func (s *Switch) each(do func(*fabric.Frame)) {
	for i := range s.queues {
		s.queues[i].each(do)
	}
	for _, w := range s.workers {
		for i := range w.outboxes {
			w.outboxes[i].each(do)
		}
		s.eachWaiting(w, do)
	}
}

// Close frees what is queued.
func (s *Switch) Close() {
	s.each(func(f *fabric.Frame) { s.workers[0].env.Free(*f) })
	clear(s.queues)
	for _, w := range s.workers {
		clear(w.outboxes)
		s.forgetWaiting(w)
	}
}
