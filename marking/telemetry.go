package marking

import (
	"photon/units"
	"photon/wire"
)

// Telemetry is HPCC's switch (SIGCOMM'19 section 3): it writes into every frame
// how fast its link is, how much it has sent so far, and what is queued.
type Telemetry struct{ Link units.Rate }

var (
	_ Stamper = Telemetry{}
	_ Idler   = Telemetry{}
)

// Dequeue marks nothing.
func (Telemetry) Dequeue(units.Time, Queue, *Packet) Mark { return Unchanged }

// LeavesUnqueuedUnchanged says that Dequeue does nothing.
func (Telemetry) LeavesUnqueuedUnchanged() {}

// Stamp is the hop's record.
func (t Telemetry) Stamp(now units.Time, p Port) wire.INTHop {
	return wire.INTHop{Rate: t.Link, Time: now, TxBytes: p.Sent, Queue: p.Queued}
}

// Resume does nothing: HPCC does not know of pauses.
func (Telemetry) Resume(units.Time, Queue) {}
