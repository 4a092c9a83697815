package daemon

import (
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"

	"photon/units"
)

// notifySystemd sends a notice to systemd, if the unit asks for it (Type=notify).
func (d *daemon) notifySystemd(notice string) {
	if _, err := systemd.SdNotify(false, notice); err != nil {
		d.log.Warnf("systemd cannot be told %s: %v", notice, err)
	}
}

// heartbeat reports to systemd (WatchdogSec=) that the workers answer, until the
// function it returns is called. Without a service manager that asks for it,
// nothing beats.
func (d *daemon) heartbeat() (stop func()) {
	within, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		d.log.Warnf("systemd's watchdog: %v", err)
	}
	if within == 0 {
		return func() {}
	}
	ended, finished := make(chan struct{}), make(chan struct{})
	tick := time.NewTicker(within / 3)
	go func() {
		defer close(finished)
		defer tick.Stop()
		for {
			d.world.DoBriefly(func(units.Time) {}) // returns when all workers have answered
			d.notifySystemd(systemd.SdNotifyWatchdog)
			select {
			case <-tick.C:
			case <-ended:
				return
			}
		}
	}()
	return func() {
		close(ended)
		<-finished
	}
}
