package metrics_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"photon/fabric"
	"photon/internal/sample"
	"photon/pfc"
	"photon/telemetry"
	"photon/telemetry/metrics"
	"photon/units"
)

// The names and types are what Prometheus asks of metrics.
func TestMetricsPassTheLinter(t *testing.T) {
	for _, host := range []bool{false, true} {
		r := prometheus.NewRegistry()
		r.MustRegister(metrics.Collector(sample.Source(host), metrics.Series{Flows: 3, Priorities: metrics.AllPriorities}, "v1"))
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
func scrapeOf(t *testing.T, s *telemetry.Source, series metrics.Series) string {
	t.Helper()
	server, err := metrics.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.Serve("v1", s, series)
	return get(t, "http://"+server.Address()+"/metrics")
}

func TestScrape(t *testing.T) {
	text := scrapeOf(t, sample.Source(false), metrics.Series{Flows: 0, Priorities: metrics.AllPriorities})
	sample.Contains(t, text,
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
		`photon_device_flow_control{node="n1",port="sw0",state="not_needed"} 1`,
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
	for _, of := range []string{"xoff_bytes", "headroom_size_bytes", "headroom_bytes", "headroom_watermark_bytes"} {
		if strings.Contains(text, "photon_ingress_"+of+`{node="n1",port="sw0",priority="0"}`) {
			t.Errorf("a lossy priority has ingress_%s", of)
		}
	}
	text = scrapeOf(t, sample.Source(true), metrics.Series{Flows: 2, Priorities: metrics.AllPriorities})
	sample.Contains(t, text,
		`photon_np_cnp_sent_total{node="n1"} 7`, `photon_rp_rate_bytes_per_second_bucket{node="n1",le="125000"} 1`,
		`photon_rp_rate_bytes_per_second_bucket{node="n1",le="+Inf"} 5`, `photon_rp_rate_bytes_per_second_sum{node="n1"} 2.55626`,
		`photon_rp_flows{node="n1"} 5`, `photon_rp_allowed_bytes_per_second{node="n1"} 2.55626`,
		`photon_flow_rate_bytes_per_second{node="n1",peer="10.0.0.2",qp="3"} 2.5e+10`, `photon_flow_cnp_handled_total{node="n1",peer="10.0.0.2",qp="1"} 3`,
		`photon_node_info{kind="agent",node="n1",scheme="pcn"} 1`,
	)
	if n := strings.Count(text, "photon_flow_rate_bytes_per_second{"); n != 2 {
		t.Errorf("%d flows have series, not 2", n)
	}
	if text := scrapeOf(t, sample.Source(false), metrics.Series{Flows: 0, Priorities: 1 << 3}); strings.Contains(text, `priority="0"`) || !strings.Contains(text, `priority="3"`) {
		t.Error("series of priorities that are to have none")
	}
}

func TestServer(t *testing.T) {
	taken := 0
	take := sample.Source(false).Snapshot
	s, err := metrics.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Serve("v1", &telemetry.Source{Snapshot: func() telemetry.Snapshot { taken++; return take() }}, metrics.Series{})
	base := "http://" + s.Address()
	if get(t, base+"/metrics"); taken != 1 {
		t.Errorf("%d snapshots for a scrape", taken)
	}
	missing := func(url string) bool {
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		return r.StatusCode == http.StatusNotFound
	}
	if get(t, base+"/healthz") != "ok\n" || !missing(base+"/debug/pprof/") {
		t.Error("no health, or profiles where who scrapes could ask for them")
	}
	profiles, err := metrics.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	profiles.Profiles()
	if at := "http://" + profiles.Address(); !strings.Contains(get(t, at+"/debug/pprof/"), "goroutine") || !missing(at+"/metrics") {
		t.Error("no profiles, or more than profiles")
	}
	if err := profiles.Close(); err != nil {
		t.Error(err)
	}
	if _, err := metrics.Listen(s.Address()); err == nil {
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
	watched := sample.Source(false)
	take := watched.Snapshot
	watched.Snapshot = func() telemetry.Snapshot {
		snap := take()
		p := &snap.Stats.Ports[0]
		p.Undetermined[3], p.CNMs[3], p.CNPs[3] = 11, 12, 13
		p.Deadlocks[3], p.Deadlocked, snap.Deadlock = 5, 1<<3, units.Second
		p.Watchdog.Under, snap.Watchdog.Action = [4][8]uint64{pfc.Alert: {3: 2}}, pfc.Forward // since a reload
		return snap
	}
	sample.Contains(t, scrapeOf(t, watched, metrics.Series{Flows: 0, Priorities: metrics.AllPriorities}),
		`photon_pfc_watchdog_storms_total{action="forward",node="n1",port="sw0",priority="3"} 0`,
		`photon_pfc_watchdog_storms_total{action="alert",node="n1",port="sw0",priority="3"} 2`,
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
	unwatched := &telemetry.Source{Snapshot: func() telemetry.Snapshot { snap := take(); snap.Watchdog = pfc.WatchdogConfig{}; return snap }}
	if strings.Contains(scrapeOf(t, unwatched, metrics.Series{Flows: 0, Priorities: metrics.AllPriorities}), "photon_pfc_watchdog") {
		t.Error("metrics of a watchdog that is off")
	}
}

// Flows are looked at one after the other: one may end, and another begin with its queue pair, meanwhile. That
// must not spoil the scrape.
func TestScrapeOfAQueuePairTwice(t *testing.T) {
	s := sample.Source(true)
	s.Flows = func(top int) *telemetry.Survey {
		v := telemetry.NewSurvey(top)
		v.Add(telemetry.Flow{Peer: "10.0.0.2", QP: 7, Rate: 2e9})
		v.Add(telemetry.Flow{Peer: "10.0.0.2", QP: 7, Rate: 1e9})
		return v
	}
	text := scrapeOf(t, s, metrics.Series{Flows: 3, Priorities: metrics.AllPriorities})
	const series = `photon_flow_rate_bytes_per_second{node="n1",peer="10.0.0.2",qp="7"}`
	if n := strings.Count(text, series); n != 1 {
		t.Errorf("%d times %s in\n%s", n, series, text)
	}
}

// promtool is Prometheus' own judge of names, units and help texts.
func TestPromtoolChecksMetrics(t *testing.T) {
	for _, host := range []bool{false, true} {
		c := exec.Command("promtool", "check", "metrics")
		c.Stdin = strings.NewReader(scrapeOf(t, sample.Source(host), metrics.Series{Flows: 3, Priorities: metrics.AllPriorities}))
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	}
}

// The table says of what there is a series, and how many there can be; a node on
// which everything happened has exactly those.
func TestTableOfMetricsIsTheScrape(t *testing.T) {
	scraped := map[bool]map[string]bool{}
	for _, host := range []bool{false, true} {
		ports, series := 3, metrics.Series{Flows: 0, Priorities: 0b1011}
		if host {
			ports, series.Flows = 1, 7
		}
		text := scrapeOf(t, sample.Busiest(host, ports, 20), series)
		lines := 0
		scraped[host] = map[string]bool{}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "photon_") {
				lines++
			}
			if words := strings.Fields(line); words[0] == "#" && words[1] == "TYPE" && strings.HasPrefix(words[2], "photon_") {
				scraped[host][words[2]+" "+words[3]] = true
			}
		}
		if most := metrics.Most(host, ports, 1, series); lines != most {
			t.Errorf("host %v: %d series, the documents say at most %d", host, lines, most)
		}
	}
	for _, m := range metrics.All() {
		for host, has := range map[bool]bool{false: m.Switch, true: m.Agent} {
			if there := scraped[host][m.Name+" "+m.Type]; there != has {
				t.Errorf("%s, host %v: scraped %v", m.Name, host, there)
			}
			delete(scraped[host], m.Name+" "+m.Type)
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
	for r := range fabric.Reasons {
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
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := metrics.Document(&b); err != nil {
		t.Fatal(err)
	}
	if b.String() != string(page) {
		t.Error("docs/metrics.md is not what photon list metrics --markdown prints")
	}
}

// What a scrape costs beside the workers: a switch of 64 ports, and an agent of
// 4096 flows, metrics made into text.
func BenchmarkScrape(b *testing.B) {
	for name, s := range map[string]*telemetry.Source{"switch/ports=4": sample.Busiest(false, 4, 0), "switch/ports=64": sample.Busiest(false, 64, 0), "agent/flows=4096": sample.Busiest(true, 1, 4096)} {
		b.Run(name, func(b *testing.B) {
			server, err := metrics.Listen("127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer server.Close()
			server.Serve("v1", s, metrics.Series{Flows: 10, Priorities: metrics.AllPriorities})
			var size int64
			before := sample.Processor(b)
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
			b.ReportMetric((sample.Processor(b)-before).Seconds()*1e3/float64(b.N), "cpu-ms/op") // of both ends, however busy the machine
			b.ReportMetric(float64(size), "bytes/op")
		})
	}
}
