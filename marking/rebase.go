package marking

import "photon/units"

// Rebase implements units.Rebaser. The times in AF-QCN's table of classes are not used.
func (q *QCN) Rebase(by units.Time) {
	if q.fair != nil {
		q.fair.ends.Rebase(by)
	}
}

// Rebase implements units.Rebaser. The times in the table of flows are not used.
func (c *PACC) Rebase(by units.Time) {
	c.tick.Rebase(by)
	c.beat.Rebase(by)
}

// Rebase implements units.Rebaser.
func (t *TCD) Rebase(by units.Time) {
	t.resumed.Rebase(by)
	t.recorded.Rebase(by)
	units.Rebase(t.within, by)
}
