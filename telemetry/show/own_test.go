package show

import (
	"slices"
	"strings"
	"testing"

	"photon/dataplane/dpdk"
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

// What devices dropped has no priority, and is a loss all the same.
func TestShowLossesOfDevices(t *testing.T) {
	devices := []dpdk.DeviceStats{
		{RxFrames: 9, TxFrames: 9, RxBefore: 9, RxOpen: 9}, // which lost nothing
		{RxMissed: 1, RxNoBuffer: 20, RxTooLong: 300, RxSeveral: 4000, RxErrors: 50000},
		{TxErrors: 1, TxTooLong: 20, TxDropped: 300},
	}
	s := telemetry.Snapshot{Ports: []string{"a", "b", "c"}, Devices: devices}
	s.Stats.Ports = make([]fabric.PortStats, 3)
	for i := range s.Stats.Ports {
		for prio := range s.Stats.Ports[i].LostAt {
			s.Stats.Ports[i].LostAt[prio] = units.Never
		}
	}
	d := takeLosses(&telemetry.Source{Snapshot: func() telemetry.Snapshot { return s }}).(*Losses)
	want := []DeviceLoss{{Port: "b", Received: 54321}, {Port: "c", Sent: 321}}
	if len(d.Losses) != 0 || !slices.Equal(d.Devices, want) {
		t.Errorf("%+v", d)
	}
	var b strings.Builder
	d.Table(&b)
	if !strings.Contains(b.String(), "54321") || !strings.Contains(b.String(), "321") {
		t.Error(b.String())
	}
}

// What ports lost that have gone is said first: nothing else says that a switch without losses at its ports had some.
func TestShowLossesOfPortsThatHaveGone(t *testing.T) {
	for gone, want := range map[uint64]string{0: "has lost no frame", 7: "lost 7 frames"} {
		s := telemetry.Snapshot{Gone: gone}
		d := takeLosses(&telemetry.Source{Snapshot: func() telemetry.Snapshot { return s }})
		var b strings.Builder
		if d.Table(&b); !strings.Contains(b.String(), want) || strings.Contains(b.String(), "no frame") != (gone == 0) {
			t.Errorf("%d frames: %s", gone, &b)
		}
	}
}
