package telemetry

import (
	"fmt"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/pfc"
	"photon/units"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Nodes that tests show, for those of the metrics made of them too.
var (
	Sample    = sample
	SourceOf  = source
	Busiest   = busiest
	Contains  = contains
	Processor = processor
)

func sample(host bool) Snapshot {
	s := Snapshot{Node: "n1", Ports: []string{"sw0"}, Host: host, Stats: dataplane.Stats{Ports: make([]dataplane.PortStats, 1)}}
	p := &s.Stats.Ports[0]
	p.RxFrames[3], p.RxBytes[3], p.TxFrames[3], p.Marked[3] = 10, 10_000, 9, 4
	p.QueueBytes[3], p.QueuePeak[3], p.Buffered[3] = 2_000, 5_000, 7_000
	p.Discards[dataplane.DropTail][0] = 2
	p.Ingress = pfc.IngressCounters{Pauses: [8]uint64{3: 2}, Resumes: [8]uint64{3: 1}, Paused: [8]units.Time{3: 250 * units.Millisecond}}
	p.Egress = pfc.EgressCounters{Pauses: [8]uint64{3: 5}, Transitions: [8]uint64{3: 4}, Ignored: 6}
	p.BadControl = 1
	p.Ingress.Peak[3], p.Ingress.Headroom[3], p.Ingress.HeadroomMax[3], p.Ingress.Held = 9_000, 1_000, 4_000, 1<<3
	s.Stats.NPSent, s.Scheme, s.Lossless, s.Rates, s.Now = 7, "pcn", 1<<3, []units.Rate{10 * units.Gbps}, 5*units.Second
	s.Devices = []dpdk.DeviceStats{{Spec: "net_null0", RxMissed: 3, LinkUp: true}}
	s.Pace = dpdk.Pace{Rounds: 99, LongestGap: units.Millisecond}
	if !host {
		s.Response = 10 * units.Millisecond
	}
	s.Polls = []dpdk.Polls{{Time: 2 * time.Second, RxFrames: 40, TxFrames: 7}}
	s.Polls[0].Gaps[2], s.Polls[0].Gaps[dpdk.GapBounds], s.Polls[0].Rx[5], s.Polls[0].Tx[0] = 5, 1, 2, 7
	return s
}

func contains(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// busiest is a node of so many ports on which everything that can be counted was.
func busiest(host bool, ports, flows int) *Source {
	s := source(host)
	take := s.Snapshot
	s.Snapshot = func() Snapshot {
		snap := take()
		snap.Orders = &FlowCounts{Pending: 1, Running: 2, Refused: 3, Failed: 4}
		snap.Lossless, snap.Watchdog.Detect, snap.Deadlock = 0xFF, units.Second, units.Second
		one := snap.Stats.Ports[0]
		for r := range one.Discards {
			for prio := range one.Discards[r] {
				one.Discards[r][prio] = 1
			}
		}
		if !host {
			one.Impaired = dataplane.Impaired{Lost: 1, Duplicated: 2, Reordered: 3, Delayed: 4, Corrupted: 5, Marked: 6, Pauses: 7}
		}
		if snap.Buffer != nil {
			snap.Buffer.Lossless, snap.Buffer.Thresholds = 0xFF, make([][8]pfc.Thresholds, ports)
		}
		snap.Ports, snap.Stats.Ports = nil, nil
		device, rate := snap.Devices[0], snap.Rates[0]
		snap.Devices, snap.Rates = nil, nil
		for i := range ports {
			snap.Ports, snap.Stats.Ports = append(snap.Ports, fmt.Sprint("sw", i)), append(snap.Stats.Ports, one)
			snap.Devices, snap.Rates = append(snap.Devices, device), append(snap.Rates, rate)
		}
		return snap
	}
	if host {
		s.Flows = func(top int) *Survey {
			v := NewSurvey(top)
			for i := range flows {
				v.Add(Flow{Peer: fmt.Sprint("10.0.0.", i%250), QP: uint32(i), Rate: int64(i) * 1e6})
			}
			return v
		}
	}
	return s
}

// processor is the processor time that this process has used.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
