package dataplane

import (
	"cmp"
	"fmt"
	"math/bits"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// LinkState is what a port has for a link.
type LinkState struct {
	Up       bool
	Shut     bool       // by an operator: it has none, whatever its device says, and what comes is discarded
	Rate     units.Rate // 0: as it was
	Headroom units.Size // of each lossless priority, for that rate; 0: as it was
}

// LinkChange is a link that came up, went down or has another rate, prepared for a switch.
type LinkChange struct {
	port   int
	state  LinkState
	lans   *lans   // with the groups of ports that have a link, without what was learned at one that has none
	groups [][]hop // of the routes
	points *[pfc.Classes]point
}

// PrepareLink gets ready what SetLink needs. It may be called while the switch
// runs, by the one who calls SetLink.
func (s *Switch) PrepareLink(port int, state LinkState) (*LinkChange, error) {
	c := &s.config
	if c.Ports[port].Vacant {
		return nil, fmt.Errorf("there is no port %d", port)
	}
	state.Up = state.Up && !state.Shut
	up := func(other uint16) bool {
		if int(other) == port {
			return state.Up
		}
		return s.up(other)
	}
	ch := &LinkChange{port: port, state: state, groups: c.groups(up, s.routes)}
	var err error
	if ch.lans, err = c.newLANs(up, &s.counts); err != nil {
		return nil, err
	}
	but := port
	if state.Up {
		but = noPort
	}
	ch.lans.adopt(s.lans, but)
	if r := state.Rate; r > 0 && r != s.rate(&s.ports[port]) {
		ch.points = c.newPoints(port, r)
	}
	if c.Headroom > 0 && state.Headroom > c.Headroom {
		return nil, fmt.Errorf("%w: port %d has a link of %v, for which a priority needs a headroom of %v; all ports share %v",
			ErrBuffer, port, state.Rate, state.Headroom, c.Headroom)
	}
	need := s.reserved()
	for rest := c.Accounts(port); rest != 0 && state.Headroom > 0 && c.Headroom == 0; rest &= rest - 1 {
		need += state.Headroom - s.thresholds(port, bits.TrailingZeros8(rest)).Headroom
	}
	if need > c.Buffer {
		return nil, fmt.Errorf("%w: port %d has a link of %v, for which all ports need %v; the buffer is %v", ErrBuffer, port, state.Rate, need, c.Buffer)
	}
	return ch, nil
}

// SetLink sets that the link of a port is up or down, or has another rate. It is called between
// bursts. Without a link nothing waits: what is queued is discarded, so that it holds no buffer, addresses
// learned there are forgotten, equal paths avoid it, and the peer's pauses are void. The peer of a new link
// learns at once of the pauses that last. At a port that is shut nothing is received either.
func (s *Switch) SetLink(now units.Time, ch *LinkChange) {
	p := &s.ports[ch.port]
	if now >= p.attend {
		p.attendTo(now)
	}
	s.workers[0].notePooled(s.pool)
	p.off = ch.state.Shut
	p.refresh()
	if ch.points != nil {
		p.link.Rate = ch.state.Rate
		p.egress.SetRate(ch.state.Rate)
		if p.credits != nil {
			p.credits.SetRate(ch.state.Rate)
		}
		p.setPoints(*ch.points)
	}
	if ch.state.Headroom > 0 {
		p.link.Headroom = ch.state.Headroom
		s.resize()
		s.wakePausing(now) // the pool may have more now
	}
	if ch.points != nil || ch.state.Headroom > 0 {
		s.configure(p)
	}
	if was := !p.down; was != ch.state.Up {
		p.down = was
		s.lans, s.routes = ch.lans, s.routes.regroup(ch.groups, len(s.workers))
		s.counts.Changes.Add(1)
		if p.down {
			for prio := range pfc.Classes {
				s.flush(now, p, prio, fabric.DropLink)
			}
			resumed := p.egress.Clear(now)
			p.refresh()
			p.resumed(now, resumed)
			p.watch(now)
		} else { // a pause that came meanwhile lasts: it may be the new peer's, which heard of the link before
			p.ingress.Relink(now)
		}
		if p.credits != nil {
			p.credits.Begin(now)
		}
		s.askAgain(now, p)
	}
	p.refresh()
	p.env.Wake(p.number, now)
}

// rate is that of a port's link.
func (s *Switch) rate(p *switchPort) units.Rate { return cmp.Or(p.link.Rate, p.config.Link.Rate) }

// thresholds are those in force of a lossless priority of a port.
func (s *Switch) thresholds(port, prio int) pfc.Thresholds {
	return s.thresholdsBy(&s.config, port, prio)
}

// thresholdsBy are those of a configuration with the links as they are.
func (s *Switch) thresholdsBy(c *SwitchConfig, port, prio int) pfc.Thresholds {
	t := c.thresholds(port, prio)
	if !s.credited {
		t.Headroom = cmp.Or(s.ports[port].link.Headroom, t.Headroom)
	}
	return t
}

// reserved is what is set aside: for the lossless priorities, and for queues.
func (s *Switch) reserved() units.Size { return s.reservedBy(&s.config) }

// reservedBy is what is set aside by a configuration with the links as they are.
func (s *Switch) reservedBy(c *SwitchConfig) units.Size {
	return c.reserved(func(port, prio int) pfc.Thresholds { return s.thresholdsBy(c, port, prio) })
}

// headroom is what is set aside for that of all ports and lossless priorities, and headrooms how much these may have.
func (s *Switch) headroom() units.Size { return cmp.Or(s.config.Headroom, s.headrooms()) }

func (s *Switch) headrooms() units.Size { return s.config.headrooms(s.thresholds) }

// resize gives the pools the sizes that follow from what is set aside.
func (s *Switch) resize() {
	s.pool.Resize(s.config.Buffer - s.reserved())
	s.heads.Resize(s.headroom())
}

// StopPeers has the switch pause its peers' lossless priorities from now on, so that
// its queues run empty. It is called between bursts.
func (s *Switch) StopPeers(now units.Time) {
	s.stopPeers(now, true)
}

// ResumePeers ends what StopPeers began. It is called between bursts.
func (s *Switch) ResumePeers(now units.Time) { s.stopPeers(now, false) }

func (s *Switch) stopPeers(now units.Time, stop bool) {
	for i := range s.ports {
		if p := &s.ports[i]; !p.config.Vacant {
			p.grants().StopPeer(stop)
			p.env.Wake(i, now)
		}
	}
}

// configure gives a port's ingress the thresholds of the configuration.
func (s *Switch) configure(p *switchPort) {
	var t [pfc.Classes]pfc.Thresholds
	for prio := range pfc.Classes {
		t[prio] = s.thresholds(p.number, prio)
	}
	p.ingress.Configure(t, s.config.Pause, s.rate(p))
}

// Queued is how many frames are in the switch. It is called between bursts.
func (s *Switch) Queued() (n int) {
	for i := range s.ports {
		for q := range s.ports[i].queues {
			n += int(s.ports[i].queues[q].frames)
		}
	}
	for _, w := range s.workers {
		for i := range w.outboxes {
			w.outboxes[i].each(func(*fabric.Frame) { n++ })
		}
		n += w.waits
	}
	return n
}
