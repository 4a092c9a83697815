//go:build dpdk

package dpdk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"photon/fabric"
)

// A warning is logged for a card on another NUMA node than its worker, and for no other.
func TestElsewhere(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{"cpu0/node0", "cpu12/node1", "cpu3/topology"} {
		if err := os.MkdirAll(filepath.Join(root, "sys/devices/system/cpu", d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for core, want := range map[int]int{0: 0, 12: 1, 3: -1, 1: -1} {
		if got := coreNode(root, core); got != want {
			t.Errorf("core %d is of node %d, want %d", core, got, want)
		}
	}
	for _, c := range [][2]int{{0, 0}, {1, 1}, {-1, 0}, {0, -1}} {
		if s := elsewhere(c[0], c[1], 0); s != "" {
			t.Errorf("%v: %s", c, s)
		}
	}
	if s := elsewhere(1, 0, 7); !strings.Contains(s, "the card is on NUMA node 1, its worker on core 7 of node 0") {
		t.Error(s)
	}
	w := newWorld(t, Options{})
	d, err := w.Open("net_null31", 1500)
	if err != nil {
		t.Fatal(err)
	}
	runSwitch(t, w, []Device{d})
	if s := w.Elsewhere(fabric.End{}); s != "" || d.Node != -1 {
		t.Errorf("a virtual device is on node %d: %s", d.Node, s)
	}
}
