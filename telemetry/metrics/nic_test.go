package metrics_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"photon/fabric"
	"photon/internal/sample"
	"photon/telemetry"
	"photon/telemetry/metrics"
	"photon/units"
)

// Every counter of a NIC is a metric, with a name that Prometheus likes; what only
// switches have is absent.
func TestNICMetrics(t *testing.T) {
	r := prometheus.NewRegistry()
	s := &telemetry.Source{Flows: func(int) *telemetry.Survey { return telemetry.NewSurvey(0) }, Snapshot: func() telemetry.Snapshot {
		s := sample.Snapshot(true)
		s.NIC = true
		s.Stats.NIC = fabric.NICStats{
			Flows: 1, Received: 2, Queued: 3, Control: 4, ECT: 5, Cleared: 6, Untracked: 7, Released: 8,
			Refused: [fabric.CNPRefusals]uint64{9, 10, 11, 12}, Holds: 13, Held: 14 * units.Second,
			EchoesSent: 15, EchoesTaken: 16,
		}
		return s
	}}
	r.MustRegister(metrics.Collector(s, metrics.Series{Flows: 0, Priorities: metrics.AllPriorities}, "v1"))
	if problems, err := testutil.GatherAndLint(r); err != nil || len(problems) != 0 {
		t.Errorf("%v, %v", problems, err)
	}
	text := scrapeOf(t, s, metrics.Series{Flows: 0, Priorities: metrics.AllPriorities})
	for _, want := range []string{
		`nic_flows{direction="tx",node="n1"} 1`, `nic_flows{direction="rx",node="n1"} 2`, `nic_queued_packets{node="n1"} 3`,
		`nic_control_packets_total{node="n1"} 4`, `nic_ecn_set_packets_total{node="n1"} 5`, `nic_ecn_cleared_packets_total{node="n1"} 6`,
		`nic_np_untracked_packets_total{node="n1"} 7`, `nic_rp_released_total{node="n1"} 8`,
		`nic_cnp_refused_total{node="n1",reason="unknown_flow"} 9`, `nic_cnp_refused_total{node="n1",reason="not_sent"} 10`,
		`nic_cnp_refused_total{node="n1",reason="too_soon"} 11`, `nic_cnp_refused_total{node="n1",reason="malformed"} 12`,
		`nic_echoes_total{direction="tx",node="n1"} 15`, `nic_echoes_total{direction="rx",node="n1"} 16`,
		`nic_application_holds_total{node="n1"} 13`, `nic_application_held_seconds_total{node="n1"} 14`,
		`pfc_tx_frames_total{node="n1",port="sw0",priority="3"} 3`, `queue_bytes{node="n1",port="sw0",priority="3"} 2000`, `np_cnp_sent_total{node="n1"} 7`,
	} {
		if !strings.Contains(text, "photon_"+want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Contains(text, "photon_queue_ecn_marked_packets_total") {
		t.Error("a NIC marks nothing")
	}
}
