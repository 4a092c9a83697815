package daemon

import (
	"slices"
	"sync"
	"time"

	"photon/pfc"
	"photon/telemetry"
	"photon/telemetry/show"
	"photon/units"
)

// LossLogInterval is the least time between two lines of the log on losses of the same port and priority.
const LossLogInterval = 10 * time.Second

// queueName is a priority of a port. Another port may have the name later: it has another place, or the place another
// tenure.
type queueName struct {
	place    int
	tenure   uint64
	port     string
	priority int
}

// firstLosses are when the first lossless frame of each port and priority was lost, by the wall's clock of when it was
// first asked: the node's own drifts against it.
type firstLosses struct {
	sync.Mutex
	at [][pfc.Classes]time.Time // by port; zero: it is not known
}

// complete says of a snapshot when the first frames were lost, and takes note of what is new in it.
func (l *firstLosses) complete(s *telemetry.Snapshot) {
	l.Lock()
	defer l.Unlock()
	n := len(s.Stats.Ports)
	l.at = append(l.at, make([][pfc.Classes]time.Time, max(0, n-len(l.at)))...)
	s.FirstLosses = nil
	for i := range s.Numbers() {
		for prio := range l.at[i] {
			switch first, lost := s.FirstLoss(i, prio); {
			case !lost:
				l.at[i][prio] = time.Time{}
			case l.at[i][prio].IsZero():
				l.at[i][prio] = first
			}
		}
	}
	s.FirstLosses = slices.Clone(l.at[:n])
}

// forget forgets what a port lost that has gone.
func (l *firstLosses) forget(port int) {
	l.Lock()
	defer l.Unlock()
	if port < len(l.at) {
		l.at[port] = [pfc.Classes]time.Time{}
	}
}

// lossReport is the last line of the log on a priority's losses.
type lossReport struct {
	frames uint64
	at     time.Time
}

// watchLosses logs what lossless priorities lost: the first time at once, and then
// that it was more, once in a while.
func (d *daemon) watchLosses(now time.Time) {
	if d.sw == nil {
		return
	}
	lost := uint64(0)
	d.world.DoBriefly(func(units.Time) { lost = d.sw.Losses() })
	if lost == d.lost || now.Sub(d.lossesCheckedAt) < time.Second { // a snapshot leaves garbage
		return
	}
	d.lossesCheckedAt = now
	untold := false
	_, _, tenures := d.linksNow()
	snap, names := d.snapshot(), d.names()
	kept := map[queueName]lossReport{} // of ports that there are
	for _, l := range show.LossesOf(&snap) {
		place := slices.Index(names, l.Port)
		q := queueName{place, tenures(place), l.Port, l.Priority}
		before := d.losses[q]
		if l.Frames < before.frames { // the port was replaced just now
			before = lossReport{}
		}
		kept[q] = before
		if l.Frames == before.frames {
			continue
		}
		if before.frames > 0 && now.Sub(before.at) < LossLogInterval {
			untold = true
			continue
		}
		kept[q] = lossReport{l.Frames, now}
		if before.frames == 0 {
			d.log.Warnf("port %s: frames of lossless priority %d were lost: %s; the first at %s (`photon show losses`)", l.Port, l.Priority, l.Why(), l.First.Format(time.RFC3339Nano))
		} else {
			d.log.Warnf("port %s: %d more frames of lossless priority %d were lost: by now %s", l.Port, l.Frames-before.frames, l.Priority, l.Why())
		}
	}
	d.losses = kept
	if !untold {
		d.lost = lost
	}
}
