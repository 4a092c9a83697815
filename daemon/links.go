package daemon

import (
	"errors"
	"slices"
	"sync"

	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// links are the states of the ports' links when they were last looked at, and
// how often they changed.
type links struct {
	sync.Mutex
	down        []bool
	downs       []uint64     // that the devices counted
	deviceRates []units.Rate // by the devices
	rates       []units.Rate // that are in force
	moved       []bool       // they have changed since the start
	changes     []uint64
	tenures     []uint64 // how many ports have come to a place, and gone
	shut        []bool   // by an operator
}

func (l *links) counts() []uint64 {
	l.Lock()
	defer l.Unlock()
	return slices.Clone(l.changes)
}

// ratesInForce are the links' rates; before the first check, the configured ones.
func (d *daemon) ratesInForce() []units.Rate {
	l := &d.links
	l.Lock()
	defer l.Unlock()
	if l.rates == nil {
		return slices.Clone(d.rates)
	}
	return slices.Clone(l.rates)
}

// watchLinks logs what links came up or went down, or have another rate, since it last looked, and
// updates the switch. A port counts as up when photon starts.
func (d *daemon) watchLinks() {
	devices := d.world.Devices()
	l := &d.links
	l.Lock()
	defer l.Unlock()
	d.knowLinks()
	for i := range devices {
		if port := devices[i].Port; d.port(port) != "" { // else it was removed since
			d.watchLink(port, &devices[i])
		}
	}
	if d.traffic != nil {
		d.traffic.setLink(!l.down[0])
	}
}

// knowLinks takes all links to be up until the devices are asked.
func (d *daemon) knowLinks() {
	l, n := &d.links, len(d.rates)
	if l.down != nil {
		return
	}
	l.down, l.downs, l.changes, l.shut = make([]bool, n), make([]uint64, n), make([]uint64, n), make([]bool, n)
	l.tenures = make([]uint64, n)
	l.deviceRates, l.rates, l.moved = make([]units.Rate, n), slices.Clone(d.rates), make([]bool, n)
	if d.sw != nil {
		for i := range d.loaded.devices {
			l.deviceRates[i] = d.loaded.devices[i].Rate
		}
	}
}

func (d *daemon) watchLink(i int, s *dpdk.DeviceStats) {
	l := &d.links
	if l.shut[i] {
		d.enforceShut(i, s)
		return
	}
	// A link that went down and came up since has changed although it looks the same: both ends have
	// forgotten each other's pauses.
	missed := s.Downs - l.downs[i]
	if !l.down[i] && !s.LinkUp && missed > 0 {
		missed-- // this change is seen
	}
	l.downs[i] = s.Downs
	another := s.LinkUp && s.Rate > 0 && s.Rate != l.deviceRates[i]
	if missed > 0 {
		l.changes[i] += 2 * missed
		d.log.Warnf("port %s: link down and up again, %d times since the last look", d.port(i), missed)
		if !l.down[i] {
			d.logLink(i, dataplane.LinkState{})
			if s.LinkUp {
				d.logLink(i, dataplane.LinkState{Up: true})
			}
		}
	}
	if s.LinkUp == l.down[i] {
		l.down[i] = !s.LinkUp
		l.changes[i]++
		d.logLink(i, dataplane.LinkState{Up: s.LinkUp}) // first: who reads the log may rely on it
		if s.LinkUp {
			d.log.Infof("port %s: link up", d.port(i))
		} else {
			d.log.Warnf("port %s: link down", d.port(i))
		}
	}
	if another {
		l.deviceRates[i] = s.Rate
		d.follow(i)
	}
}

// follow has the switch go by the rate that a port's device says now: its headroom, pauses, congestion
// points and pace. The caller holds the lock of the links.
func (d *daemon) follow(i int) {
	if d.sw == nil {
		return
	}
	l := &d.links
	d.loaded.Lock()
	rate, headroom := d.loaded.conf.LinkAt(i, l.deviceRates[i], d.sw.Cell())
	d.loaded.Unlock()
	if rate == l.rates[i] {
		return // it is configured
	}
	state := dataplane.LinkState{Up: !l.down[i], Rate: rate, Headroom: headroom}
	err := d.setLink(i, state)
	if errors.Is(err, dataplane.ErrBuffer) { // it has to do with what it has
		d.log.Warnf("port %s: %v; until there is more, lossless frames may be lost when its peer is paused (`buffer:`, and start again)", d.port(i), err)
		state.Headroom = 0
		err = d.setLink(i, state)
	}
	if err != nil {
		d.log.Warnf("port %s: %v", d.port(i), err)
		return
	}
	l.rates[i], l.moved[i] = rate, true
	d.loaded.Lock()
	defer d.loaded.Unlock()
	var e *config.Error
	if errors.As(d.loaded.conf.SchemeAt(d.line, rate), &e) { // its line is that of the scheme, with which nothing is wrong
		d.log.Warnf("port %s: %v: senders leave this link out", d.port(i), e.Err)
	}
	d.gaps(d.loaded.conf, d.loaded.devices)
	if state.Headroom > 0 {
		d.log.Infof("port %s: the link has %v, headroom %v", d.port(i), rate, headroom)
	} else {
		d.log.Infof("port %s: the link has %v", d.port(i), rate)
	}
}

// logLink is setLink; what goes wrong is in the log.
func (d *daemon) logLink(port int, state dataplane.LinkState) {
	if err := d.setLink(port, state); err != nil {
		d.log.Warnf("port %s: %v", d.port(port), err)
	}
}

// setLink updates the switch, if the node is one. No reload may happen in between.
func (d *daemon) setLink(port int, state dataplane.LinkState) error {
	if d.sw == nil {
		return nil
	}
	d.loaded.Lock()
	defer d.loaded.Unlock()
	return d.setLinkNow(port, state)
}

// setLinkNow is setLink for callers that hold the locks of links and configuration.
func (d *daemon) setLinkNow(port int, state dataplane.LinkState) error {
	state.Shut = d.links.shut[port]
	change, err := d.sw.PrepareLink(port, state)
	if err != nil {
		return err
	}
	ending := d.loaded.ending
	d.world.DoBriefly(func(now units.Time) {
		d.sw.SetLink(now, change)
		if state.Rate > 0 {
			d.world.SetRate(fabric.End{Node: d.id, Port: port}, state.Rate)
		}
		if ending {
			d.sw.StopPeers(now) // which other thresholds ended
		}
	})
	return nil
}

// gaps works out how far apart polls may be, by the port that stands the least.
func (d *daemon) gaps(conf *config.Switch, devices []dpdk.Device) (least config.Gap) {
	var b dataplane.BufferState
	d.world.DoBriefly(func(units.Time) { b = d.sw.Buffer() })
	for i := range devices {
		if conf.At(i) == nil {
			continue
		}
		rate := devices[i].Rate
		if d.links.deviceRates != nil && d.links.deviceRates[i] > 0 {
			rate = d.links.deviceRates[i]
		}
		for prio := range pfc.Classes {
			if b.Ports[i]>>prio&1 == 0 {
				continue
			}
			g := conf.GapAt(i, rate, devices[i].Ring, b.Thresholds[i][prio].Headroom, d.sw.Cell())
			if least.Ring == 0 || g.Survived() < least.Survived() {
				least = g
			}
		}
	}
	d.gap.Store(int64(least.Survived()))
	return least
}

// logGap logs what poll gap the switch survives.
func (d *daemon) logGap(g config.Gap) {
	switch {
	case g == config.Gap{}: // nothing to survive
	case g.Short():
		d.log.Warn(g)
	default:
		d.log.Info(g)
	}
}
