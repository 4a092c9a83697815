package marking

import "photon/units"

// None marks nothing: PFC alone controls the network.
type None struct{}

var _ CP = None{}

// Dequeue keeps every frame as it is.
func (None) Dequeue(units.Time, Queue, *Packet) Mark { return Unchanged }

// Resume does nothing.
func (None) Resume(units.Time, Queue) {}
