//go:build dpdk

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// lossyData is an experiment whose data is lossy: there DCQCN marks, discards are no fault, and what is lost is sent
// again alone.
const lossyData = `id: test/lossy
title: two flows into one port, which is lossy
duration: 3s
worlds: [sim, dpdk]
topology: {kind: star, hosts: 3}
parameters:
  link_rate: 20Mbps
  host_delay: 1ms
  trunk_delay: 1us
  payload: 1000B
  mtu: 1500B
  priority: 0
  lossless: [3]
  xoff: 16KB
  buffer: 4MB
  lossy_queue: 40KB
  lossy_alpha: 0.5
  entropy: packet
  recovery: selective
  window: 200
  ack_timeout: 500ms
flows:
  - {name: all, from: "H0,H1", to: H2, size: 500KB}
schemes: [{name: dcqcn, params: {min_rate: 1Mbps, kmin: 4KB, kmax: 8KB, pmax: 0.5}}]
measure:
  sample: 10ms
  probes:
    - {name: notified, kind: notified, flows: [all]}
    - {name: discarded, kind: discarded, at: [S0>H2]}
  metrics:
    - {name: cnps, do: last, of: notified}
    - {name: discards, do: last, of: discarded}
    - {name: ended, do: completed, flows: [all]}
`

// A switch and agents that a testbed starts have the experiment's recovery, and the scheme where its data is.
func TestTestbedOfLossyData(t *testing.T) {
	sw, hosts := star(t)
	dir := t.TempDir()
	testbed, experiment := filepath.Join(dir, "testbed.yaml"), filepath.Join(dir, "lossy.yaml")
	for file, text := range map[string]string{testbed: devicesOf(sw, hosts), experiment: lossyData} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(beMain, "1") // for the processes that the testbed starts
	for _, world := range [][]string{{"sim"}, {"dpdk", "--testbed", testbed}} {
		if code := run(append([]string{"run", experiment, "--out", dir, "--world"}, world...)); code != 0 {
			t.Fatalf("%v: exit code %d", world, code)
		}
	}
	for _, world := range []string{"sim", "dpdk"} {
		b, err := os.ReadFile(filepath.Join(dir, "test-lossy", world, "result.json"))
		if err != nil {
			t.Fatal(err)
		}
		var r testbedResult
		if err := json.Unmarshal(b, &r); err != nil || len(r.Runs) != 1 {
			t.Fatalf("%v\n%s", err, b)
		}
		run, m := r.Runs[0], map[string]float64{}
		for name, v := range run.Metrics {
			if v != nil {
				m[name] = *v
			}
		}
		t.Logf("%s: %v of two flows ended, %v discards, %v CNPs", world, m["ended"], m["discards"], m["cnps"])
		if m["ended"] != 2 || m["cnps"] == 0 || !run.Invariants.OK || run.Invariants.Lost != 0 {
			t.Errorf("%s: %s", world, b)
		}
	}
}
