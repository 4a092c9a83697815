package flowtable

import "photon/units"

// Rebase implements units.Rebaser.
func (t *Table[K]) Rebase(by units.Time) {
	for i := range t.places {
		t.places[i].lastSeen.Rebase(by)
	}
}
