package pfc

import "photon/units"

// Rebase implements units.Rebaser.
func (g *Ingress) Rebase(by units.Time) {
	units.RebaseAll(g.since[:], by)
	units.RebaseAll(g.refresh[:], by)
}

// Rebase implements units.Rebaser.
func (e *Egress) Rebase(by units.Time) {
	e.next.Rebase(by)
	units.RebaseAll(e.until[:], by)
	units.RebaseAll(e.since[:], by)
	units.RebaseAll(e.ended[:], by)
}

// Rebase implements units.Rebaser.
func (w *Watchdog) Rebase(by units.Time) {
	w.next.Rebase(by)
	units.RebaseAll(w.since[:], by)
}
