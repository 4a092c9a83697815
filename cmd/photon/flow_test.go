//go:build dpdk

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/telemetry/show"
)

// agents are hosts on one cable, each an agent with a socket.
type agents struct {
	t       *testing.T
	ns      [2]*testnet.Namespace
	process [2]*process
	file    [2]string // configuration
	socket  [2]string
	results string
}

// startAgents has two agents on a veth cable; the first has these lines, too.
func startAgents(t *testing.T, lines string) *agents {
	t.Helper()
	ns := [2]*testnet.Namespace{testnet.New(t, "h0"), testnet.New(t, "h1")}
	testnet.Veth(t, ns[0], "eth0", ns[1], "eth0")
	return startAgentsIn(t, ns, [2]string{"10.9.0.1", "10.9.0.2"}, [2]string{lines, ""})
}

// startAgentsIn has an agent in each of two namespaces, at eth0, with these addresses and lines.
func startAgentsIn(t *testing.T, ns [2]*testnet.Namespace, ip, lines [2]string) *agents {
	t.Helper()
	a := &agents{t: t, ns: ns, results: filepath.Join(t.TempDir(), "results.csv")}
	for i := 1; i >= 0; i-- {
		dir := t.TempDir()
		a.socket[i] = filepath.Join(dir, "a.sock")
		text := fmt.Sprintf("name: h%d\nip: %s\nadmin: %s\n", i, ip[i], a.socket[i]) +
			"port: {device: \"net_af_packet0,iface=eth0\", rate: 100Mbps}\n"
		if i == 0 {
			text += "results: " + a.results + "\n"
		}
		a.file[i] = filepath.Join(dir, "agent.yaml")
		if err := os.WriteFile(a.file[i], []byte(text+lines[i]), 0o644); err != nil {
			t.Fatal(err)
		}
		a.process[i] = start(t, a.ns[i], "agent", "-c", a.file[i])
	}
	return a
}

// flow runs `photon flow` at the first agent and returns what it printed and its exit code.
func (a *agents) flow(words ...string) (string, int) {
	a.t.Helper()
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append(append([]string{"flow"}, words...), "--socket", a.socket[0]))
	if err := root.Execute(); err != nil {
		return out.String() + err.Error(), 2
	}
	return out.String(), 0
}

func (a *agents) must(words ...string) string {
	a.t.Helper()
	out, code := a.flow(words...)
	if code != 0 {
		a.t.Fatalf("photon flow %s: %s\n%s", strings.Join(words, " "), out, a.process[0].log)
	}
	return out
}

func (a *agents) list() (d show.FlowList) {
	a.t.Helper()
	if err := json.Unmarshal([]byte(a.must("list", "--json")), &d); err != nil {
		a.t.Fatal(err)
	}
	return d
}

// until waits for a state of the flows.
func (a *agents) until(what string, ok func(show.FlowList) bool) {
	a.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(a.list()); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			a.t.Fatalf("not within a minute: %s\n%s\n%s", what, a.must("list"), a.process[0].log)
		}
	}
}

func inState(n int, state string) func(show.FlowList) bool {
	return func(d show.FlowList) bool {
		found := 0
		for _, f := range d.Flows {
			if f.State == state {
				found++
			}
		}
		return found == n
	}
}

// Flows are ordered, listed and stopped by the admin socket; their results are in
// the list, in the file, in the log and in the metrics.
func TestFlowsByTheAdminSocket(t *testing.T) {
	a := startAgents(t, "flows:\n  - {to: 10.9.0.2, qp: 9, size: 20KB}\n")
	a.until("the configuration's flow is done", func(d show.FlowList) bool { return inState(1, "done")(d) })
	if out := a.must("add", "--to", "10.9.0.2", "--size", "100KB", "--count", "3", "--group", "short"); out != "flows 2 to 4\n" {
		t.Errorf("add: %s", out)
	}
	if out := a.must("add", "--to", "10.9.0.2", "--rate", "5Mbps", "--group", "long"); out != "flow 5\n" {
		t.Errorf("add: %s", out)
	}
	a.must("add", "--to", "10.9.0.2", "--start", "1000s", "--group", "late")
	a.until("three short flows are done", func(d show.FlowList) bool {
		return inState(4, "done")(d) && inState(1, "running")(d) && inState(1, "pending")(d)
	})
	if out := a.must("stop", "--group", "late"); out != "1 stopped\n" {
		t.Errorf("stop: %s", out)
	}
	a.until("the long flow sends", func(d show.FlowList) bool { return d.Flows[4].Packets > 100 })
	if out := a.must("stop", "5", "1"); out != "1 stopped\n" {
		t.Errorf("stop: %s", out)
	}

	file := filepath.Join(t.TempDir(), "flows.yaml")
	text := "hosts: [10.9.0.1, 10.9.0.2]\nflows:\n  - {name: group, to: 10.9.0.2, count: 2, size: 10KB}\n  - {from: 10.9.0.2, to: 10.9.0.1, size: 1KB}\n" +
		"workloads:\n  - {name: poisson, sizes: websearch, from: \"*\", to: \"*\", load: 0.1, capacity: 100Mbps, flows: 20}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	before := len(a.list().Flows)
	a.must("add", "-f", file)
	d := a.list()
	groups := map[string]int{}
	for _, f := range d.Flows[before:] {
		groups[f.Group]++
	}
	if groups["group"] != 2 || groups["poisson"] == 0 || groups["poisson"] == 20 || len(groups) != 2 {
		t.Errorf("of the file: %v", groups)
	}
	a.until("the group is done", func(d show.FlowList) bool {
		done := 0
		for _, f := range d.Flows {
			if f.Group == "group" && f.State == "done" && f.FCT > 0 && f.Rate > 0 {
				done++
			}
		}
		return done == 2
	})
	a.must("stop", "--all")

	m := a.process[0].metrics()
	atLeast(t, m, 6, "photon_flow_completion_seconds_count")
	atLeast(t, m, 6, "photon_flows_completed_total")
	a.must("add", "--to", "10.9.0.2", "--rate", "5Mbps", "--group", "unfinished") // a row as the agent ends
	a.until("it sends", func(d show.FlowList) bool { return d.Flows[len(d.Flows)-1].Packets > 10 })
	rows, err := csv.NewReader(strings.NewReader(a.must("list", "--csv"))).ReadAll()
	if err != nil || len(rows) != len(a.list().Flows)+1 || len(rows[1]) != len(show.FlowCSV) {
		t.Errorf("CSV: %v, %d rows", err, len(rows))
	}
	a.process[0].stop()
	b, err := os.ReadFile(a.results)
	if err != nil {
		t.Fatal(err)
	}
	if written, err := csv.NewReader(bytes.NewReader(b)).ReadAll(); err != nil || len(written) != len(rows) {
		t.Errorf("results: %v, %d rows, expected %d", err, len(written), len(rows))
	} else if last := strings.Join(written[len(written)-1], ","); !strings.Contains(last, "unfinished") ||
		!strings.Contains(last, ",stopped,") {
		t.Errorf("the flow that was under way: %s", last)
	}
}

// Two networks, and a switch that routes between them: flows of the configuration, of a file of traffic, by command and
// by a file of the command all go to the router, which sends them on.
func TestFlowsThroughARouter(t *testing.T) {
	const router = `vlans:
- {id: 10, untagged: [0, 2]}
- {id: 20, untagged: [1, 3]}
router: {mac: '02:00:00:00:aa:aa'}
routes:
- {prefix: 10.1.0.0/24, via: [{port: 0, vlan: 10, mac: '02:00:0a:01:00:02'}]}
- {prefix: 10.2.0.0/24, via: [{port: 1, vlan: 20, mac: '02:00:0a:02:00:02'}]}
`
	o := operate(t, router)
	file := filepath.Join(t.TempDir(), "flows.yaml")
	const traffic = "hosts: [10.1.0.2, 10.2.0.2]\n" +
		"flows: [{name: file, from: 10.1.0.2, to: 10.2.0.2, count: 2, size: 10KB}]\n"
	if err := os.WriteFile(file, []byte(traffic), 0o600); err != nil {
		t.Fatal(err)
	}
	gateway := func(n int) string {
		return fmt.Sprintf("gateway: {mac: '02:00:00:00:aa:aa', network: 10.%d.0.0/24}\n", n)
	}
	a := startAgentsIn(t, [2]*testnet.Namespace(o.fourHosts.hosts[:2]), [2]string{"10.1.0.2", "10.2.0.2"}, [2]string{
		gateway(1) + "traffic: " + file + "\nflows: [{to: 10.2.0.2, size: 20KB}]\n", gateway(2),
	})
	a.must("add", "--to", "10.2.0.2", "--size", "10KB")
	a.must("add", "-f", file)
	a.until("all flows are done", inState(6, "done"))
	atLeast(t, o.process.metrics(), 70, "photon_port_routed_packets_total", `port="sw0"`) // 70 KB in packets of 1000 B
}

// A flow to an address that nobody has fails after the retries that it was given, and so does one whose
// receiver goes away for good; where a receiver is back in time its flow begins anew, and arrives. The
// list, the log, the metrics and the results say so.
func TestFlowsFail(t *testing.T) {
	t.Parallel()
	a := startAgents(t, "ack_timeout: 50ms\nretries: 8\n") // nine seconds for the receiver to be back
	a.must("add", "--to", "10.9.0.77", "--to-mac", "02:00:0a:09:00:4d", "--size", "1MB", "--group", "absent")
	a.must("add", "--to", "10.9.0.2", "--rate", "20Mbps", "--group", "long")
	a.until("the long flow sends", func(d show.FlowList) bool { return d.Flows[1].Packets > 100 })
	a.process[1].stop()
	a.process[1] = start(t, a.ns[1], "agent", "-c", a.file[1])
	a.until("the flow to nobody failed", inState(1, "failed"))
	d := a.list()
	f := d.Flows[0]
	if f.State != "failed" || !strings.Contains(f.Why, "does not answer") || f.Packets > 1000+8 || d.Failed != 1 {
		t.Errorf("%+v, %d failed", f, d.Failed)
	}
	before := d.Flows[1].Packets
	a.until("the long flow sends again", func(d show.FlowList) bool {
		return d.Flows[1].State == "running" && d.Flows[1].Packets > before+100
	})
	a.process[1].stop()
	a.until("the long flow failed", inState(2, "failed"))
	out := a.must("list", "--state", "failed")
	if !strings.Contains(out, "the receiver does not answer") || !strings.Contains(out, "2 failed") {
		t.Errorf("list: %s", out)
	}
	if out := a.must("add", "--to", "10.9.0.2", "--qp", "77"); out != "flow 3\n" {
		t.Errorf("add: %s", out)
	}
	atLeast(t, a.process[0].metrics(), 2, "photon_flows_failed_total")
	a.process[0].stop()
	if log := a.process[0].log.String(); strings.Count(log, "failed: agent: the receiver does not answer") != 2 {
		t.Errorf("the log: %s", log)
	}
	if b, err := os.ReadFile(a.results); err != nil || strings.Count(string(b), ",failed,") != 2 {
		t.Errorf("results: %v, %s", err, b)
	}
}

// What cannot be done is said in one line that names it.
func TestFlowsThatCannotBe(t *testing.T) {
	a := startAgents(t, "")
	a.must("add", "--to", "10.9.0.2", "--qp", "9")
	for want, words := range map[string][]string{
		"IPv4 and IPv6":             {"add", "--to", "fd00::1"},
		"there is no flow 77":       {"stop", "77"},
		"is not the number":         {"stop", "x"},
		"say which":                 {"stop"},
		"say where to":              {"add"},
		"--count 0":                 {"add", "--to", "10.9.0.2", "--count", "0"},
		"--state gone":              {"list", "--state", "gone"},
		"nowhere.yaml":              {"add", "-f", "nowhere.yaml"},
		`no tenant "gold"`:          {"add", "--to", "10.9.0.2", "--tenant", "gold"},
		"the host's own address":    {"add", "--to", "10.9.0.1"},
		"in use: 9, to 10.9.0.2":    {"add", "--to", "10.9.0.2", "--qp", "9", "--size", "1MB"},
		"weight 256: from 1 to 255": {"add", "--to", "10.9.0.2", "--weight", "256"},
	} {
		if out, code := a.flow(words...); code == 0 || !strings.Contains(out, want) || strings.Contains(out, "\n") {
			t.Errorf("photon flow %s: %d, %s", strings.Join(words, " "), code, out)
		}
	}
}
