package metrics_test

import (
	"fmt"
	"strings"
	"testing"

	"photon/internal/sample"
	"photon/telemetry"
	"photon/telemetry/metrics"
)

// The first loss is an increase to Prometheus, which needs a zero before it: where a port sends PAUSE, all priorities
// are lossless, at it and wherever its frames leave; and a NIC may be too slow for its peer, too.
func TestLossesBeginWithZero(t *testing.T) {
	pausing := sample.Source(false)
	take := pausing.Snapshot
	pausing.Snapshot = func() telemetry.Snapshot {
		s := take()
		s.Lossless, s.Buffer.Lossless = 0, 0
		s.Buffer.Ports, s.Buffer.PFC = []uint8{1}, []uint8{0}
		return s
	}
	all := metrics.Series{Priorities: metrics.AllPriorities}
	text := scrapeOf(t, pausing, all)
	for prio := range 8 {
		for _, reason := range []string{"headroom", "no_memory", "link_down"} {
			const series = "photon_port_discards_total{node=\"n1\",port=\"sw0\",priority=\"%d\",reason=\"%s\"} 0\n"
			if want := fmt.Sprintf(series, prio, reason); !strings.Contains(text, want) {
				t.Errorf("a port sends PAUSE, and there is no %s", want)
			}
		}
		const first = "photon_port_lossless_first_loss_timestamp_seconds{node=\"n1\",port=\"sw0\",priority=\"%d\"} "
		if want := fmt.Sprintf(first, prio); !strings.Contains(text, want) {
			t.Errorf("a port sends PAUSE, and there is no %s", want)
		}
	}
	nic := sample.Source(true)
	host := nic.Snapshot
	nic.Snapshot = func() telemetry.Snapshot { s := host(); s.NIC = true; return s }
	sample.Contains(t, scrapeOf(t, nic, all),
		`photon_port_discards_total{node="n1",port="sw0",priority="3",reason="headroom"} 0`)
}

// The names of interfaces may be any bytes, of which Prometheus takes UTF-8 only; and a device that is being closed has
// no counters, which must not look as if they had begun anew.
func TestScrapeOfStrangePorts(t *testing.T) {
	strange := sample.Source(false)
	take := strange.Snapshot
	strange.Snapshot = func() telemetry.Snapshot {
		s := take()
		s.Ports = []string{"a\"b\\c\xff"}
		s.Devices[0].Spec = ""
		return s
	}
	text := scrapeOf(t, strange, metrics.Series{Priorities: metrics.AllPriorities})
	sample.Contains(t, text, `photon_port_rx_packets_total{node="n1",port="a\\\"b\\\\c\\xff",priority="3"} 10`)
	if strings.Contains(text, "photon_device_rx_missed_total{") {
		t.Error("a device that is not there has counters")
	}
}
