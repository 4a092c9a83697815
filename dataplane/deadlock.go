package dataplane

import (
	"math/bits"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// A deadlock is a cycle of egress queues, each paused by the switch to which it
// leads because that one cannot send what came from it. A caller of
// LookForDeadlocks makes the switch send probes along such chains at regular times; a
// probe that comes back has found a cycle. The workers only carry probes.

// maxProbes is how many probes wait at a port in each direction. Others
// are lost: probes are repeated.
const maxProbes = 16

// probes are what a port received, and is to send.
type probes struct {
	in, out [maxProbes]pfc.Probe
	ins     uint8
	outs    uint8
	dead    uint8 // priorities whose queues were found in a deadlock that lasts
	count   [pfc.Classes]uint64
}

// Deadlock is a queue that, in a cycle, waits for itself.
type Deadlock struct {
	Port, Priority int
	Switches       int // in the cycle
}

// probed keeps a probe that was received for LookForDeadlocks, and reports whether the frame is one.
func (s *Switch) probed(p *switchPort, h *wire.Header, b []byte) bool {
	if s.config.Deadlock <= 0 || h.EtherType != pfc.ProbeType || h.Payload != wire.EthernetLen || h.Dst != pfc.ProbeDestination {
		return false
	}
	p.stats.RxControl++
	x := &p.probes
	var probe pfc.Probe
	switch {
	case !probe.Decode(b):
		p.stats.BadControl++
	case x.ins < maxProbes:
		x.in[x.ins] = probe
		x.ins++
	}
	return true
}

// nextOwn makes the frame of a probe or an announcement that is to be sent, if there is one.
func (p *switchPort) nextOwn(f *fabric.Frame) bool {
	x := &p.probes
	switch {
	case p.outs == 0:
		return false
	case x.outs == 0:
		if !p.makeAnnouncement(f) {
			return false
		}
	case !p.env.AllocAt(f, pfc.ProbeLen):
		return false
	default:
		x.outs--
		x.out[x.outs].Encode(p.env.Bytes(f), p.config.MAC)
	}
	p.outs--
	p.gate()
	p.sendsOfLink(f)
	return true
}

func (p *switchPort) sendProbe(now units.Time, probe pfc.Probe) {
	if x := &p.probes; x.outs < maxProbes {
		x.out[x.outs] = probe
		x.outs++
		p.outs++
		p.gate()
		p.env.Wake(p.number, now)
	}
}

// stuck reports whether a queue has frames and was paused without a break for as
// long as the configuration says.
func (s *Switch) stuck(now units.Time, p *switchPort, prio int) bool {
	from, until := p.stops().Last(prio)
	return p.queues[prio].frames > 0 && until == units.Never && p.halted>>prio&1 != 0 && now-from >= s.config.Deadlock
}

// waitsFor is how many bytes of buffer the frames of a queue take that came through a port.
func (p *switchPort) waitsFor(prio int, in uint16) (bytes units.Size) {
	p.queues[prio].each(func(f *fabric.Frame) {
		if f.In == in {
			bytes += units.Size(p.sw.cost(f.Len))
		}
	})
	return bytes
}

// StaysStopped reports whether the peer of a port stays stopped for a priority as long as some ports send nothing of it:
// frames of the peer in their queues take more than XON.
func (s *Switch) StaysStopped(in, prio int, silent func(port int) bool) bool {
	kept := units.Size(0)
	for i := range s.ports {
		if silent(i) {
			kept += s.ports[i].waitsFor(prio, uint16(in))
		}
	}
	return kept > s.ports[in].grants().XON(uint8(prio))
}

// LookForDeadlocks sends probes from queues that are stuck and sends on those
// that were received. It returns the deadlocks that were found since the last
// look. It is called between bursts, about as often as a queue is to be paused
// before it counts as stuck. It does nothing if the configuration has no such time.
func (s *Switch) LookForDeadlocks(now units.Time) (found []Deadlock) {
	if s.config.Deadlock <= 0 {
		return nil
	}
	for i := range s.ports {
		p := &s.ports[i]
		for rest := p.probes.dead; rest != 0; rest &= rest - 1 {
			if prio := bits.TrailingZeros8(rest); !s.stuck(now, p, prio) {
				p.probes.dead &^= 1 << prio
			}
		}
	}
	for i := range s.ports {
		p := &s.ports[i]
		for _, probe := range p.probes.in[:p.probes.ins] {
			if d, ok := s.follow(now, p, probe); ok {
				found = append(found, d)
			}
		}
		p.probes.ins = 0
	}
	for i := range s.ports {
		p := &s.ports[i]
		for rest := s.config.LosslessAt(i) & p.stops().Paused(); rest != 0; rest &= rest - 1 {
			if prio := bits.TrailingZeros8(rest); s.stuck(now, p, prio) {
				p.sendProbe(now, pfc.Probe{Switch: s.config.ID, Port: uint16(i), Priority: uint8(prio)})
			}
		}
	}
	return found
}

// DeadlockTime is how long a queue is paused before it may be in a deadlock; 0:
// deadlocks are not looked for. It is called between bursts.
func (s *Switch) DeadlockTime() units.Time { return s.config.Deadlock }

// follow sends a probe that a port received on to those that keep that port's
// peer paused, and reports whether it is back where it began.
func (s *Switch) follow(now units.Time, from *switchPort, probe pfc.Probe) (found Deadlock, ok bool) {
	prio := int(probe.Priority)
	if from.grants().PeerStopped()>>prio&1 == 0 {
		return found, false // the queue that sent the probe was resumed meanwhile
	}
	if !s.StaysStopped(from.number, prio, func(port int) bool { return s.stuck(now, &s.ports[port], prio) }) {
		return found, false
	}
	for i := range s.ports {
		p := &s.ports[i]
		if !s.stuck(now, p, prio) || p.waitsFor(prio, uint16(from.number)) == 0 {
			continue
		}
		if probe.Switch == s.config.ID && int(probe.Port) == i {
			if x := &p.probes; x.dead>>prio&1 == 0 {
				x.dead |= 1 << prio
				x.count[prio]++
				found, ok = Deadlock{Port: i, Priority: prio, Switches: int(probe.Hops) + 1}, true
			}
			continue
		}
		if on := probe; on.Hops+1 < pfc.MaxHops {
			on.Hops++
			p.sendProbe(now, on)
		}
	}
	return found, ok
}
