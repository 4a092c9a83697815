package ratelimit

import "photon/units"

// Rebase implements units.Rebaser.
func (d *DCQCN) Rebase(by units.Time) {
	d.alphaTimer.Rebase(by)
	d.rateTimer.Rebase(by)
}

// Rebase implements units.Rebaser.
func (d *DCQCNPlus) Rebase(by units.Time) {
	d.alphaAt.Rebase(by)
	d.rateAt.Rebase(by)
}

// Rebase implements units.Rebaser.
func (m *Mlx) Rebase(by units.Time) {
	m.alphaAt.Rebase(by)
	m.cutAt.Rebase(by)
	m.rateAt.Rebase(by)
}

// Rebase implements units.Rebaser. An index that is shared is the port's.
func (b *IBCC) Rebase(by units.Time) { b.own.falls.Rebase(by) }

// Rebase implements units.Rebaser.
func (q *QCN) Rebase(by units.Time) { q.timer.Rebase(by) }

// Rebase implements units.Rebaser.
func (t *Timely) Rebase(by units.Time) { t.last.Rebase(by) }

// Rebase implements units.Rebaser.
func (s *Swift) Rebase(by units.Time) { s.last.Rebase(by) }

// Rebase implements units.Rebaser.
func (p *Port) Rebase(by units.Time) {
	p.PausedFrom.Rebase(by)
	p.PausedUntil.Rebase(by)
	p.ccti.falls.Rebase(by)
	for i := range p.before {
		p.before[i].from.Rebase(by)
		p.before[i].until.Rebase(by)
	}
}

// A lap is whole turns of a wheel's highest level: when the clock is set back, every timer stays in its slot.
var _ [0]struct{} = [units.Lap % Horizon]struct{}{}

// Rebase implements units.Rebaser.
func (w *WheelWith[T]) Rebase(by units.Time) {
	if lap := uint64(by) >> tickShift; w.tick >= lap {
		w.tick -= lap
	} else { // nobody has asked for long
		w.tick &= 1<<horizonBits - 1
	}
	if w.soon != unknown {
		w.soon.Rebase(by)
	}
	for i := range w.few {
		w.few[i].at.Rebase(by)
	}
	for i := range w.entry {
		w.entry[i].at.Rebase(by)
	}
}

// Rebase implements units.Rebaser.
func (p *PacerWith[T]) Rebase(by units.Time) {
	p.WheelWith.Rebase(by)
	for i := range p.tenants {
		p.tenants[i].next.Rebase(by)
	}
}
