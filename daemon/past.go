package daemon

import (
	"photon/dataplane"
	"photon/pfc"
	"photon/telemetry"
	"photon/units"
)

// past is what the switch has kept of what happened, read port by port so that the workers stop for short times only;
// the snapshot whose clock it goes by is taken after it.
func (d *daemon) past() (p telemetry.Past) {
	d.world.DoBriefly(func(units.Time) { p.Capacity = d.sw.HistorySize() })
	n := len(d.names())
	p.Pauses, p.Ended = make([][]pfc.Pause, n), make([]uint64, n)
	p.Events, p.Ever = make([][]dataplane.Event, n), make([]uint64, n)
	for {
		laps := uint64(0)
		for i := range n {
			pauses, events := make([]pfc.Pause, 0, p.Capacity.Pauses+2*pfc.Classes), make([]dataplane.Event, 0, p.Capacity.Events)
			d.world.DoBriefly(func(now units.Time) {
				if i == 0 {
					laps = d.world.Laps()
				}
				p.Pauses[i], p.Ended[i] = d.sw.PauseHistory(now, i, pauses)
				p.Events[i], p.Ever[i] = d.sw.Events(i, events)
			})
		}
		if p.Snapshot = d.snapshot(); p.Snapshot.Laps == laps { // else the clock was set back meanwhile
			return p
		}
	}
}
