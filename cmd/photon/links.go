package main

import (
	"photon/dataplane"
	"slices"
	"sync"

	"photon/units"
)

// links are the states of the ports' links when they were last looked at, and
// how often they changed.
type links struct {
	sync.Mutex
	down    []bool
	changes []uint64
}

func (l *links) counts() []uint64 {
	l.Lock()
	defer l.Unlock()
	return slices.Clone(l.changes)
}

// watchLinks logs what links came up or went down since it last looked, and
// tells the switch. A port is taken to be up when photon starts.
func (d *daemon) watchLinks() {
	devices := d.world.Devices()
	l := &d.links
	l.Lock()
	defer l.Unlock()
	if l.down == nil {
		l.down, l.changes = make([]bool, len(devices)), make([]uint64, len(devices))
	}
	for i := range devices {
		up := devices[i].LinkUp
		if up != l.down[i] {
			continue
		}
		if err := d.setLink(i, up); err != nil {
			d.log.Warnf("port %s: %v", d.ports[i], err)
			continue
		}
		l.down[i] = !up
		l.changes[i]++
		if up {
			d.log.Infof("port %s: link up", d.ports[i])
		} else {
			d.log.Warnf("port %s: link down", d.ports[i])
		}
	}
}

// setLink tells the switch, if it is one. A reload must not come in between.
func (d *daemon) setLink(port int, up bool) error {
	if d.sw == nil {
		return nil
	}
	d.loaded.Lock()
	defer d.loaded.Unlock()
	change, err := d.sw.PrepareLink(port, dataplane.LinkState{Up: up})
	if err != nil {
		return err
	}
	d.world.DoBriefly(func(now units.Time) { d.sw.SetLink(now, change) })
	return nil
}
