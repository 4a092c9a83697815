package telemetry

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/pfc"
	"photon/units"
)

func sample(host bool) Snapshot {
	s := Snapshot{Node: "n1", Ports: []string{"sw0"}, Host: host, Stats: dataplane.Stats{Ports: make([]dataplane.PortStats, 1)}}
	p := &s.Stats.Ports[0]
	p.RxFrames[3], p.RxBytes[3], p.TxFrames[3], p.Marked[3] = 10, 10_000, 9, 4
	p.QueueBytes[3], p.QueuePeak[3] = 2_000, 5_000
	p.Discards[dataplane.DropTail][0] = 2
	p.Ingress = pfc.IngressCounters{Pauses: [8]uint64{3: 2}, Resumes: [8]uint64{3: 1}, Paused: [8]units.Time{3: 250 * units.Millisecond}}
	p.Egress = pfc.EgressCounters{Pauses: [8]uint64{3: 5}, Transitions: [8]uint64{3: 4}}
	s.Stats.NPSent, s.Stats.FlowRates, s.Stats.RateSum = 7, [13]uint64{1: 1, 12: 2}, 3*units.Gbps
	s.Devices = []dpdk.DeviceStats{{Spec: "net_null0", RxMissed: 3, LinkUp: true}}
	s.Pace = dpdk.Pace{Rounds: 99, LongestGap: units.Millisecond}
	return s
}

// The names and types are what Prometheus asks of metrics.
func TestMetricsPassTheLinter(t *testing.T) {
	for _, host := range []bool{false, true} {
		r := prometheus.NewRegistry()
		r.MustRegister(&collector{take: func() Snapshot { return sample(host) }, version: "v1"})
		problems, err := testutil.GatherAndLint(r)
		if err != nil || len(problems) != 0 {
			t.Errorf("%v, %v", problems, err)
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, r.Status, err)
	}
	return string(b)
}

func TestScrape(t *testing.T) {
	host := false
	taken := 0
	s, err := Serve("127.0.0.1:0", "v1", func() Snapshot { taken++; return sample(host) })
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + s.Address()
	text := get(t, base+"/metrics")
	for _, want := range []string{
		`photon_port_rx_packets_total{node="n1",port="sw0",priority="3"} 10`,
		`photon_queue_bytes{node="n1",port="sw0",priority="3"} 2000`,
		`photon_queue_watermark_bytes{node="n1",port="sw0",priority="3"} 5000`,
		`photon_queue_ecn_marked_packets_total{node="n1",port="sw0",priority="3"} 4`,
		`photon_pfc_tx_frames_total{node="n1",port="sw0",priority="3"} 3`,
		`photon_pfc_tx_paused_seconds_total{node="n1",port="sw0",priority="3"} 0.25`,
		`photon_pfc_rx_frames_total{node="n1",port="sw0",priority="3"} 5`,
		`photon_pfc_rx_transitions_total{node="n1",port="sw0",priority="3"} 4`,
		`photon_port_discards_total{node="n1",port="sw0",priority="0",reason="tail_drop"} 2`,
		`photon_device_rx_missed_total{node="n1",port="sw0"} 3`,
		`photon_worker_poll_gap_max_seconds{node="n1"} 0.001`,
		`photon_build_info{`,
		`go_goroutines`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "photon_pfc_watchdog") {
		t.Error("metrics of a watchdog that is off")
	}
	if taken != 1 {
		t.Errorf("%d snapshots for a scrape", taken)
	}
	host = true
	text = get(t, base+"/metrics")
	for _, want := range []string{
		`photon_np_cnp_sent_total{node="n1"} 7`, `photon_rp_rate_bytes_per_second_bucket{node="n1",le="1.25e+06"} 1`,
		`photon_rp_rate_bytes_per_second_bucket{node="n1",le="+Inf"} 3`, `photon_rp_rate_bytes_per_second_sum{node="n1"} 3.75e+08`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if get(t, base+"/healthz") != "ok\n" || !strings.Contains(get(t, base+"/debug/pprof/"), "goroutine") {
		t.Error("health or profiles")
	}
	if _, err := Serve(s.Address(), "v1", nil); err == nil {
		t.Error("one address, two servers")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(base + "/healthz"); err == nil {
		t.Error("still listening")
	}
}

// The watchdog's metrics are there when it is, and what else counters say of schemes.
func TestScrapeOfAWatchdog(t *testing.T) {
	take := source(false).Snapshot
	s, err := Serve("127.0.0.1:0", "v1", func() Snapshot {
		snap := take()
		p := &snap.Stats.Ports[0]
		p.Undetermined[3], p.CNMs[3], p.CNPs[3] = 11, 12, 13
		return snap
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text := get(t, "http://"+s.Address()+"/metrics")
	for _, want := range []string{
		`photon_pfc_watchdog_storms_total{action="drop",node="n1",port="sw0",priority="3"} 2`,
		`photon_pfc_watchdog_restored_total{node="n1",port="sw0",priority="3"} 1`,
		`photon_pfc_watchdog_storm_seconds_total{node="n1",port="sw0",priority="3"} 1.5`,
		`photon_pfc_watchdog_storm{node="n1",port="sw0",priority="3"} 1`,
		`photon_port_discards_total{node="n1",port="sw0",priority="3",reason="pfc_watchdog"} 6`,
		`photon_queue_undetermined_marked_packets_total{node="n1",port="sw0",priority="3"} 11`,
		`photon_cp_cnm_sent_total{node="n1",port="sw0",priority="3"} 12`,
		`photon_cp_cnp_sent_total{node="n1",port="sw0",priority="3"} 13`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
