package dataplane

import (
	"errors"
	"fmt"
	"slices"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// All that a switch has by port has its size from the start. So ports that come while it runs take places that
// were vacant, and those that go leave theirs: PortConfig.Vacant says which are, and Prepare and Apply take over what
// has changed. No worker serves a vacant place, and it is in no VLAN, route or group.
//
// Frames that came through a removed port are still forwarded, and accounted to its place. Until the last of them
// has left, the place takes no other port: see Vacant. Only packets that wait for a neighbour are discarded: they have
// no queue yet, and would have to be admitted again, for which the place has no buffer.

// gone are the counts of removed ports.
type gone struct {
	in, out        [pfc.Classes]uint64 // see sum
	losses, pauses uint64
	routed         uint64
}

// ErrPlace is wrapped by Prepare's error if a port is to be where frames of the one before still are.
var ErrPlace = errors.New("frames of the port that was there are still in the switch")

// Vacant returns the places where a port can be added. It is called between bursts, by the one who calls Prepare.
func (s *Switch) Vacant(now units.Time) (places []int) {
	s.applyReleases(now)
	for i := range s.ports {
		p := &s.ports[i]
		if !p.config.Vacant {
			continue
		}
		if !p.drained {
			p.drained = p.empty()
		}
		if p.drained {
			places = append(places, i)
		}
	}
	return places
}

// empty reports whether nothing is accounted to a port.
func (p *switchPort) empty() bool {
	for prio := range uint8(pfc.Classes) {
		if p.ingress.Bytes(prio) != 0 {
			return false
		}
	}
	return true
}

// has reports whether there is a port.
func (c *SwitchConfig) has(port uint16) bool {
	return int(port) < len(c.Ports) && !c.Ports[port].Vacant
}

// checkPlaces says which port of a new configuration cannot be added.
func (s *Switch) checkPlaces(c *SwitchConfig) error {
	for i := range c.Ports {
		switch p := &c.Ports[i]; {
		case p.Vacant || !s.config.Ports[i].Vacant:
		case p.Worker < 0 || p.Worker >= len(s.workers):
			return fmt.Errorf("port %d: there is no worker %d", i, p.Worker)
		case !s.ports[i].drained:
			return fmt.Errorf("port %d: %w", i, ErrPlace)
		}
	}
	return nil
}

// leave has the ports go that a new configuration does not have. What waits for them is discarded, so that it
// holds no buffer, wherever between two workers it is.
func (s *Switch) leave(now units.Time, to *SwitchConfig) {
	var left []*switchPort
	for i := range s.ports {
		if p := &s.ports[i]; to.Ports[i].Vacant && !p.config.Vacant {
			p.down, p.off = true, true
			p.refresh()
			left = append(left, p)
		}
	}
	if left == nil {
		return
	}
	s.takeAllOver(now)
	s.endWaits(now, to)
	for _, p := range left {
		for prio := range pfc.Classes {
			s.flush(now, p, prio, fabric.DropLink)
		}
	}
	s.applyReleases(now)
	for _, p := range left {
		s.forget(p)
	}
}

// forget makes a place vacant whose queues are empty.
func (s *Switch) forget(p *switchPort) {
	g := &s.gone
	p.sum(&g.in, &g.out)
	g.losses += p.losses()
	g.pauses += p.pauses()
	g.routed += p.stats.Routed
	p.stats = fabric.PortStats{}
	for prio := range p.queues {
		p.stats.LostAt[prio] = units.Never
		p.queues[prio] = queue{}
	}
	p.copied, p.made, p.taken = [pfc.Classes]uint64{}, [pfc.Classes]uint64{}, [pfc.Classes]uint64{}
	p.link, p.outs, p.probes, p.announcer, p.timerAt = LinkState{}, 0, probes{}, nil, units.Never
	p.sampler, p.sampled = nil, false
	p.ingress.Unlink()
	p.reset()
	p.setPoints([pfc.Classes]point{})
	p.wred = wreds{}
	p.refresh()
	p.drained = p.empty()
	p.env.SetReceivePaused(p.number, false)
	p.env.SetDue(p.number, units.Never)
}

// takeAllOver has what is on its way between workers arrive. They are at rest.
func (s *Switch) takeAllOver(now units.Time) {
	for _, w := range s.workers {
		queue := w.env.Queue
		w.env.Queue = fabric.QueueAll // no worker is there to empty exits
		for _, from := range s.workers {
			if from == w || from.outboxes == nil {
				continue
			}
			o := &from.outboxes[w.number]
			for o.publish(&from.store); o.taken.Load() != o.ready.Load(); o.publish(&from.store) {
				s.takeOver(now, w, o)
			}
		}
		w.env.Queue = queue
	}
}

// endWaits discards the packets that wait for neighbours and came through ports that go.
func (s *Switch) endWaits(now units.Time, to *SwitchConfig) {
	for _, w := range s.workers {
		end := func(f fabric.Frame) bool {
			if !to.Ports[f.Digest].Vacant {
				return false
			}
			w.waits--
			s.giveUp(now, &s.ports[f.Digest], &f)
			return true
		}
		for _, n := range s.neighbours() {
			n.waiting[w.number] = slices.DeleteFunc(n.waiting[w.number], end)
		}
		w.strays = slices.DeleteFunc(w.strays, end)
	}
}

// assign gives each worker its ports: those that exist, and then the removed ones to which frames are still accounted.
func (s *Switch) assign() {
	for _, w := range s.workers {
		w.ports = w.ports[:0]
	}
	for _, vacant := range []bool{false, true} {
		for i := range s.ports {
			if p := &s.ports[i]; !p.drained && s.config.Ports[i].Vacant == vacant {
				p.worker.ports = append(p.worker.ports, i)
			}
		}
	}
}
