package dataplane

import (
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// refuseBurst discards the frames that a port does not take: all of them, or those of some priorities. The others are
// received one by one.
//
// A port that is shut takes nothing: not all devices can take their links down, and one that can still delivers what was
// on its way. Its peer counts as absent: no address is learned from it and no pause obeyed. The watchdog may refuse the
// priorities in which the peer sends a pause storm. Frames of the link itself are of none and still count: LLDP, probes,
// and the pauses, because they show when the storm ends.
func (s *Switch) refuseBurst(now units.Time, p *switchPort, burst []fabric.Frame) {
	for i := range burst {
		f, of := &burst[i], burst[i] // the priority and digest of a received frame are determined again
		var h wire.Header
		b := p.env.Bytes(f)
		why, whole := fabric.DropStorm, wire.Parse(b, &h)
		if whole {
			p.classify(&of, &h)
		} else {
			of.Prio, why = 0, fabric.DropMalformed
		}
		if !p.off && (!whole || p.refused>>of.Prio&1 == 0 || h.Dst.LinkLocal() || h.EtherType == wire.TypeMACControl) {
			s.catchUp(now, p.worker)
			s.receiveOne(now, p, f)
			continue
		}
		if p.off && whole {
			why = fabric.DropLink
		}
		of.In = uint16(p.number)
		p.received(&of)
		if p.credits != nil && p.laneOf(b) >= 0 {
			p.arrives(of.Prio, of.Len)
		}
		s.discard(now, p, &of, why)
	}
}
