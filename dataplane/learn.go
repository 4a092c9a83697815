package dataplane

import (
	"sync/atomic"

	"photon/units"
	"photon/wire"
)

// learned is an address that a worker saw at a port.
type learned struct {
	mac  wire.MAC
	port uint16
	vlan uint16
}

// learnRing carries what a worker learned to the writer of the forwarding
// database. One producer, one consumer; what does not fit is learned from a
// later frame.
type learnRing struct {
	items [256]learned
	head  atomic.Uint32
	_     [60]byte
	tail  atomic.Uint32
}

func newLearnRing() *learnRing { return &learnRing{} }

func (r *learnRing) push(l learned) {
	if t := r.tail.Load(); t-r.head.Load() < uint32(len(r.items)) {
		r.items[t%uint32(len(r.items))] = l
		r.tail.Store(t + 1)
	}
}

func (r *learnRing) pop() (l learned, ok bool) {
	h := r.head.Load()
	if h == r.tail.Load() {
		return learned{}, false
	}
	l = r.items[h%uint32(len(r.items))]
	r.head.Store(h + 1)
	return l, true
}

// learn remembers that mac is behind p. Worker 0 writes the forwarding
// database; the others post to it.
func (s *Switch) learn(now units.Time, p *switchPort, in *lan, mac wire.MAC) {
	switch {
	case in.fdb.known(mac, p.number, now):
	case p.worker.learned == nil:
		in.fdb.learn(mac, p.number, now)
	default:
		p.worker.learned.push(learned{mac, uint16(p.number), in.id})
	}
}

// takeLearned writes what the other workers posted. Worker 0 calls it. The VLANs
// may have changed meanwhile.
func (s *Switch) takeLearned(now units.Time) {
	for _, w := range s.workers[1:] {
		for l, ok := w.learned.pop(); ok; l, ok = w.learned.pop() {
			if in := s.lans.at(l.vlan); in != nil && in.forms[l.port] != absent {
				in.fdb.learn(l.mac, int(l.port), now)
			}
		}
	}
}
