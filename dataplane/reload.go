package dataplane

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"photon/pfc"
	"photon/units"
)

// Change is a configuration that a running switch can take over.
type Change struct {
	config SwitchConfig
	points [][pfc.Classes]point // by port; nil: they stay
	lans   *lans                // nil: they stay
	routes *routes              // nil: the switch does not route
}

// ErrFixed is wrapped by Prepare's error if the configuration differs in what a
// running switch cannot change.
var ErrFixed = errors.New("cannot change while the switch runs")

// Prepare checks a configuration and builds what it needs, so that Apply has
// little to do. It may be called while the switch runs, by the one who calls
// Apply. Without c.CP the congestion points stay as they are, with their state.
// Ports, links, workers, lossless priorities, the MTU and the size of the
// forwarding database cannot change.
func (s *Switch) Prepare(c SwitchConfig) (*Change, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if len(c.Ports) != len(s.config.Ports) {
		return nil, fmt.Errorf("the number of ports %w", ErrFixed)
	}
	for i := range c.Ports {
		if a, b := &c.Ports[i], &s.config.Ports[i]; a.Link != b.Link || a.Worker != b.Worker || a.MAC != b.MAC {
			return nil, fmt.Errorf("link, worker and address of port %d %w", i, ErrFixed)
		}
	}
	if c.Lossless != s.config.Lossless || c.Cell != s.config.Cell || c.MTU != s.config.MTU || c.FDBSize != s.config.FDBSize || c.Salt != s.config.Salt {
		return nil, fmt.Errorf("lossless priorities, mtu, salt and size of the forwarding database: %w", ErrFixed)
	}
	ch := &Change{config: c}
	ch.config.ID = s.config.ID
	if c.CP == nil {
		ch.config.CP = s.config.CP
	} else {
		ch.points = make([][pfc.Classes]point, len(c.Ports))
		for i := range ch.points {
			ch.points[i] = c.newPoints(i, s.rate(&s.ports[i]))
		}
	}
	old := &s.config
	if !reflect.DeepEqual(c.Static, old.Static) || !reflect.DeepEqual(c.VLANs, old.VLANs) || !slices.EqualFunc(c.Ports, old.Ports, func(a, b PortConfig) bool { return a.Accept == b.Accept }) || c.Router.MAC != old.Router.MAC {
		var err error
		if ch.lans, err = c.newLANs(s.up, &s.changes); err != nil {
			return nil, err
		}
		// What is learned between now and Apply is learned again from the next frame.
		ch.lans.adopt(s.lans, noPort)
	}
	ch.routes = c.newRoutes(s.up, s.routes, len(s.workers))
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
	s.config = ch.config
	c := &s.config
	s.learn = c.Learn
	s.pool.Resize(c.Buffer - s.reserved())
	s.setWeights()
	s.setTags()
	s.setLANs(cmp.Or(ch.lans, s.lans))
	for _, x := range s.lans.all {
		x.fdb.age = uint32(c.Age / units.Second)
	}
	s.leaveNeighbours(ch.routes)
	s.routes = ch.routes
	s.startAsking(now)
	for i := range s.ports {
		p := &s.ports[i]
		p.config = &c.Ports[i]
		p.buckets.set(p.config.Flood, c.Router.ICMP.limit())
		if ch.points != nil {
			p.setPoints(ch.points[i])
			p.note()
		}
		s.configure(p)
	}
	for i := range s.ports { // what a watchdog discards was charged to any port
		s.setWatchdog(now, &s.ports[i])
		s.ports[i].env.Wake(i, now) // whatever of its timers is earlier now
	}
	s.setMoving()
	s.changes.Add(1)
}
