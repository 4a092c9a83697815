//go:build dpdk

package run

import "testing"

// On DPDK one seed runs, unless more are asked for.
func TestRepeatOnDPDK(t *testing.T) {
	repeats(t, "dpdk", 0, 5)
	repeats(t, "dpdk", 2, 5, 6)
}
