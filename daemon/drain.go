package daemon

import (
	"time"

	"photon/units"
)

// DrainTime is how long a node that is to stop may take for what it holds.
const DrainTime = time.Second

// drain waits until a switch or a NIC has sent what it holds: the one pauses its
// peers' lossless priorities, the other takes nothing from its application. A host
// has nothing that waits: it stops at once.
func (d *daemon) drain() {
	var begin func(units.Time)
	var queued func() int
	switch {
	case d.sw != nil:
		begin, queued = d.sw.StopPeers, d.sw.Queued
	case d.nic != nil:
		begin, queued = d.nic.Drain, d.nic.Queued
	default:
		return
	}
	d.loaded.Lock()
	d.loaded.ending = true // a reload or a collection would end the pause; links are looked at
	d.world.DoBriefly(begin)
	d.loaded.Unlock()
	d.announceShutdown()
	for deadline := time.Now().Add(DrainTime); ; time.Sleep(time.Millisecond) {
		left, idle := 0, false
		d.world.DoBriefly(func(units.Time) { left, idle = queued(), d.world.Idle() })
		switch {
		case left == 0 && idle:
			d.log.Info("drained")
			return
		case time.Now().After(deadline):
			d.log.Warnf("%d frames were still queued after %v", left, DrainTime)
			return
		}
	}
}
