//go:build dpdk

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"photon/internal/testnet"
)

// twoWays is an experiment of two ways between two racks, whose packets take both, with data that is lossy: there DCQCN
// marks, discards are no fault, and what is lost is sent again alone.
const twoWays = `id: test/ways
title: packets of a flow take two ways
duration: 3s
worlds: [sim, dpdk]
topology:
  kind: free
  nodes:
  - {name: A, host: true}
  - {name: B, host: true}
  - {name: X, host: true}
  - {name: T0}
  - {name: T1}
  - {name: C0}
  - {name: C1}
  links:
  - {a: A, b: T0, rate: 20Mbps, delay: 1ms}
  - {a: X, b: T0, rate: 20Mbps, delay: 1ms}
  - {a: B, b: T1, rate: 20Mbps, delay: 1ms}
  - {a: T0, b: C0, rate: 20Mbps, delay: 1us}
  - {a: T0, b: C1, rate: 20Mbps, delay: 1us}
  - {a: C0, b: T1, rate: 20Mbps, delay: 1us}
  - {a: C1, b: T1, rate: 20Mbps, delay: 1us}
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
  - {name: all, from: "A,X", to: B, size: 500KB}
schemes: [{name: dcqcn, params: {min_rate: 1Mbps, kmin: 4KB, kmax: 8KB, pmax: 0.5}}]
measure:
  sample: 10ms
  probes:
    - {name: notified, kind: notified, flows: [all]}
    - {name: discarded, kind: discarded, at: [T1>B]}
    - {name: ways, kind: sent, each: true, at: [C0>T1, C1>T1]}
  metrics:
    - {name: cnps, do: last, of: notified}
    - {name: discards, do: last, of: discarded}
    - {name: uneven, do: gap, of: ways}
    - {name: ended, do: completed, flows: [all]}
`

// Switches and agents that a testbed starts have the experiment's ways, its recovery, and the scheme where its data is.
func TestTestbedOfTwoWays(t *testing.T) {
	nodes := map[string]*testnet.Namespace{}
	for _, name := range []string{"A", "X", "B", "T0", "T1", "C0", "C1"} {
		nodes[name] = testnet.New(t, name)
	}
	devices := map[string]string{}
	for _, link := range []string{"A T0", "X T0", "B T1", "T0 C0", "T0 C1", "C0 T1", "C1 T1"} {
		a, b, _ := strings.Cut(link, " ")
		testnet.Veth(t, nodes[a], "to"+b, nodes[b], "to"+a)
		for _, end := range [][2]string{{a, b}, {b, a}} {
			if devices[end[0]] != "" {
				devices[end[0]] += ", "
			}
			devices[end[0]] += fmt.Sprintf("%s: \"net_af_packet_to%s,iface=to%s\"", end[1], end[1], end[1])
		}
	}
	text, rack := "response: 20ms\nnodes:\n", map[string]string{"A": "T0", "X": "T0", "B": "T1"}
	for name, n := range nodes {
		links := "links: {" + devices[name] + "}"
		if host := rack[name] != ""; host {
			links = "port: \"net_af_packet0,iface=to" + rack[name] + "\""
		}
		text += fmt.Sprintf("  %s: {netns: %s, delay: true, %s}\n", name, n.Name, links)
	}
	dir := t.TempDir()
	testbed, experiment := filepath.Join(dir, "testbed.yaml"), filepath.Join(dir, "ways.yaml")
	for file, text := range map[string]string{testbed: text, experiment: twoWays} {
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
		b, err := os.ReadFile(filepath.Join(dir, "test-ways", world, "result.json"))
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
		t.Logf("%s: %v of two flows ended, %v discards, %v CNPs, ways differ by %.2f",
			world, m["ended"], m["discards"], m["cnps"], m["uneven"])
		if m["ended"] != 2 || m["uneven"] > 0.3 || m["cnps"] == 0 || !run.Invariants.OK || run.Invariants.Lost != 0 {
			t.Errorf("%s: %s", world, b)
		}
	}
}
