package dataplane

import (
	"fmt"

	"photon/pfc"
	"photon/units"
)

// Stats copies the counters of all ports.
func (s *Switch) Stats(now units.Time) Stats {
	st := Stats{Ports: make([]PortStats, len(s.ports))}
	s.CopyStats(now, &st)
	return st
}

// CopyStats is Stats into memory that the caller has made, with a place for
// every port: workers that rest meanwhile do not wait for it to be found.
func (s *Switch) CopyStats(now units.Time, st *Stats) {
	for i := range s.ports {
		p := &s.ports[i]
		p.settle()
		st.Ports[i] = p.stats
		q := &st.Ports[i]
		for prio := range pfc.Classes {
			q.QueueBytes[prio] = p.queues[prio].bytes
			q.QueueFrames[prio] = uint64(p.queues[prio].len())
			q.QueuePeak[prio] = p.queues[prio].peak()
			q.Buffered[prio] = p.in.Bytes(uint8(prio))
		}
		q.Ingress = p.in.Counters(now)
		q.Egress = p.eg.Counters(now)
		q.Watchdog = p.dog.Counters(now)
		q.Deadlocks, q.Deadlocked = p.probes.count, p.probes.dead
	}
}

// Ports is how many ports the switch has.
func (s *Switch) Ports() int { return len(s.ports) }

// QueueBytes is the length of one egress queue.
func (s *Switch) QueueBytes(port, prio int) units.Size { return s.ports[port].queues[prio].bytes }

// QueuePeak is the most that was in one egress queue.
func (s *Switch) QueuePeak(port, prio int) units.Size { return s.ports[port].queues[prio].peak() }

// Paused is the set of priorities that a port's peer has stopped.
func (s *Switch) Paused(port int) uint8 { return s.ports[port].eg.Paused() }

// Pauses is how many XOFF frames a port has sent for a priority, refreshes included.
func (s *Switch) Pauses(port, prio int) uint64 { return s.ports[port].in.Sent()[prio] }

// Sent is how many bytes a port has put on the wire, MAC control left out.
func (s *Switch) Sent(port int) units.Size { return s.ports[port].sent }

// TxFrames is how many frames of a priority a port has sent.
func (s *Switch) TxFrames(port, prio int) uint64 {
	return s.ports[port].stats.TxFrames[prio] + s.ports[port].queues[prio].txFrames
}

// Marked is how many of a port's frames were marked with CE and with TCD's UE.
func (s *Switch) Marked(port, prio int) (ce, ue uint64) {
	p := &s.ports[port]
	return p.stats.Marked[prio] + p.queues[prio].marked, p.stats.Undetermined[prio]
}

// PausesSent is how many XOFF frames the switch has sent, refreshes included.
func (s *Switch) PausesSent() (sum uint64) {
	for i := range s.ports {
		for _, n := range s.ports[i].in.Sent() {
			sum += n
		}
	}
	return sum
}

// Audit checks, per priority: what a port received, or the switch made at it, entered
// the buffer, copies included, or was discarded before; what entered the buffer of the switch was
// queued at an egress port, is on its way to one in a ring, or was discarded;
// what was queued was sent or is still there; and the bytes accounted to an
// ingress port are those of its frames in queues and rings. The workers must be
// at rest.
func (s *Switch) Audit() error {
	var entered, left [pfc.Classes]uint64
	held := make([][pfc.Classes]units.Size, len(s.ports))
	hold := func(f Frame) { held[f.In][f.Prio] += units.Size(f.Len) }
	for i := range s.ports {
		p := &s.ports[i]
		p.settle()
		all := p.stats.Discarded()
		for prio := range pfc.Classes {
			q := &p.queues[prio].queue
			if n := p.stats.TxFrames[prio] + uint64(q.len()); p.enqueued[prio] != n {
				return fmt.Errorf("port %d priority %d: %d frames queued, %d sent or still there", i, prio, p.enqueued[prio], n)
			}
			after := p.stats.Discards[DropTail][prio] + p.stats.Discards[DropRing][prio] + p.stats.Discards[DropStorm][prio] + p.stats.Discards[DropLink][prio]
			if in, out := p.stats.RxFrames[prio]+p.copied[prio]+p.made[prio], p.admitted[prio]+all[prio]-after; in != out {
				return fmt.Errorf("port %d priority %d: %d frames received, copied or made, %d entered the buffer or were discarded", i, prio, in, out)
			}
			entered[prio] += p.admitted[prio]
			left[prio] += p.enqueued[prio] + after
			q.each(hold)
		}
		for _, r := range p.rings {
			if r == nil {
				continue
			}
			for h := r.head.Load(); h != r.tail.Load(); h++ {
				f := r.frames[h&uint64(len(r.frames)-1)]
				left[f.Prio]++
				hold(f)
			}
		}
	}
	for prio := range pfc.Classes {
		if entered[prio] != left[prio] {
			return fmt.Errorf("priority %d: %d frames entered the buffer, %d were queued or discarded", prio, entered[prio], left[prio])
		}
		for i := range s.ports {
			if got := s.ports[i].in.Bytes(uint8(prio)); got != held[i][prio] {
				return fmt.Errorf("port %d priority %d: %v accounted, %v buffered", i, prio, got, held[i][prio])
			}
		}
	}
	return nil
}

// Close frees what is queued.
func (s *Switch) Close() {
	for i := range s.ports {
		p := &s.ports[i]
		for q := range p.queues {
			for p.queues[q].len() > 0 {
				var f Frame
				p.queues[q].pop(&f)
				p.env.Free(f)
			}
		}
		for _, r := range p.rings {
			if r == nil {
				continue
			}
			for f, ok := r.pop(); ok; f, ok = r.pop() {
				p.env.Free(f)
			}
		}
	}
}
