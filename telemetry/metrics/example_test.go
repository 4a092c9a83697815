package metrics_test

import (
	"fmt"
	"strings"

	"photon/telemetry/metrics"
)

// All that is exported is in one table, from which docs/metrics.md is made too.
func Example() {
	for _, m := range metrics.All() {
		if strings.HasPrefix(m.Name, "photon_pfc_tx_") {
			fmt.Println(m.Name, m.Type)
		}
	}
	// Output:
	// photon_pfc_tx_frames_total counter
	// photon_pfc_tx_paused_seconds_total counter
	// photon_pfc_tx_transitions_total counter
}
