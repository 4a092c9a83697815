//go:build rxe

package guest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rcRun is a connection between rc (testdata/rc.c) in the guest and a flow of the agent.
type rcRun struct {
	mode            string // of rc
	messages, bytes int
	flow            string // what the agent's flow does; %[1]s is the guest's address, %[2]s its rkey
	memory          uint64 // of rc: where in the agent's memory it writes or reads
}

// Where things are in the agent's memory: what the guest reads, which is as it was at the start; what it writes; what the
// agent reads; and the buffers for SENDs.
const (
	verbsBase, verbsPart = 0x7_0000_1000, 256 << 10
	sourceAt             = verbsBase
	writtenAt            = verbsBase + verbsPart
	readAt               = verbsBase + 2*verbsPart
	sentAt               = verbsBase + 3*verbsPart
)

var rcRuns = []rcRun{
	{"target", 3, 50_001, "size: 50001B, messages: 3, write: {address: %[1]s, rkey: %[2]s}", 0},
	{"source", 2, 40_003, fmt.Sprintf("size: 40003B, messages: 2, read: {address: %%[1]s, rkey: %%[2]s, into: %d}", readAt), 0},
	{"receive", 4, 30_002, "size: 30002B, messages: 4", 0},
	{"write", 3, 60_001, "messages: 0", writtenAt},
	{"read", 2, 45_007, "messages: 0", sourceAt},
	{"send", 5, 20_001, fmt.Sprintf("messages: 0, receive: {address: %d, size: 20001B, count: 8}", sentAt), 0},
}

// verbsPattern is what rc and the agent send as a message.
func verbsPattern(message, size int) []byte {
	b := make([]byte, (size+7)/8*8)
	for j := range len(b) / 8 {
		binary.LittleEndian.PutUint64(b[8*j:], (uint64(message)<<32+uint64(j)+1)*0x9E3779B97F4A7C15)
	}
	return b[:size]
}

// An agent writes, reads and sends to queue pairs of Soft-RoCE, and these to the agent's, all at once, with numbers and PSNs
// that differ, and frames of data and acknowledgements that are lost, spoilt and repeated both ways. All data are compared
// where they came to.
func TestAgentVerbs(t *testing.T) {
	const spoil = `  impair:
    rules:
    - {do: lose, frames: data, packets: [9, 61, 62, 140, 300]}
    - {do: lose, frames: ack, packets: [2, 5, 11]}
    - {do: corrupt, frames: data, packets: [33, 200]}
    - {do: duplicate, frames: data, packets: [50, 170]}
    - {do: lose, rate: 0.02}
`
	n := newRDMA(t, 1, "40Mbps", rdmaScheme{"none", ""}, spoil, spoil)
	n.guests[0].Run("/usr/bin/ip neigh add 10.9.0.9 lladdr 02:00:0a:09:00:09 dev eth0")
	for _, mtu := range []int{1024, 256, 4096} {
		n.verbs(mtu)
	}
	for _, port := range []string{"sw0", "sw1"} {
		for action, least := range map[string]uint64{"lose": 6, "corrupt": 1, "duplicate": 1} {
			if did := n.sw.metric("photon_port_impaired_frames_total", fmt.Sprintf("port=%q", port), fmt.Sprintf("action=%q", action)); did < least {
				t.Errorf("%s: only %d frames met with %s", port, did, action)
			} else {
				t.Logf("%s: %s of %d frames", port, action, did)
			}
		}
	}
}

// verbs has all of rcRuns be done at a time.
func (n *rdma) verbs(mtu int) {
	n.Helper()
	guest, before := n.guests[0], n.rxeCounters(0)
	var flows, wanted []string
	for i, r := range rcRuns {
		// PSNs of the guest's wrap, and no number of either end is one of the other's.
		qp, psn, peer := 0x50_0000+i, 1<<24-3-i, 1000*(i+1)
		guest.Run(fmt.Sprintf("rm -f /tmp/in%[1]d /tmp/out%[1]d; mkfifo /tmp/in%[1]d; { rc %[2]s rxe0 1 %[3]d 18 %[4]d %[5]d %[6]d </tmp/in%[1]d >/tmp/out%[1]d 2>&1; echo rc $? >>/tmp/out%[1]d; } & sleep 1000 >/tmp/in%[1]d & echo $! >/tmp/pid%[1]d",
			i, r.mode, mtu, psn, r.messages, r.bytes))
		here := strings.Fields(guest.Run(fmt.Sprintf("until grep -qsE '^(here|rc)' /tmp/out%[1]d; do sleep 0.1; done; cat /tmp/out%[1]d", i)))
		if len(here) < 4 || here[0] != "here" {
			n.Fatalf("%s: %q", r.mode, here)
		}
		guest.Run(fmt.Sprintf("echo '%d %d %d %d 10.9.0.9' >/tmp/in%d", qp, peer, r.memory, 0x1234, i))
		guest.Run(fmt.Sprintf("until grep -qsE '^(ready|rc)' /tmp/out%[1]d; do sleep 0.1; done", i))
		flows = append(flows, fmt.Sprintf("- {to: %s, to_mac: %q, qp: %s, local_qp: %d, psn: %d, peer_psn: %d, %s}\n",
			guestIP(0), guestMAC(0), here[1], qp, peer, psn, strings.ReplaceAll(strings.ReplaceAll(r.flow, "%[1]s", here[2]), "%[2]s", here[3])))
		wanted = append(wanted, here[1])
	}
	results, file := filepath.Join(n.TempDir(), "flows.csv"), filepath.Join(n.TempDir(), "memory")
	wires := map[string]func() string{"10.9.0.9": capture(n.T, n.sw.inside, "sw1"), guestIP(0): capture(n.T, n.hosts[1], "eth0")} // by who sends
	host := n.start(n.hosts[1], "agent", fmt.Sprintf(`name: host
port: {device: "net_af_packet0,iface=eth0", rate: 40Mbps}
ip: 10.9.0.9
payload: %dB
scheme: {name: none}
pfc: {priorities: [3]}
ack_timeout: 1s
results: %s
metrics: 127.0.0.1:9464
memory: {address: %d, rkey: 0x1234, size: 1MiB, file: %s}
dpdk: {sleep: 100us}
flows:
%s`, mtu, results, uint64(verbsBase), file, strings.Join(flows, "")))
	for i, r := range rcRuns { // those that send begin
		if r.mode == "write" || r.mode == "read" || r.mode == "send" || r.mode == "receive" {
			guest.Run(fmt.Sprintf("echo go >/tmp/in%d", i))
		}
	}
	ended := func() string { b, _ := os.ReadFile(results); return string(b) }
	eventually(n.T, func() bool { return strings.Count(ended(), "\n") >= 4 }, func() string {
		return fmt.Sprintf("the agent's flows do not end: %s\n%s\n%s", ended(), host.log.String(), guest.Run("tail -n 3 /tmp/out*"))
	})
	if all := ended(); strings.Count(all, ",done,") != 3 {
		n.Errorf("the agent's flows:\n%s", all)
	} else {
		n.Logf("mtu %d:\n%s", mtu, all)
	}
	for i, r := range rcRuns {
		if r.mode == "target" || r.mode == "source" {
			guest.Run(fmt.Sprintf("echo look >/tmp/in%d", i))
		}
		out := guest.Run(fmt.Sprintf("until grep -qE '^(done|rc)' /tmp/out%[1]d; do sleep 0.1; done; echo end >/tmp/in%[1]d; until grep -q '^rc' /tmp/out%[1]d; do sleep 0.1; done; kill $(cat /tmp/pid%[1]d); cat /tmp/out%[1]d", i))
		if !strings.Contains(out, "rc 0") {
			n.Errorf("%s, queue pair %s: %s", r.mode, wanted[i], out)
		}
	}
	host.stop()
	n.compare(file)
	for from, end := range wires {
		n.dissected(end(), from)
	}
	after := n.rxeCounters(0)
	for _, what := range []string{"out_of_seq_request", "rcvd_seq_err", "duplicate_request", "completer_retry_err"} {
		n.Logf("%s %d", what, after[what]-before[what])
	}
}

// compare holds the agent's memory to what the guest's programs did, and what it was at the start.
func (n *rdma) compare(file string) {
	n.Helper()
	got, err := os.ReadFile(file)
	if err != nil {
		n.Fatal(err)
	}
	want := verbsPattern(0, 1<<20)
	for _, r := range rcRuns {
		at, whole := -1, 0
		switch r.mode {
		case "write":
			at = writtenAt - verbsBase
		case "source":
			at = readAt - verbsBase
		case "send":
			at = sentAt - verbsBase
		}
		for m := range r.messages {
			if at >= 0 {
				whole += copy(want[at+m*r.bytes:], verbsPattern(m, r.bytes))
			}
		}
		if at >= 0 && (len(got) != len(want) || !bytes.Equal(got[at:at+whole], want[at:at+whole])) {
			n.Errorf("%s: the agent has other data, or not as many: %d bytes", r.mode, len(got))
		}
	}
	if !bytes.Equal(got, want) {
		n.Error("the agent's memory has changed where nobody wrote")
	}
}

// dissected has tshark look at what one end sent: all kinds of packets, and of the agent's none that is malformed. (Photon
// spoils some of the guest's on their way.)
func (n *rdma) dissected(file, from string) {
	n.Helper()
	if k := frames(n.T, file, malformed); k > 0 && from != guestIP(0) {
		n.Errorf("%d malformed packets\n%s", k, dissect(n.T, file, malformed, "-V", "-x"))
	}
	for opcode, what := range map[int]string{2: "SENDs", 8: "WRITEs", 12: "READ requests", 15: "READ responses", 17: "acknowledgements"} {
		if k := frames(n.T, file, fmt.Sprintf("infiniband.bth.opcode == %d && ip.src == %s", opcode, from)); k == 0 {
			n.Errorf("no %s from %s", what, from)
		}
	}
}
