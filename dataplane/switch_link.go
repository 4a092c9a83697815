package dataplane

import (
	"photon/pfc"
	"photon/units"
)

// LinkChange is a link that came up or went down, ready to be told to a switch.
type LinkChange struct {
	port   int
	up     bool
	lans   *lans   // without what was learned at a port that is down; nil: they stay
	groups [][]hop // of the routes
}

// PrepareLink gets ready what SetLink needs. It may be called while the switch
// runs, by the one who calls SetLink.
func (s *Switch) PrepareLink(port int, up bool) (*LinkChange, error) {
	c := &s.config
	ch := &LinkChange{port: port, up: up}
	ch.groups = c.groups(func(other uint16) bool {
		if int(other) == port {
			return up
		}
		return s.up(other)
	})
	if up {
		return ch, nil
	}
	var err error
	if ch.lans, err = c.newLANs(); err != nil {
		return nil, err
	}
	ch.lans.adopt(s.lans, port)
	return ch, nil
}

// SetLink tells that the link of a port is up or down. It is called between
// bursts. Without a link nothing waits: what is queued is discarded, so that it
// holds no buffer, addresses learned there are forgotten, and the peer's pauses
// are void.
func (s *Switch) SetLink(now units.Time, ch *LinkChange) {
	p := &s.ports[ch.port]
	if p.down == !ch.up {
		return
	}
	p.wakeUp(now)
	p.down = !ch.up
	s.routes = s.routes.regroup(ch.groups)
	if p.down {
		s.setLANs(ch.lans)
		for prio := range pfc.Classes {
			s.flush(now, p, prio, DropLink)
		}
		resumed := p.eg.Clear(now)
		p.note()
		p.resumed(now, resumed)
		p.watch(now)
	}
	p.shutUp()
	p.env.Wake(p.number, now)
}

// shutUp notes which queues take no frames.
func (p *switchPort) shutUp() {
	p.shut = p.dog.Dropping()
	if p.down {
		p.shut = 0xFF
	}
	p.reopen()
}

// refuse discards an admitted frame whose queue takes none.
func (s *Switch) refuse(now units.Time, p *switchPort, f Frame) {
	why := DropStorm
	if p.down {
		why = DropLink
	}
	p.stats.Discards[why][f.Prio]++
	s.release(now, &f)
	p.env.Free(f)
}

// Hold has the switch pause its peers' lossless priorities from now on, so that
// its queues run empty. It is called between bursts.
func (s *Switch) Hold(now units.Time) {
	for i := range s.ports {
		s.ports[i].in.Hold()
		s.ports[i].env.Wake(i, now)
	}
}

// Resume ends what Hold began: thresholds are again what they were. It is called
// between bursts.
func (s *Switch) Resume(now units.Time) {
	for i := range s.ports {
		s.configure(&s.ports[i])
		s.ports[i].env.Wake(i, now)
	}
	s.setMoving()
}

// configure gives a port's ingress the thresholds of the configuration.
func (s *Switch) configure(p *switchPort) {
	var t [pfc.Classes]pfc.Thresholds
	for prio := range pfc.Classes {
		t[prio] = s.config.thresholds(p.number, prio)
	}
	p.in.Configure(t, s.config.Pause, p.config.Link.Rate)
}

// Queued is how many frames are in the switch. It is called between bursts.
func (s *Switch) Queued() (n int) {
	for i := range s.ports {
		p := &s.ports[i]
		for q := range p.queues {
			n += p.queues[q].len()
		}
		for _, r := range p.rings {
			if r != nil {
				n += int(r.tail.Load() - r.head.Load())
			}
		}
	}
	return n
}
