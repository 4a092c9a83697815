package daemon

import (
	"time"

	"photon/dataplane"
	"photon/pfc"
	"photon/units"
)

// watch looks at the node every so often and logs what an operator should know
// of, until the function it returns is called.
func (d *daemon) watch(every time.Duration) (stop func()) {
	ended, finished := make(chan struct{}), make(chan struct{})
	tick := time.NewTicker(every)
	go func() {
		defer close(finished)
		for {
			select {
			case <-tick.C:
				d.reconnect()
				d.watchLinks()
				d.watchStorms()
				d.watchLosses(time.Now())
				d.watchDeadlocks()
				d.watchNeighbours(time.Now())
				d.watchSamples(time.Now())
				d.collect()
			case <-ended:
				return
			}
		}
	}()
	return func() {
		tick.Stop()
		close(ended)
		<-finished
	}
}

// reconnect has devices find what they lost, and logs what came of it.
func (d *daemon) reconnect() {
	for _, n := range d.world.Reconnect() {
		if n.Bad {
			d.log.Warnf("port %s: %s", d.port(n.Port), n.Text)
		} else {
			d.log.Infof("port %s: %s", d.port(n.Port), n.Text)
		}
	}
}

// watchStorms logs the storms that began and ended since it last looked.
func (d *daemon) watchStorms() {
	if d.sw == nil {
		return // hosts have no watchdog
	}
	var config pfc.WatchdogConfig
	now := make([]pfc.WatchdogCounters, len(d.names()))
	d.world.DoBriefly(func(at units.Time) {
		config = d.sw.WatchdogConfig()
		d.wall.at(d.world.Laps(), at, time.Now())
		for i := range now {
			now[i] = d.sw.Watchdog(at, i)
		}
	})
	for i := range now {
		for prio := range pfc.Classes {
			before := pfc.WatchdogCounters{}
			if i < len(d.storms) && d.storms[i].Storms[prio] <= now[i].Storms[prio] { // else it is another port
				before = d.storms[i]
			}
			if n := now[i].Storms[prio] - before.Storms[prio]; n > 0 {
				d.log.Warnf("port %s: its peer storms, priority %d was paused for more than %v (%d times since the last message): action %v",
					d.port(i), prio, config.Detect, n, config.Action)
			}
			if now[i].Restored[prio] > before.Restored[prio] && now[i].Storm>>prio&1 == 0 {
				d.log.Infof("port %s: priority %d is restored after a storm", d.port(i), prio)
			}
		}
	}
	d.storms = now
}

// watchDeadlocks has the switch look for deadlocks, and logs those it found.
func (d *daemon) watchDeadlocks() {
	if d.sw == nil {
		return
	}
	var found []dataplane.Deadlock
	d.world.DoBriefly(func(at units.Time) { found = d.sw.LookForDeadlocks(at) })
	for _, f := range found {
		d.log.Warnf("port %s: deadlock: the queue of priority %d waits for itself, in a cycle of paused queues through %d switches (`photon show deadlocks`)", d.port(f.Port), f.Priority, f.Switches)
	}
}
