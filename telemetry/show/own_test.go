package show

import (
	"testing"

	"photon/fabric"
	"photon/internal/sample"
	"photon/telemetry"
	"photon/units"
)

// A port's own priorities decide what is shown as lossless: the second has none and sends PAUSE, so no watchdog
// watches its queues and nobody looks for deadlocks there, but what it loses is a loss.
func TestLosslessOfPort(t *testing.T) {
	of := sample.Busiest(false, 2, 0)
	take := of.Snapshot
	of.Snapshot = func() telemetry.Snapshot {
		s := take()
		s.Lossless, s.Buffer.Lossless, s.Buffer.PFC, s.Buffer.Ports = 1<<3, 1<<3, []uint8{1 << 3, 0}, []uint8{1 << 3, 1}
		for i := range s.Stats.Ports {
			p := &s.Stats.Ports[i]
			p.Discards = [fabric.Reasons][8]uint64{}
			for prio := range p.LostAt {
				p.LostAt[prio] = units.Never
			}
		}
		p := &s.Stats.Ports[1]
		p.LostAt[5], p.Discards[fabric.DropHeadroom][5] = units.Second, 2
		return s
	}
	watched := takePFCWD(of).(*PFCWD).Queues
	if len(watched) != 1 || watched[0].Port != "sw0" || watched[0].Priority != 3 {
		t.Errorf("the watchdog watches %+v", watched)
	}
	searched := takeDeadlocks(of).(*Deadlocks).Queues
	if len(searched) != 1 || searched[0].Port != "sw0" || searched[0].Priority != 3 {
		t.Errorf("deadlocks are looked for at %+v", searched)
	}
	lost := takeLosses(of).(*Losses).Losses
	if len(lost) != 1 || lost[0].Port != "sw1" || lost[0].Priority != 5 || lost[0].Frames != 2 {
		t.Errorf("lost: %+v", lost)
	}
}
