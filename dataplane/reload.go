package dataplane

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"slices"

	"photon/pfc"
	"photon/units"
)

// Change is a configuration that a running switch can take over.
type Change struct {
	config SwitchConfig
	points []*[pfc.Classes]point // by port; nil: they stay
	wreds  []wreds               // by port; those whose parameters stay are the switch's own
	paths  []*paths              // by port; nil: they stay
	lans   *lans                 // nil: they stay
	routes *routes               // nil: the switch does not route
}

// ErrFixed is wrapped by Prepare's error if the configuration differs in what a
// running switch cannot change.
var ErrFixed = errors.New("cannot change while the switch runs")

// Prepare checks a configuration and builds what it needs, so that Apply has
// little to do. It may be called while the switch runs, by the one who calls
// Apply. Without c.CP the congestion points stay as they are, with their state.
// A place for a port that was vacant may have one, and the other way round (see Vacant); beyond that
// ports, links, workers, the MTU and the size of the
// forwarding database cannot change.
func (s *Switch) Prepare(c SwitchConfig) (*Change, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if len(c.Ports) != len(s.config.Ports) {
		return nil, fmt.Errorf("the number of places for ports %w", ErrFixed)
	}
	if err := s.checkPlaces(&c); err != nil {
		return nil, err
	}
	for i := range c.Ports {
		if a, b := &c.Ports[i], &s.config.Ports[i]; a.Vacant || b.Vacant {
			continue
		} else if a.Link != b.Link || a.Worker != b.Worker || a.MAC != b.MAC {
			return nil, fmt.Errorf("link, worker and address of port %d %w", i, ErrFixed)
		}
	}
	if o := &s.config; c.Cell != o.Cell || !reflect.DeepEqual(c.Credits, o.Credits) || c.MTU != o.MTU ||
		c.FDBSize != o.FDBSize || c.Actions != o.Actions || c.Salt != o.Salt {
		return nil, fmt.Errorf("cells, credits, mtu, salt and size of the forwarding database: %w", ErrFixed)
	}
	if s.credited && c.Lossless != s.config.Lossless {
		return nil, fmt.Errorf("lossless priorities of links with credits: %w", ErrFixed)
	}
	if need := s.reservedBy(&c); need > c.Buffer {
		return nil, fmt.Errorf("%w: with the headroom of their links all ports need %v; the buffer is %v", ErrBuffer, need, c.Buffer)
	}
	ch := &Change{config: c}
	ch.config.ID = s.config.ID
	old := &s.config
	if c.CP == nil {
		ch.config.CP = old.CP
	}
	ch.points = make([]*[pfc.Classes]point, len(c.Ports))
	ch.wreds = make([]wreds, len(c.Ports))
	for i := range c.Ports {
		a, b, p := &c.Ports[i], &old.Ports[i], &s.ports[i]
		if a.Vacant {
			continue
		}
		ch.wreds[i] = newWREDs(i, a, &p.wred, b)
		kept := c.judged() & old.judged() // what these congestion points know
		if b.Vacant || c.CP != nil {
			kept = 0
		} else if c.judged() == old.judged() {
			continue
		}
		ch.points[i] = ch.config.newPoints(i, cmp.Or(p.link.Rate, a.Link.Rate))
		for ; kept != 0; kept &= kept - 1 {
			prio := bits.TrailingZeros8(kept)
			ch.points[i][prio] = p.points[prio]
		}
	}
	if c.Paths != old.Paths {
		ch.paths = make([]*paths, len(c.Ports))
		for i := range ch.paths {
			ch.paths[i] = newPaths(&c, i)
		}
	}
	up := func(port uint16) bool { // then
		return !c.Ports[port].Vacant && (old.Ports[port].Vacant || s.up(port))
	}
	if !reflect.DeepEqual(c.Static, old.Static) || !reflect.DeepEqual(c.VLANs, old.VLANs) || !slices.EqualFunc(c.Ports, old.Ports, func(a, b PortConfig) bool { return a.Accept == b.Accept && a.Vacant == b.Vacant }) || c.Router.MAC != old.Router.MAC {
		var err error
		if ch.lans, err = c.newLANs(up, &s.counts); err != nil {
			return nil, err
		}
		// What is learned between now and Apply is learned again from the next frame.
		ch.lans.adopt(s.lans, noPort)
	}
	ch.routes = c.newRoutes(up, s.routes, len(s.workers))
	return ch, nil
}

// Apply takes a prepared configuration over. It is called between bursts. No
// frame is lost by it: what is queued stays queued, and what was admitted stays
// admitted.
func (s *Switch) Apply(now units.Time, ch *Change) {
	for i := range s.ports { // what was until now goes by the configuration of until now
		if p := &s.ports[i]; now >= p.attend {
			p.attendTo(now)
		}
	}
	s.workers[0].notePooled(s.pool)
	s.setAside(nil)
	s.leave(now, &ch.config)
	again := s.empty(now, &ch.config)
	old, judged := s.config.Ports, s.config.Judged
	if s.config = ch.config; s.config.Judged != judged {
		s.recount()
	}
	s.setOwn()
	s.setLimits()
	c := &s.config
	for i := range s.ports {
		if old[i].Vacant && !c.Ports[i].Vacant {
			s.forget(&s.ports[i]) // what was counted there since
			s.ports[i].begin()
		}
	}
	s.learn = c.Learn
	s.resize()
	s.setWeights()
	s.setTags()
	s.setLANs(cmp.Or(ch.lans, s.lans))
	for _, x := range s.lans.all {
		x.fdb.SetAge(c.Age)
	}
	s.leaveNeighbours(ch.routes)
	s.routes = ch.routes
	s.assign()
	s.startNeighbours(now)
	for i := range s.ports {
		if old[i].Vacant != c.Ports[i].Vacant {
			s.askAgain(now, &s.ports[i])
		}
	}
	for i := range s.ports {
		p := &s.ports[i]
		p.config = &c.Ports[i]
		p.own()
		p.setShapers(&old[i])
		if ch.paths != nil {
			p.paths = ch.paths[i]
		}
		p.buckets.set(now, p.config.Flood, c.Router.ICMP.limit())
		if ch.points[i] != nil {
			p.setPoints(*ch.points[i])
		}
		p.wred = ch.wreds[i]
		p.refresh()
		s.configure(p)
	}
	again()
	s.setAside(c)
	for i := range s.ports { // a watchdog that looks for the first time may discard what is in a queue
		if p := &s.ports[i]; !p.config.Vacant {
			p.reobey(now)
		}
	}
	for i := range s.ports { // what a watchdog discards was charged to any port
		if p := &s.ports[i]; !p.config.Vacant {
			s.setWatchdog(now, p)
			p.ingress.Next(now) // whether an XOFF is due by what is configured now: if none is, frames may pass the queues
			p.gate()
			p.env.Wake(i, now) // whatever of its timers is earlier now
		}
	}
	s.setMoving()
	s.counts.Changes.Add(1)
}
