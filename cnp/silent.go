package cnp

import "photon/units"

// Silent sends no notifications: it is the NP of schemes without them.
type Silent struct{}

var _ Elastic = Silent{}

// Data does nothing.
func (Silent) Data(units.Time, int, uint8, int) {}

// Next is Never.
func (Silent) Next() units.Time { return units.Never }

// Poll has nothing.
func (Silent) Poll(units.Time) (int, Notice, bool) { return 0, Notice{}, false }

// Forget does nothing.
func (Silent) Forget(int) {}

// Room does nothing.
func (Silent) Room(int) {}

// Quiet is always true.
func (Silent) Quiet(int) bool { return true }
