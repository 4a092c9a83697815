package dataplane

import (
	"math/bits"

	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
)

// watch has the port's watchdog look at the pauses, and does to the queues what it says.
func (p *switchPort) watch(now units.Time) {
	began, ended := p.watchdog.Update(now, p.stops())
	p.logStorms(now, began, ended)
	p.refresh()
	for rest := began & p.watchdog.Dropping(); rest != 0; rest &= rest - 1 {
		p.sw.flush(now, p, bits.TrailingZeros8(rest), fabric.DropStorm)
	}
	if began&p.watchdog.Ignored() != 0 {
		p.resumed(now, began)
	}
	if p.watchdog.Next() != units.Never {
		p.env.Wake(p.number, p.watchdog.Next())
	}
}

// watchStops is watch after a change of what the peer has stopped, if there is a watchdog.
func (p *switchPort) watchStops(now units.Time) {
	if p.watchdog.Config().Detect != 0 {
		p.watch(now)
	}
}

// setWatchdog has the port's watchdog go by the switch's configuration, in a
// storm that lasts too.
func (s *Switch) setWatchdog(now units.Time, p *switchPort) {
	if p.watchdog.Config() == s.config.Watchdog {
		return
	}
	if now >= p.attend {
		p.attendTo(now)
	}
	p.watchdog.Configure(s.config.Watchdog)
	p.refresh()
	p.watch(now)
	for rest := p.watchdog.Dropping(); rest != 0; rest &= rest - 1 {
		s.flush(now, p, bits.TrailingZeros8(rest), fabric.DropStorm)
	}
}

// flush discards what is in a queue, so that it does not take the buffer of the
// ports through which it came. The port's worker calls it.
func (s *Switch) flush(now units.Time, p *switchPort, prio int, why fabric.Reason) {
	q := &p.queues[prio]
	for q.frames > 0 {
		f := q.run(1)[0]
		if q.drop(1, units.Size(f.Len), &p.worker.store); !p.judges(&f) {
			q.unjudged--
		}
		s.lose(now, p, &f, why)
	}
	if cp, ok := p.points[prio].cp.(marking.Flusher); ok {
		cp.Flush()
	}
	p.reportQueued(now)
	p.waiting &^= 1 << prio
	if p.credits != nil {
		p.want(now, uint8(prio), nil)
	}
	p.gate()
	p.rounds.deficit[prio] = 0
	if p.shapers != nil {
		p.shapers.counted &^= 1 << prio
		p.shapers.portCounted = p.shapers.portCounted && p.waiting != 0
	}
}

// Watchdog is the counters of a port's watchdog. It is called between bursts.
func (s *Switch) Watchdog(now units.Time, port int) pfc.WatchdogCounters {
	return s.ports[port].watchdog.Counters(now)
}

// WatchdogConfig is what the watchdogs go by. It is called between bursts.
func (s *Switch) WatchdogConfig() pfc.WatchdogConfig { return s.config.Watchdog }
