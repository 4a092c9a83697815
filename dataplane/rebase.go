package dataplane

import (
	"photon/fdb"
	"photon/units"
	"photon/wire"
)

// A world that runs for long sets its clock back by a lap now and then (units.Lap). It tells its nodes, which are
// units.Rebasers, while no worker runs; nothing but the clock is different to them before and after.

// era is what of a switch continues when the clock is set back: the seconds by which it learns, and the clock that
// telemetry shows.
type era struct {
	seconds  uint32     // that the clock was set back
	fraction units.Time // and less than another
	stamp    units.Time // the same, as far as telemetry shows it
}

func (e *era) second(now units.Time) fdb.Second {
	return fdb.Second(e.seconds + uint32((now+e.fraction)/units.Second))
}

// endOfSecond is when the second ends that holds now.
func (e *era) endOfSecond(now units.Time) units.Time {
	return now - (now+e.fraction)%units.Second + units.Second
}

// Rebase implements units.Rebaser.
func (e *era) Rebase(by units.Time) {
	e.fraction += by % units.Second
	e.seconds += uint32(by/units.Second + e.fraction/units.Second)
	e.fraction %= units.Second
	e.stamp = (e.stamp + by) % wire.INTTimeWrap
}

// holdUntil is how long actions hold that are worked out now.
func (s *Switch) holdUntil(now units.Time) units.Time {
	if s.learn {
		return s.era.endOfSecond(now)
	}
	return units.Never
}

// Rebase implements units.Rebaser.
func (s *Switch) Rebase(by units.Time) {
	s.era.Rebase(by)
	for _, w := range s.workers {
		w.cache.until.Rebase(by)
	}
	for i := range s.queues {
		s.queues[i].fastUntil.RebaseSet(by)
	}
	for i := range s.ports {
		s.ports[i].Rebase(by)
	}
	for _, n := range s.neighbours() {
		n.Rebase(by)
	}
}

// Rebase implements units.Rebaser.
func (p *switchPort) Rebase(by units.Time) {
	p.attend.Rebase(by)
	p.timerAt.Rebase(by)
	if p.paths != nil {
		p.paths.Rebase(by)
	}
	p.history.Rebase(by)
	p.log.Rebase(by)
	if p.announcer != nil {
		p.announcer.at.Rebase(by)
	}
	p.ingress.Rebase(by)
	p.egress.Rebase(by)
	if p.credits != nil {
		p.credits.Rebase(by)
	}
	p.watchdog.Rebase(by)
	p.buckets.broadcast.full.Rebase(by)
	p.buckets.multicast.full.Rebase(by)
	p.buckets.unknown.full.Rebase(by)
	p.buckets.errors.full.Rebase(by)
	if p.shapers != nil {
		p.shapers.Rebase(by)
	}
	p.stats.Rebase(by)
	for prio := range p.points {
		units.Rebase(p.points[prio].cp, by)
	}
}
