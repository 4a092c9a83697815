package cnp

import "photon/units"

// Rebase implements units.Rebaser.
func (d *DCQCN) Rebase(by units.Time) { units.RebaseAll(d.last, by) }

// Rebase implements units.Rebaser. A flow's clock may have begun before the world's does now: its ticks are the
// same if it began some whole intervals later.
func (d *DCQCNTicks) Rebase(by units.Time) {
	for i := range d.flows {
		f := &d.flows[i]
		f.due.Rebase(by)
		if f.first < 0 {
			continue
		}
		if f.first -= by; f.first < 0 {
			f.first = (f.first%d.params.Interval + d.params.Interval) % d.params.Interval
		}
	}
}

// Rebase implements units.Rebaser.
func (d *DCQCNPlus) Rebase(by units.Time) {
	d.visit.Rebase(by)
	d.leave.Rebase(by)
	for i := range d.flows {
		d.flows[i].last.Rebase(by)
		d.flows[i].seen.Rebase(by)
	}
}

// Rebase implements units.Rebaser. Periods that all flows share go by the host's clock, which goes on.
func (p *PCN) Rebase(by units.Time) {
	p.params.Clock = (p.params.Clock%p.params.Period + by%p.params.Period) % p.params.Period
	for i := range p.flows {
		f := &p.flows[i]
		f.end.Rebase(by)
		f.latest.Rebase(by)
		f.report.Rebase(by)
		if f.last > 0 { // it stays an arrival
			f.last = max(f.last.Back(by), 1)
		}
	}
}

// Rebase implements units.Rebaser.
func (t *TCD) Rebase(by units.Time) { t.ticks.Rebase(by) }
