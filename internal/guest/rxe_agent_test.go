//go:build rxe

package guest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// An agent of photon sends to a queue pair of Soft-RoCE, which has been told its own first PSN, and answers what that sends:
// a message of 256 KB each way, packets of which are lost and spoilt. Soft-RoCE's program ends well, so that what it
// received was whole and what it sent was acknowledged; both ends found the gaps that photon made.
func TestAgentAndQueuePair(t *testing.T) {
	const size, mtu, rate = 256 << 10, 1024, "40Mbps" // less than the 67 ms after which the program sends again
	n := newRDMA(t, 1, rate, rdmaScheme{"none", ""},
		"  impair: {rules: [{do: lose, frames: data, packets: [60]}, {do: corrupt, frames: data, packets: [160]}]}\n",
		"  impair: {rules: [{do: lose, frames: data, packets: [50, 130]}, {do: corrupt, frames: data, packets: [210]}]}\n")
	guest := n.guests[0]
	const ip, psn = "10.9.0.9", 0x64
	guest.Run("/usr/bin/ip neigh add " + ip + " lladdr 02:00:0a:09:00:09 dev eth0")
	before := n.rxeCounters(0)
	guest.Run(fmt.Sprintf("rm -f /tmp/rc; { ibv_rc_pingpong -d rxe0 -g 1 -m %d -s %d -n 1 -r 4 >/tmp/pingpong 2>&1; echo $? >/tmp/rc; } &", mtu, size))
	guest.Run(fmt.Sprintf(listening, 18515))
	shown := guest.Run("/usr/bin/rdma resource show qp link rxe0")
	local := regexp.MustCompile(`lqpn (\d+) .*type RC`).FindStringSubmatch(shown)
	if local == nil {
		t.Fatal(shown)
	}
	qp, err := strconv.Atoi(local[1])
	if err != nil {
		t.Fatal(err)
	}
	// What the programs tell each other over TCP: LID, queue pair, first PSN and GID. The agent's queue pair has the same number.
	guest.Run(fmt.Sprintf(`{ printf '0000:%06x:%06x:00000000000000000000ffff0a090009\0'; sleep 2; printf 'done\0'; sleep 1; } | nc 127.0.0.1 18515`, qp, psn))

	results := filepath.Join(t.TempDir(), "flows.csv")
	host := n.start(n.hosts[1], "agent", fmt.Sprintf(`name: host
port: {device: "net_af_packet0,iface=eth0", rate: %s}
ip: %s
payload: %dB
scheme: {name: none}
pfc: {priorities: [3]}
ack_timeout: 5s
results: %s
metrics: 127.0.0.1:9464
dpdk: {sleep: 100us}
flows: [{to: %s, to_mac: %q, qp: %d, psn: %d, size: 256KiB}]
`, rate, ip, mtu, results, guestIP(0), guestMAC(0), qp, psn))
	if rc := guest.Run("until [ -s /tmp/rc ]; do sleep 0.2; done; cat /tmp/rc"); rc != "0" {
		t.Errorf("ibv_rc_pingpong ends with %s\n%s", rc, guest.Run("cat /tmp/pingpong"))
	}
	t.Log(guest.Run("cat /tmp/pingpong"))
	eventually(t, func() bool { b, _ := os.ReadFile(results); return strings.Count(string(b), "\n") == 2 }, func() string {
		b, _ := os.ReadFile(results)
		return fmt.Sprintf("the agent's flow does not end: %s\n%s", b, host.log.String())
	})
	grew := func(what string) uint64 { return n.rxeCounters(0)[what] - before[what] }
	did := func(port, action string) uint64 {
		return n.sw.metric("photon_port_impaired_frames_total", fmt.Sprintf("port=%q", port), fmt.Sprintf("action=%q", action))
	}
	// Two packets that are lost one after the other are one gap, and a guest without a core sends again before it is asked to.
	gaps, naks, retries := grew("out_of_seq_request"), grew("rcvd_seq_err"), grew("completer_retry_err")
	if lost, broken := did("sw1", "lose"), did("sw1", "corrupt"); lost != 2 || broken != 1 || gaps < 1 || gaps > 3 {
		t.Errorf("photon lost %d and spoilt %d packets to the guest, which found %d gaps", lost, broken, gaps)
	}
	if lost, broken := did("sw0", "lose"), did("sw0", "corrupt"); lost != 1 || broken != 1 || naks+retries < 1 || naks > 2 {
		t.Errorf("photon lost %d and spoilt %d packets of the guest, which was told of %d gaps and sent again %d times", lost, broken, naks, retries)
	}
	t.Logf("to the guest %d gaps for 3 packets, from it %d NAKs for 2, %d retries", gaps, naks, retries)
	if b, _ := os.ReadFile(results); !strings.Contains(string(b), fmt.Sprintf(",%d,", size)) || strings.Contains(string(b), "gave up") {
		t.Errorf("the agent's flow: %s", b)
	} else {
		t.Logf("%s", b)
	}
}
