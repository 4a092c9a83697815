package dataplane

import (
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// turnAway discards what comes through a port of which nothing is taken, or nothing of some priorities, and has the
// rest received, one by one.
//
// A port that is shut takes nothing: not all devices can take their links down, and from one that can comes what was on
// its way. Its peer is taken for one that is not there, so that nothing is learned from it, and no pause obeyed. A
// watchdog may refuse the priorities in which the peer storms; its pauses still count, for they tell when that ends.
func (s *Switch) turnAway(now units.Time, p *switchPort, burst []Frame) {
	for i := range burst {
		f, of := &burst[i], burst[i] // what is found out about a frame that is received is found out anew
		var h wire.Header
		b := p.env.Bytes(f)
		why, whole := DropStorm, wire.Parse(b, &h)
		if whole {
			p.classify(&of, &h)
		} else {
			of.Prio, why = 0, DropMalformed
		}
		if !p.off && (!whole || p.refused>>of.Prio&1 == 0 || h.EtherType == wire.TypeMACControl || h.EtherType == pfc.ProbeType) {
			s.catchUp(now, p.worker)
			s.receiveOne(now, p, f)
			continue
		}
		if p.off && whole {
			why = DropLink
		}
		of.In = uint16(p.number)
		p.received(&of)
		s.discard(now, p, &of, why)
	}
}
