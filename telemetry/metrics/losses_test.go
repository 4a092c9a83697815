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
