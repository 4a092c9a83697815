// Package sample has nodes for tests to show: what they would tell of themselves.
package sample

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"photon/credits"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/scheme"
	"photon/telemetry"
	"photon/units"
)

// Snapshot is of a switch of one port, or of a host.
func Snapshot(host bool) telemetry.Snapshot {
	s := telemetry.Snapshot{Node: "n1", Ports: []string{"sw0"}, Host: host, Stats: fabric.Stats{Ports: make([]fabric.PortStats, 1)}}
	p := &s.Stats.Ports[0]
	p.RxFrames[3], p.RxBytes[3], p.TxFrames[3], p.Marked[3] = 10, 10_000, 9, 4
	p.QueueBytes[3], p.QueuePeak[3], p.Buffered[3] = 2_000, 5_000, 7_000
	p.Discards[fabric.DropTail][0] = 2
	p.Ingress = pfc.IngressCounters{Pauses: [8]uint64{3: 2}, Resumes: [8]uint64{3: 1}, Paused: [8]units.Time{3: 250 * units.Millisecond}}
	p.Egress = pfc.EgressCounters{Pauses: [8]uint64{3: 5}, Transitions: [8]uint64{3: 4}, Ignored: 6}
	p.BadControl = 1
	p.Ingress.Peak[3], p.Ingress.Headroom[3], p.Ingress.HeadroomMax[3], p.Ingress.PausedNow = 9_000, 1_000, 4_000, 1<<3
	s.Stats.NPSent, s.Scheme, s.Lossless, s.Rates, s.Now = 7, "pcn", 1<<3, []units.Rate{10 * units.Gbps}, 5*units.Second
	s.Devices = []dpdk.DeviceStats{{Spec: "net_null0", RxMissed: 3, LinkUp: true}}
	s.Pace = dpdk.Pace{Rounds: 99, LongestGap: units.Millisecond}
	if !host {
		s.Response = 10 * units.Millisecond
		s.Residences = []dpdk.Residence{{Counts: [dpdk.GapBounds + 1]uint64{3: 4}, Time: time.Microsecond}}
	}
	s.Polls = []dpdk.Polls{{Time: 2 * time.Second, RxFrames: 40, TxFrames: 7}}
	s.Polls[0].Gaps[2], s.Polls[0].Gaps[dpdk.GapBounds], s.Polls[0].Rx[5], s.Polls[0].Tx[0] = 5, 1, 2, 7
	return s
}

// Contains says what a text lacks.
func Contains(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// Busiest is a node of so many ports on which everything that can be counted was.
func Busiest(host bool, ports, flows int) *telemetry.Source {
	s := Source(host)
	take := s.Snapshot
	s.Snapshot = func() telemetry.Snapshot {
		snap := take()
		snap.Orders = &telemetry.FlowCounts{Pending: 1, Running: 2, Refused: 3, Failed: 4}
		snap.Lossless, snap.Watchdog.Detect, snap.Deadlock = 0xFF, units.Second, units.Second
		one := snap.Stats.Ports[0]
		for r := range one.Discards {
			for prio := range one.Discards[r] {
				one.Discards[r][prio] = 1
			}
		}
		for action := range one.Watchdog.Under { // reloads have changed the action
			one.Watchdog.Under[action] = [8]uint64{1, 1, 1, 1, 1, 1, 1, 1}
		}
		one.Credits = credits.Counters{Lanes: 0xFF, Waiting: 1}
		if !host {
			one.Impaired = fabric.Impaired{Lost: 1, Duplicated: 2, Reordered: 3, Delayed: 4, Corrupted: 5, Marked: 6, Pauses: 7}
		}
		if !host {
			snap.Residences = slices.Repeat(snap.Residences, ports)
		}
		if snap.Buffer != nil {
			snap.Buffer.Lossless, snap.Buffer.Thresholds = 0xFF, make([][8]pfc.Thresholds, ports)
			snap.Buffer.PFC = slices.Repeat([]uint8{0xFF}, ports)
			snap.Buffer.Ports, snap.Buffer.Shapers = slices.Repeat([]uint8{0xFF}, ports), slices.Repeat(snap.Buffer.Shapers, ports)
			snap.Buffer.Limits = slices.Repeat(snap.Buffer.Limits, ports)
			var all [8]dataplane.QueueConfig
			for prio := range all {
				all[prio].Shaper, all[prio].Min, all[prio].Alpha = snap.Buffer.Shapers[0], 20*units.KB, 0.25
			}
			snap.Buffer.Queues = slices.Repeat([]*[8]dataplane.QueueConfig{&all}, ports)
		}
		snap.Ports, snap.Stats.Ports = nil, nil
		device, rate := snap.Devices[0], snap.Rates[0]
		for range ports {
			if !host {
				snap.LLDP = append(snap.LLDP, telemetry.LLDPPort{On: true})
			}
		}
		snap.Devices, snap.Rates = nil, nil
		for i := range ports {
			snap.Ports, snap.Stats.Ports = append(snap.Ports, fmt.Sprint("sw", i)), append(snap.Stats.Ports, one)
			snap.Devices, snap.Rates = append(snap.Devices, device), append(snap.Rates, rate)
		}
		return snap
	}
	if host {
		s.Flows = func(top int) *telemetry.Survey {
			v := telemetry.NewSurvey(top)
			for i := range flows {
				v.Add(telemetry.Flow{Peer: fmt.Sprint("10.0.0.", i%250), QP: uint32(i), Rate: int64(i) * 1e6})
			}
			return v
		}
	}
	return s
}

// Processor is the processor time that this process has used.
func Processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Source is a switch of one port, or a host.
func Source(host bool) *telemetry.Source {
	s := &telemetry.Source{Snapshot: func() telemetry.Snapshot {
		snap := Snapshot(host)
		snap.Params = []scheme.Setting{{Param: scheme.Param{Name: "period"}, Value: "5ms", Origin: "configuration"}}
		if host {
			return snap
		}
		snap.Buffer = &dataplane.BufferState{Size: 2 * units.MB, Reserved: 600 * units.KB, Headroom: 80 * units.KB, Headrooms: 88 * units.KB, HeadUsed: units.KB, HeadPeak: 4 * units.KB, Lossy: 1400 * units.KB, LossyPeak: 9 * units.KB, Tail: units.MB, Lossless: 8, Judged: 9}
		snap.Buffer.Thresholds = [][8]pfc.Thresholds{{3: {XOFF: 512 * units.KB, XON: 509 * units.KB, Headroom: 88 * units.KB}}}
		snap.Buffer.PFC = []uint8{8}
		snap.Buffer.Ports, snap.Buffer.Limits = []uint8{8}, []dataplane.LossyLimit{{Limit: units.MB, Alpha: 0.5, Now: 700 * units.KB, Used: 3 * units.KB}}
		snap.Buffer.Shapers, snap.Buffer.Weights = []dataplane.Shaper{{Rate: 8 * units.Gbps, Burst: units.MB}}, [8]int{0: 40, 1: 60}
		snap.Buffer.Queues = []*[8]dataplane.QueueConfig{{1: {Alpha: 0.25, Min: 20 * units.KB, Shaper: dataplane.Shaper{Rate: units.Gbps, Burst: 125 * units.KB}}, 0: {WRED: marking.WREDParams{REDParams: marking.REDParams{Kmin: 100 * units.KB, Kmax: 400 * units.KB, Pmax: 0.1}}}}}
		snap.Stats.Ports[0].Discards[fabric.DropWRED][0] = 7
		snap.Watchdog = pfc.WatchdogConfig{Detect: 400 * units.Millisecond, Restore: units.Second}
		snap.Stats.Ports[0].Watchdog = pfc.WatchdogCounters{
			Storm: 8, Storms: [8]uint64{3: 2}, Under: [4][8]uint64{pfc.Drop: {3: 2}},
			Restored: [8]uint64{3: 1}, Time: [8]units.Time{3: 1500 * units.Millisecond},
		}
		snap.Stats.Ports[0].Discards[fabric.DropStorm][3] = 6
		snap.Stats.Ports[0].Routed, snap.Stats.RemovedRouted = 3, 2
		snap.LinkChanges = []uint64{2}
		snap.Shut = make([]bool, 1)
		return snap
	}}
	if host {
		s.Flows = func(top int) *telemetry.Survey {
			v := telemetry.NewSurvey(top)
			for i, rate := range []units.Rate{500 * units.Mbps, 2 * units.Gbps, units.Mbps, 200 * units.Gbps, 2 * units.Gbps} {
				v.Add(telemetry.Flow{Peer: "10.0.0.2", QP: uint32(i), Priority: 3, Rate: int64(rate), Packets: 8, Bytes: 8000, Notified: 3})
			}
			return v
		}
	} else {
		s.SFlow = func() telemetry.SFlow {
			return telemetry.SFlow{On: true, Collector: "10.0.0.9:6343", Every: 1000, Samples: 5}
		}
		s.Past = func() telemetry.Past {
			p := telemetry.Past{Snapshot: s.Snapshot(), Capacity: dataplane.History{Pauses: 4, Events: 4}}
			p.Pauses, p.Ended = [][]pfc.Pause{{{From: units.Second, Until: units.Second + units.Millisecond, Priority: 3}, {From: 4 * units.Second, Until: units.Never, Priority: 4, Sent: true}}}, []uint64{3}
			p.Events, p.Ever = [][]dataplane.Event{{{Kind: dataplane.StormBegan, Priority: 3, At: 2 * units.Second, Frames: 7}, {Reason: fabric.DropStorm, Frames: 2}}}, []uint64{2}
			return p
		}
		s.Addresses = func() (known, places int) { return 4, 64 }
		s.FDB = func() []dataplane.FDBEntry {
			return []dataplane.FDBEntry{
				{MAC: 0x020000000001, Ports: []uint16{0}, Age: 7 * units.Second}, {MAC: 0x020000000002, Ports: []uint16{0}, Static: true},
				{VLAN: 10, MAC: 0x020000000003, Static: true}, {VLAN: 10, MAC: 0x020000000001, Ports: []uint16{0}},
			}
		}
		s.Forwarding = func() dataplane.Forwarding {
			return dataplane.Forwarding{
				VLANs:     []dataplane.VLAN{{ID: 20, Tagged: []uint16{0}}, {ID: 10, Untagged: []uint16{0}}, {ID: 30}},
				Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.1")}, Router: dataplane.Router{MAC: 0x020000000003, Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.1")}, Routes: []dataplane.Route{
					{Prefix: netip.MustParsePrefix("fd00::/64"), Via: []dataplane.NextHop{{MAC: 0x020000000001}, {MAC: 0x020000000002, VLAN: 20}, {MAC: 0x020000000002, VLAN: 20}, {MAC: 0x020000000002, VLAN: 20}}},
					{Prefix: netip.MustParsePrefix("0.0.0.0/0"), Via: []dataplane.NextHop{{MAC: 0x020000000001}}},
				}},
				Down: []bool{true},
				Neighbours: []dataplane.Neighbour{
					{Address: netip.MustParseAddr("10.0.0.9"), MAC: 0x020000000009, State: "reachable", Requests: 3},
					{Address: netip.MustParseAddr("fd00::9"), Port: -1, VLAN: 20, State: "failed", Requests: 4, Failures: 1},
				},
			}
		}
	}
	return s
}
