package main

import (
	"time"

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
				d.watchLinks()
				d.watchStorms()
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

// watchStorms logs the storms that began and ended since it last looked.
func (d *daemon) watchStorms() {
	if d.sw == nil {
		return // hosts have no watchdog
	}
	var config pfc.WatchdogConfig
	now := make([]pfc.WatchdogCounters, len(d.ports))
	d.world.Do(func(at units.Time) {
		config = d.sw.WatchdogConfig()
		for i := range now {
			now[i] = d.sw.Watchdog(at, i)
		}
	})
	for i := range now {
		for prio := range pfc.Classes {
			before := pfc.WatchdogCounters{}
			if d.storms != nil {
				before = d.storms[i]
			}
			if n := now[i].Storms[prio] - before.Storms[prio]; n > 0 {
				d.log.Warnf("port %s: its peer storms, priority %d was paused for more than %v (%d times since the last message): action %v",
					d.ports[i], prio, config.Detect, n, config.Action)
			}
			if now[i].Restored[prio] > before.Restored[prio] && now[i].Storm>>prio&1 == 0 {
				d.log.Infof("port %s: priority %d is restored after a storm", d.ports[i], prio)
			}
		}
	}
	d.storms = now
}
