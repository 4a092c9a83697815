//go:build dpdk

package dpdk

import (
	"sync/atomic"

	"photon/fabric"
)

// How long frames are in a node is found out of one frame in a millisecond and worker: its slot and the port through
// which it came are kept, and whichever worker sees a frame of that slot and port leave takes the time. While none is on
// its way, no frame is checked for it.

const (
	samplesASecond = 1000 // of a worker
	lostAfter      = 1    // seconds in which a frame has left, or is not looked for any more
)

// sighting is the frame that a worker follows. Any worker may see it leave.
type sighting struct {
	_     [64]byte
	frame atomic.Uint64 // its identity; 0: none is followed
	at    uint64        // time stamp of the poll that took it
	_     [64]byte
}

// identity is what a frame keeps in a node, other than its bytes; never 0.
func identity(ref uint32, in int) uint64 { return 1<<48 | uint64(in)<<32 | uint64(ref) }

// follow chooses a frame, if it is time for another, and gives up one that has not been seen for long.
func (k *worker) follow() {
	s := &k.sighting
	if followed := s.frame.Load(); followed != 0 {
		if k.last-s.at > lostAfter*k.hz {
			s.frame.CompareAndSwap(followed, 0)
		}
		return
	}
	if k.last-k.chosen < k.hz/samplesASecond {
		return
	}
	for i := range k.ports { // ports take turns, or one port might always have its turn when no frame is followed, and another never
		p := k.ports[(k.choices+uint64(i))%uint64(len(k.ports))]
		if n := uint64(p.c.rx_n); n > 0 && p.timed {
			k.chosen, s.at = k.last, k.last
			k.choices += uint64(i) + 1
			s.frame.Store(identity(p.rx[k.rounds%n].Ref, p.number))
			return
		}
	}
}

// watching reports whether any worker follows a frame.
func (w *world) watching() bool {
	for _, k := range w.workers {
		if k.sighting.frame.Load() != 0 {
			return true
		}
	}
	return false
}

// abandon ends the search for a slot that has another frame now: the one before was discarded.
func (k *worker) abandon(p *port, burst []fabric.Frame) {
	for _, other := range k.world.workers {
		followed := other.sighting.frame.Load()
		if followed == 0 || other == k && other.sighting.at == k.last {
			continue // it is of this round
		}
		for i := range burst {
			if burst[i].Ref == uint32(followed) {
				other.sighting.frame.CompareAndSwap(followed, 0)
			}
		}
	}
}

// see takes the time of a frame that is followed, if it is among those that leave. It counts once the device has it,
// that is at the next poll.
func (k *worker) see(p *port, burst []fabric.Frame) {
	for _, other := range k.world.workers {
		followed := other.sighting.frame.Load()
		if followed == 0 {
			continue
		}
		for i := range burst {
			if identity(burst[i].Ref, int(burst[i].In)) == followed {
				if at := other.sighting.at; other.sighting.frame.CompareAndSwap(followed, 0) {
					k.departures = append(k.departures, departure{p, at})
				}
				break
			}
		}
	}
}

// departure is a frame whose time ends with this round.
type departure struct {
	port *port
	at   uint64
}

// reckon counts those that the devices have now.
func (k *worker) reckon(tsc uint64) {
	for _, s := range k.departures {
		r := &s.port.residence
		r.Counts[k.polls.bucket(tsc-s.at)]++
		r.Time += k.polls.wall(tsc - s.at)
	}
	k.departures = k.departures[:0]
}

func (w *world) TimeFrames(id int) {
	w.nodes[id].timed = true
	for _, p := range w.nodes[id].port {
		p.timed = true
	}
}

func (w *world) CopyResidences(id int, all []Residence) {
	for i := range all {
		all[i] = w.nodes[id].port[i].residence
	}
}
