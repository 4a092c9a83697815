package main

import (
	"time"

	"photon/units"
)

// drainTime is how long a switch that is to stop may take for what it holds.
const drainTime = time.Second

// drain pauses the peers' lossless priorities and waits until the switch has
// sent what it holds. A host has nothing that waits: it stops at once.
func (d *daemon) drain() {
	if d.sw == nil {
		return
	}
	d.loaded.Lock() // a reload or a collection would end the pause
	defer d.loaded.Unlock()
	d.world.Do(d.sw.Hold)
	for deadline := time.Now().Add(drainTime); ; time.Sleep(time.Millisecond) {
		held, idle := 0, false
		d.world.Do(func(units.Time) { held, idle = d.sw.Queued(), d.world.Idle() })
		switch {
		case held == 0 && idle:
			d.log.Info("drained")
			return
		case time.Now().After(deadline):
			d.log.Warnf("%d frames were still queued after %v", held, drainTime)
			return
		}
	}
}
