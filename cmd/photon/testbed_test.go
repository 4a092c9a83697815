//go:build dpdk

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"photon/internal/testnet"
)

// twoIntoOne is an experiment of three hosts on a switch at a rate that shared
// cores manage: a frame takes half a millisecond, so that four polling processes on two
// busy cores do not send in bunches. In a bunch PCN marks every frame but the last.
const twoIntoOne = `id: test/two
title: two flows into one port
duration: 5s
worlds: [sim, dpdk]
topology: {kind: star, hosts: 3}
parameters:
  link_rate: {value: 20Mbps, source: test}
  host_delay: {value: 1ms, source: test}
  trunk_delay: {value: 1us, source: test}
  payload: {value: 1000B, source: test}
  mtu: {value: 1500B, source: test}
  priority: {value: 3, source: test}
  xoff: {value: 16KB, source: test}
  xon: {value: 12KB, source: test}
  buffer: {value: 4MB, source: test}
flows:
  - {name: long, from: "H0,H1", to: H2}
  - {name: short, from: H0, to: H2, size: 50KB, start: 300ms}
schemes:
  - {name: none}
  - {name: pcn, params: {period: {value: 50ms, source: "ours: polls on shared cores"}}}
measure:
  kind: dynamics
  from: S0
  to: H2
  sample: 1ms
  steady: {from: 3s, to: 5s}
  queue: {from: 500ms, to: 5s}
  probes:
    - {name: notified, kind: notified, flows: [long]}
    - {name: short, kind: received, flows: [short]}
  metrics:
    - {name: cnps, do: last, of: notified}
    - {name: short_bytes, do: last, of: short}
    - {name: fct, do: fct, flows: [short], stat: max}
`

// star is three namespaces with eth0 around one with sw0 to sw2.
func star(t *testing.T) (sw *testnet.Namespace, hosts [3]*testnet.Namespace) {
	sw = testnet.New(t, "sw")
	for i := range hosts {
		hosts[i] = testnet.New(t, fmt.Sprintf("h%d", i))
		testnet.Veth(t, hosts[i], "eth0", sw, fmt.Sprintf("sw%d", i))
	}
	return sw, hosts
}

// devicesOf is a testbed of these, whose nodes it starts.
func devicesOf(sw *testnet.Namespace, hosts [3]*testnet.Namespace) string {
	text := fmt.Sprintf("response: 20ms\nnodes:\n  S0:\n    netns: %s\n    delay: true\n    links:\n", sw.Name)
	for i := range hosts {
		text += fmt.Sprintf("      H%d: \"net_af_packet%d,iface=sw%d\"\n", i, i, i)
	}
	for i, h := range hosts {
		text += fmt.Sprintf("  H%d: {netns: %s, delay: true, port: \"net_af_packet0,iface=eth0\"}\n", i, h.Name)
	}
	return text
}

// testbedResult is what the test reads of result.json.
type testbedResult struct {
	World string
	Runs  []struct {
		Scheme     string
		Metrics    map[string]*float64
		Invariants struct {
			Lost uint64 `json:"lost_frames"`
			OK   bool   `json:"conservation_ok"`
		}
	}
}

// onTestbed runs the experiment and checks what came of it.
func onTestbed(t *testing.T, file string) {
	t.Helper()
	dir := t.TempDir()
	experiment := filepath.Join(dir, "two.yaml")
	if err := os.WriteFile(experiment, []byte(twoIntoOne), 0o644); err != nil {
		t.Fatal(err)
	}
	if code := run([]string{"run", experiment, "--world", "dpdk", "--testbed", file, "--out", dir}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	b, err := os.ReadFile(filepath.Join(dir, "test-two", "dpdk", "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r testbedResult
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 2 {
		t.Fatalf("%s", b)
	}
	for _, run := range r.Runs {
		m := func(name string) float64 {
			if v := run.Metrics[name]; v != nil {
				return *v
			}
			t.Errorf("%s: no %s", run.Scheme, name)
			return 0
		}
		if run.Invariants.Lost != 0 || !run.Invariants.OK {
			t.Errorf("%s: %+v", run.Scheme, run.Invariants)
		}
		t.Logf("%s: goodput %.0f, jain %.2f", run.Scheme, m("goodput_bps"), m("jain"))
		// How much of the link's rate four polling processes fill is up to who else
		// wants the cores: a pacer does not make up for what it missed.
		if g := m("goodput_bps"); g < 0.5e6 || g > 20.4e6 {
			t.Errorf("%s: goodput %.0f", run.Scheme, g)
		}
		if m("peak_queue_bytes") < 2000 || m("fct") <= 0 || m("short_bytes") < 50_000 || m("jain") < 0.5 {
			t.Errorf("%s: %s", run.Scheme, b)
		}
		if cnps := m("cnps"); (cnps > 0) != (run.Scheme == "pcn") {
			t.Errorf("%s: %.0f CNPs", run.Scheme, cnps)
		}
	}
	timing, err := os.ReadFile(filepath.Join(dir, "test-two", "dpdk", "timing.json"))
	if err != nil || !strings.Contains(string(timing), "start_skew_seconds") {
		t.Errorf("timing: %v, %s", err, timing)
	}
}

// The nodes of an experiment are processes of their own, started by the testbed
// and joined by veth cables.
func TestTestbedOfDevices(t *testing.T) {
	sw, hosts := star(t)
	text := devicesOf(sw, hosts)
	file := filepath.Join(t.TempDir(), "testbed.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv(beMain, "1") // for the processes that the testbed starts
	onTestbed(t, file)
}

// sshd is one of the test's own, and ssh's configuration to it. It has no port, which
// somebody else might have: ssh starts one for each connection, at the end of a pipe.
func sshd(t *testing.T) (config string) {
	t.Helper()
	dir := t.TempDir()
	for _, key := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // sshd separates its privileges there
		t.Fatal(err)
	}
	server := fmt.Sprintf("HostKey %s/host\nAuthorizedKeysFile %s/user.pub\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\nAcceptEnv %s\n", dir, dir, beMain)
	client := fmt.Sprintf("Host bed\n  ProxyCommand /usr/sbin/sshd -i -f %s/server -E %s/log\n  IdentityFile %s/user\n  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  UserKnownHostsFile %s/known\n  SendEnv %s\n", dir, dir, dir, dir, beMain)
	config = filepath.Join(dir, "client")
	for name, text := range map[string]string{"server": server, "client": client} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if log, err := os.ReadFile(filepath.Join(dir, "log")); t.Failed() {
			t.Logf("sshd says (%v)\n%s", err, log)
		}
	})
	return config
}

// The nodes run already, in their namespaces, and are reached by their sockets: the switch and one agent through ssh,
// as those of other machines are. One host is in another network, to which the switch routes.
func TestTestbedThroughSSH(t *testing.T) {
	sw, hosts := star(t)
	config := sshd(t)
	dir := t.TempDir()
	begin := func(n *testnet.Namespace, name, command, text string) (socket string, p *process) {
		socket = filepath.Join(t.TempDir(), name+".sock")
		file := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(file, []byte("name: "+name+"\nadmin: "+socket+"\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
		return socket, start(t, n, command, "-c", file)
	}
	ports := ""
	for i := range hosts {
		ports += fmt.Sprintf("  - {device: \"net_af_packet%d,iface=sw%d\", rate: 20Mbps}\n", i, i)
	}
	at, router := begin(sw, "S0", "switch", "pfc: {xoff: 16KB, xon: 12KB, response: 20ms}\nscheme: {name: pcn}\n"+
		"router: {mac: '02:00:00:00:aa:aa'}\nroutes:\n"+
		"- {prefix: 10.9.1.0/24, via: [{port: 2, mac: '02:00:0a:09:01:03'}]}\n"+
		"- {prefix: 10.9.0.1/32, via: [{port: 0, mac: '02:00:0a:09:00:01'}]}\n"+
		"- {prefix: 10.9.0.2/32, via: [{port: 1, mac: '02:00:0a:09:00:02'}]}\nports:\n"+ports)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("ssh: [ssh, -F, %q, -o, BatchMode=yes]\nphoton: %q\nnodes:\n  S0: {ssh: bed, socket: %q, links: {H0: sw0, H1: sw1, H2: sw2}}\n", config, self, at)
	for i, h := range hosts {
		net := fmt.Sprintf("10.9.%d.", i/2)
		at, _ := begin(h, fmt.Sprintf("h%d", i), "agent", fmt.Sprintf("ip: %s%d\n"+
			"gateway: {mac: '02:00:00:00:aa:aa', network: %s0/24}\n"+
			"port: {device: \"net_af_packet0,iface=eth0\", rate: 20Mbps}\n", net, i+1, net))
		how := fmt.Sprintf("socket: %q", at)
		if i == 0 {
			how = "ssh: bed, " + how
		}
		text += fmt.Sprintf("  H%d: {%s}\n", i, how)
	}
	file := filepath.Join(dir, "testbed.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv(beMain, "1") // for the photon that ssh starts
	onTestbed(t, file)
	atLeast(t, router.metrics(), 100, "photon_port_routed_packets_total", `port="sw0"`)
	atLeast(t, router.metrics(), 100, "photon_port_routed_packets_total", `port="sw1"`)
}
