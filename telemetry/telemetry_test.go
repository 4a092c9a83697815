package telemetry

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

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
	p.Egress = pfc.EgressCounters{Pauses: [8]uint64{3: 5}, Transitions: [8]uint64{3: 4}, Ignored: 6}
	p.BadControl = 1
	p.Ingress.Peak[3], p.Ingress.Headroom[3], p.Ingress.HeadroomMax[3], p.Ingress.Held = 9_000, 1_000, 4_000, 1<<3
	s.Stats.NPSent, s.Scheme, s.Lossless, s.Rates, s.Now = 7, "pcn", 1<<3, []units.Rate{10 * units.Gbps}, 5*units.Second
	s.Devices = []dpdk.DeviceStats{{Spec: "net_null0", RxMissed: 3, LinkUp: true}}
	s.Pace = dpdk.Pace{Rounds: 99, LongestGap: units.Millisecond}
	if !host {
		s.Response = 10 * units.Millisecond
	}
	s.Polls = []dpdk.Polls{{Time: 2 * units.Second, RxFrames: 40, TxFrames: 7}}
	s.Polls[0].Gaps[2], s.Polls[0].Gaps[dpdk.GapBounds], s.Polls[0].Rx[5], s.Polls[0].Tx[0] = 5, 1, 2, 7
	return s
}

// The names and types are what Prometheus asks of metrics.
func TestMetricsPassTheLinter(t *testing.T) {
	for _, host := range []bool{false, true} {
		r := prometheus.NewRegistry()
		r.MustRegister(&collector{source(host), Series{3, AllPriorities}, "v1"})
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

// scrapeOf serves a source and returns what a scrape says.
func scrapeOf(t *testing.T, s *Source, series Series) string {
	t.Helper()
	server, err := Serve("127.0.0.1:0", "v1", s, series)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	return get(t, "http://"+server.Address()+"/metrics")
}

func contains(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

func TestScrape(t *testing.T) {
	text := scrapeOf(t, source(false), Series{0, AllPriorities})
	contains(t, text,
		`photon_port_rx_packets_total{node="n1",port="sw0",priority="3"} 10`,
		`photon_queue_bytes{node="n1",port="sw0",priority="3"} 2000`,
		`photon_queue_watermark_bytes{node="n1",port="sw0",priority="3"} 5000`,
		`photon_queue_ecn_marked_packets_total{node="n1",port="sw0",priority="3"} 4`,
		`photon_ingress_xoff_bytes{node="n1",port="sw0",priority="3"} 512000`,
		`photon_ingress_headroom_size_bytes{node="n1",port="sw0",priority="3"} 88000`,
		`photon_ingress_headroom_bytes{node="n1",port="sw0",priority="3"} 1000`,
		`photon_ingress_headroom_watermark_bytes{node="n1",port="sw0",priority="3"} 4000`,
		`photon_buffer_lossy_size_bytes{node="n1"} 1.4e+06`,
		`photon_pfc_tx_frames_total{node="n1",port="sw0",priority="3"} 3`,
		`photon_pfc_tx_paused_seconds_total{node="n1",port="sw0",priority="3"} 0.25`,
		`photon_pfc_rx_frames_total{node="n1",port="sw0",priority="3"} 5`,
		`photon_pfc_rx_transitions_total{node="n1",port="sw0",priority="3"} 4`,
		`photon_pfc_rx_ignored_frames_total{node="n1",port="sw0"} 6`,
		`photon_port_rx_control_bad_packets_total{node="n1",port="sw0"} 1`,
		`photon_port_discards_total{node="n1",port="sw0",priority="0",reason="tail_drop"} 2`,
		`photon_port_discards_total{node="n1",port="sw0",priority="3",reason="headroom"} 0`,
		`photon_device_rx_missed_total{node="n1",port="sw0"} 3`,
		`photon_device_rate_bytes_per_second{node="n1",port="sw0"} 1.25e+09`,
		`photon_worker_poll_gap_max_seconds{node="n1"} 0.001`,
		`photon_worker_poll_gap_seconds_bucket{node="n1",worker="0",le="1.28e-07"} 0`,
		`photon_worker_poll_gap_seconds_bucket{node="n1",worker="0",le="2.56e-07"} 5`,
		`photon_worker_poll_gap_seconds_bucket{node="n1",worker="0",le="1.073741824"} 5`,
		`photon_worker_poll_gap_seconds_count{node="n1",worker="0"} 6`,
		`photon_worker_poll_gap_seconds_sum{node="n1",worker="0"} 2`,
		`photon_worker_rx_burst_packets_bucket{node="n1",worker="0",le="16"} 0`,
		`photon_worker_rx_burst_packets_bucket{node="n1",worker="0",le="32"} 2`,
		`photon_worker_tx_burst_packets_sum{node="n1",worker="0"} 7`,
		`photon_pfc_response_seconds{node="n1"} 0.01`,
		`photon_node_info{kind="switch",node="n1",scheme="pcn"} 1`,
		`photon_build_info{`,
		`go_goroutines`,
	)
	text = scrapeOf(t, source(true), Series{2, AllPriorities})
	contains(t, text,
		`photon_np_cnp_sent_total{node="n1"} 7`, `photon_rp_rate_bytes_per_second_bucket{node="n1",le="125000"} 1`,
		`photon_rp_rate_bytes_per_second_bucket{node="n1",le="+Inf"} 5`, `photon_rp_rate_bytes_per_second_sum{node="n1"} 2.55626`,
		`photon_flow_rate_bytes_per_second{node="n1",peer="10.0.0.2",qp="3"} 2.5e+10`, `photon_flow_cnp_handled_total{node="n1",peer="10.0.0.2",qp="1"} 3`,
		`photon_node_info{kind="agent",node="n1",scheme="pcn"} 1`,
	)
	if n := strings.Count(text, "photon_flow_rate_bytes_per_second{"); n != 2 {
		t.Errorf("%d flows have series, not 2", n)
	}
	if text := scrapeOf(t, source(false), Series{0, 1 << 3}); strings.Contains(text, `priority="0"`) || !strings.Contains(text, `priority="3"`) {
		t.Error("series of priorities that are to have none")
	}
}

func TestServer(t *testing.T) {
	taken := 0
	take := source(false).Snapshot
	s, err := Serve("127.0.0.1:0", "v1", &Source{Snapshot: func() Snapshot { taken++; return take() }}, Series{})
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + s.Address()
	if get(t, base+"/metrics"); taken != 1 {
		t.Errorf("%d snapshots for a scrape", taken)
	}
	if get(t, base+"/healthz") != "ok\n" || !strings.Contains(get(t, base+"/debug/pprof/"), "goroutine") {
		t.Error("health or profiles")
	}
	if _, err := Serve(s.Address(), "v1", nil, Series{}); err == nil {
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
	watched := source(false)
	take := watched.Snapshot
	watched.Snapshot = func() Snapshot {
		snap := take()
		p := &snap.Stats.Ports[0]
		p.Undetermined[3], p.CNMs[3], p.CNPs[3] = 11, 12, 13
		p.Deadlocks[3], p.Deadlocked, snap.Deadlock = 5, 1<<3, units.Second
		return snap
	}
	contains(t, scrapeOf(t, watched, Series{0, AllPriorities}),
		`photon_pfc_watchdog_storms_total{action="drop",node="n1",port="sw0",priority="3"} 2`,
		`photon_pfc_watchdog_restored_total{node="n1",port="sw0",priority="3"} 1`,
		`photon_pfc_watchdog_storm_seconds_total{node="n1",port="sw0",priority="3"} 1.5`,
		`photon_pfc_watchdog_storm{node="n1",port="sw0",priority="3"} 1`,
		`photon_port_discards_total{node="n1",port="sw0",priority="3",reason="pfc_watchdog"} 6`,
		`photon_pfc_deadlocks_total{node="n1",port="sw0",priority="3"} 5`,
		`photon_pfc_deadlock{node="n1",port="sw0",priority="3"} 1`,
		`photon_queue_undetermined_marked_packets_total{node="n1",port="sw0",priority="3"} 11`,
		`photon_cp_cnm_sent_total{node="n1",port="sw0",priority="3"} 12`,
		`photon_cp_cnp_sent_total{node="n1",port="sw0",priority="3"} 13`,
	)
	unwatched := &Source{Snapshot: func() Snapshot { snap := take(); snap.Watchdog = pfc.WatchdogConfig{}; return snap }}
	if strings.Contains(scrapeOf(t, unwatched, Series{0, AllPriorities}), "photon_pfc_watchdog") {
		t.Error("metrics of a watchdog that is off")
	}
}

// promtool is Prometheus' own judge of names, units and help texts.
func TestPromtoolChecksMetrics(t *testing.T) {
	for _, host := range []bool{false, true} {
		c := exec.Command("promtool", "check", "metrics")
		c.Stdin = strings.NewReader(scrapeOf(t, source(host), Series{3, AllPriorities}))
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	}
}

// busiest is a node of so many ports on which everything that can be counted was.
func busiest(host bool, ports, flows int) *Source {
	s := source(host)
	take := s.Snapshot
	s.Snapshot = func() Snapshot {
		snap := take()
		snap.Orders = &FlowCounts{Pending: 1, Running: 2, Refused: 3}
		snap.Lossless, snap.Watchdog.Detect, snap.Deadlock = 0xFF, units.Second, units.Second
		one := snap.Stats.Ports[0]
		for r := range one.Discards {
			for prio := range one.Discards[r] {
				one.Discards[r][prio] = 1
			}
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

// The table says of what there is a series, and how many there can be; a node on
// which everything happened has exactly those.
func TestTableOfMetricsIsTheScrape(t *testing.T) {
	scraped := map[owner]map[string]bool{}
	for of, host := range map[owner]bool{switches: false, hosts: true} {
		ports, series := 3, Series{0, 0b1011}
		if host {
			ports, series.Flows = 1, 7
		}
		text := scrapeOf(t, busiest(host, ports, 20), series)
		lines := 0
		scraped[of] = map[string]bool{}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "photon_") {
				lines++
			}
			if words := strings.Fields(line); words[0] == "#" && words[1] == "TYPE" && strings.HasPrefix(words[2], "photon_") {
				scraped[of][words[2]+" "+words[3]] = true
			}
		}
		if most := sizeOf(of).most(ports, 1, series); lines != most {
			t.Errorf("host %v: %d series, the documents say at most %d", host, lines, most)
		}
	}
	for _, m := range metrics {
		for _, of := range []owner{switches, hosts} {
			if there := scraped[of][m.name+" "+string(m.kind)]; there != of.has(m.of) {
				t.Errorf("%s of %v: scraped %v", m.name, of, there)
			}
			delete(scraped[of], m.name+" "+string(m.kind))
		}
	}
	for _, more := range scraped {
		for name := range more {
			t.Errorf("%s is in no table", name)
		}
	}
}

// Every reason is explained, and named, once.
func TestReasonsAreExplained(t *testing.T) {
	seen := map[string]bool{}
	for r := range dataplane.Reasons {
		for _, text := range []string{r.String(), r.Explain()} {
			if text == "" || seen[text] {
				t.Errorf("reason %d: %q", r, text)
			}
			seen[text] = true
		}
	}
}

// docs/metrics.md is what the table says.
func TestMetricsDoc(t *testing.T) {
	page, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := MetricsDoc(&b); err != nil {
		t.Fatal(err)
	}
	if b.String() != string(page) {
		t.Error("docs/metrics.md is not what photon list metrics --markdown prints")
	}
}

// What a scrape costs beside the workers: a switch of 64 ports, and an agent of
// 4096 flows, metrics made into text.
func BenchmarkScrape(b *testing.B) {
	for name, s := range map[string]*Source{"switch/ports=4": busiest(false, 4, 0), "switch/ports=64": busiest(false, 64, 0), "agent/flows=4096": busiest(true, 1, 4096)} {
		b.Run(name, func(b *testing.B) {
			server, err := Serve("127.0.0.1:0", "v1", s, Series{10, AllPriorities})
			if err != nil {
				b.Fatal(err)
			}
			defer server.Close()
			var size int64
			before := processor(b)
			for b.Loop() {
				r, err := http.Get("http://" + server.Address() + "/metrics")
				if err != nil {
					b.Fatal(err)
				}
				if size, err = io.Copy(io.Discard, r.Body); err != nil {
					b.Fatal(err)
				}
				r.Body.Close()
			}
			b.ReportMetric((processor(b)-before).Seconds()*1e3/float64(b.N), "cpu-ms/op") // of both ends, however busy the machine
			b.ReportMetric(float64(size), "bytes/op")
		})
	}
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
