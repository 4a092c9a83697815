//go:build rxe

package guest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"photon/internal/testnet"
)

// rdmaRow is what came of a run of a tool: a row of out/rxe.json.
type rdmaRow struct {
	Tool          string `json:"tool"`
	Bytes         int    `json:"bytes"` // of a message
	MTU           int    `json:"mtu"`
	RC            int    `json:"rc"` // exit code of the tool, at both ends: the worse
	Messages      int    `json:"messages"`
	CE            uint64 `json:"ce"`              // frames that came marked with CE, at all NICs
	CNP           uint64 `json:"cnp"`             // CNPs that the NICs made
	OutOfSequence uint64 `json:"out_of_sequence"` // that Soft-RoCE counted, at all guests
	Scheme        string `json:"scheme"`
}

// writeRows is the outcome, for people.
func writeRows(t *testing.T, rows []rdmaRow) {
	t.Helper()
	b, err := json.MarshalIndent(rows, "", " ")
	if err == nil {
		err = os.MkdirAll("../../out", 0o755)
	}
	if err == nil {
		err = os.WriteFile("../../out/rxe.json", append(b, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// rxeCounters are those of a guest's Soft-RoCE device.
func (n *rdma) rxeCounters(i int) map[string]uint64 {
	n.Helper()
	words := strings.Fields(n.guests[i].Run("rdma statistic show link rxe0/1"))
	c := map[string]uint64{}
	for at := 2; at+1 < len(words); at += 2 {
		v, err := strconv.ParseUint(words[at+1], 10, 64)
		if err != nil {
			n.Fatalf("rdma statistic: %q", words)
		}
		c[words[at]] = v
	}
	if len(c) < 10 {
		n.Fatalf("rdma statistic: %q", words)
	}
	return c
}

// rxeTrouble are the counters of what does not happen where nothing is lost. (A guest that did not get
// its core for long may send again what is on its way: duplicate_request and completer_retry_err count that.)
var rxeTrouble = []string{"out_of_seq_request", "rcvd_seq_err", "retry_exceeded_err", "retry_rnr_exceeded_err", "send_err"}

// metric sums photon's samples of a name whose labels have all of some texts.
func (p *photon) metric(name string, labels ...string) (sum uint64) {
	p.t.Helper()
	r, err := p.inside.Client().Get("http://127.0.0.1:9464/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	found := false
next:
	for line := range strings.Lines(string(b)) {
		sample, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if sample != name && !strings.HasPrefix(sample, name+"{") {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(sample, l) {
				continue next
			}
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			p.t.Fatal(line)
		}
		sum += uint64(v)
		found = true
	}
	if !found {
		p.t.Fatalf("there is no %s with %v", name, labels)
	}
	return sum
}

// nicFrames are the frames of the lossless priority that a NIC's application gave and took.
func (p *photon) nicFrames() (gave, took uint64) {
	p.t.Helper()
	return p.metric("photon_port_rx_packets_total", `port="net_vhost0"`, `priority="3"`), p.metric("photon_port_tx_packets_total", `port="net_vhost0"`, `priority="3"`)
}

// notices are the marked frames that came to NICs, and the CNPs that were made, up to now.
func (n *rdma) notices() (ce, cnps uint64) {
	n.Helper()
	for _, p := range n.nics {
		ce += p.metric("photon_np_ecn_marked_packets_total")
		cnps += p.metric("photon_np_cnp_sent_total")
	}
	return ce, cnps
}

// perftest is how a tool of perftest is called, but for the address: GID 1 is of the guest's IPv4
// address, and the traffic class DSCP 26 with ECT(0). A timeout of 4.096 us * 2^22 is 17 seconds: only what is lost is sent again.
func perftest(tool string, bytes, mtu, messages int) string {
	command := fmt.Sprintf("%s -d rxe0 -x 1 -F -n %d -m %d -u 22 --tclass=106", tool, messages, mtu)
	switch tool {
	case "ib_atomic_bw":
		return command + " -A FETCH_AND_ADD"
	default:
		return command + fmt.Sprintf(" -s %d", bytes)
	}
}

// listening waits in a guest until a program listens at a port.
const listening = "until netstat -ltn | grep -q :%d; do sleep 0.2; done"

var queuePair = regexp.MustCompile(`local address: .*QPN (0x[0-9a-f]+)`)

// run has the first guest run a tool with the second, and checks that nothing went amiss.
func (n *rdma) run(scheme, tool string, bytes, mtu, messages int) rdmaRow {
	n.Helper()
	a, b := n.guests[0], n.guests[1]
	var rxe [2]map[string]uint64
	var gave, took [2]uint64
	for i := range rxe {
		rxe[i] = n.rxeCounters(i)
		gave[i], took[i] = n.nics[i].nicFrames()
	}
	ce, cnps := n.notices()
	const port = 18515
	client, server := perftest(tool, bytes, mtu, messages), perftest(tool, bytes, mtu, messages)
	client += " " + guestIP(1)
	if tool == "rping" {
		server = fmt.Sprintf("rping -s -a %s -p %d -C %d -S %d -v", guestIP(1), port, messages, bytes) // without -S its buffer has 64 bytes, and what is behind it in its page
		client = fmt.Sprintf("rping -c -a %s -p %d -C %d -S %d -v", guestIP(1), port, messages, bytes)
	}
	b.Run(fmt.Sprintf("rm -f /tmp/rc; { %s >/tmp/server 2>&1; echo $? >/tmp/rc; } &", server))
	if tool == "rping" {
		b.Run("sleep 1") // it listens on the RDMA device
	} else {
		b.Run(fmt.Sprintf(listening, port))
	}
	out, rc := a.Try(client)
	serverRC, _ := strconv.Atoi(b.Run("until [ -s /tmp/rc ]; do sleep 0.1; done; cat /tmp/rc"))
	serverOut := b.Run("cat /tmp/server")
	if tool == "rping" && strings.Contains(serverOut, "DISCONNECT EVENT") {
		serverRC = 0 // it serves until the client leaves, and takes that for an error if it sees the queue flushed first
	}
	row := rdmaRow{Tool: tool, Bytes: bytes, MTU: mtu, RC: max(rc, serverRC), Messages: messages, Scheme: scheme}
	if row.RC != 0 {
		n.Errorf("%s, %d bytes, mtu %d: exit codes %d and %d\n%s\n%s", tool, bytes, mtu, rc, serverRC, out, serverOut)
	}
	var after [2]map[string]uint64
	for i := range after {
		after[i] = n.rxeCounters(i)
		for _, what := range rxeTrouble {
			if d := after[i][what] - rxe[i][what]; d != 0 {
				n.Errorf("%s, %d bytes, mtu %d: guest %d counts %d %s", tool, bytes, mtu, i, d, what)
			}
		}
		row.OutOfSequence += after[i]["out_of_seq_request"] - rxe[i]["out_of_seq_request"]
	}
	for i := range after { // what one has sent has come to the other; photon counted the same
		sent, received := after[i]["sent_pkts"]-rxe[i]["sent_pkts"], after[1-i]["rcvd_pkts"]-rxe[1-i]["rcvd_pkts"]
		if sent != received || sent == 0 {
			n.Errorf("%s, %d bytes, mtu %d: guest %d sent %d packets, the other received %d", tool, bytes, mtu, i, sent, received)
		}
		if tool == "rping" {
			continue // not of the lossless priority: it has no option for that
		}
		g, _ := n.nics[i].nicFrames()
		_, k := n.nics[1-i].nicFrames()
		if g-gave[i] != sent || k-took[1-i] != sent {
			n.Errorf("%s, %d bytes, mtu %d: guest %d sent %d packets, its NIC took %d, the other's delivered %d", tool, bytes, mtu, i, sent, g-gave[i], k-took[1-i])
		}
	}
	if tool != "rping" {
		q, r := queuePair.FindStringSubmatch(out), queuePair.FindStringSubmatch(serverOut)
		if q == nil || r == nil || q[1] == r[1] {
			n.Errorf("%s: queue pairs %q and %q are to differ", tool, q, r)
		}
	}
	ce2, cnps2 := n.notices()
	row.CE, row.CNP = ce2-ce, cnps2-cnps
	n.Logf("%+v", row)
	return row
}

// capture has what comes to an interface written to a file until the function is called, which returns its name.
func capture(t *testing.T, inside *testnet.Namespace, port string) (end func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "wire.pcapng")
	c := inside.Command("dumpcap", "-q", "-i", port, "-B", "64", "-w", file)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	done := false
	end = func() string {
		if !done {
			done = true
			_ = c.Process.Signal(os.Interrupt)
			_ = c.Wait()
		}
		return file
	}
	t.Cleanup(func() { end() })
	eventually(t, func() bool { _, err := os.Stat(file); return err == nil }, func() string { return "dumpcap writes nothing" })
	return end
}

// payloads are the protocols that tshark would look for behind the headers of RoCE.
var payloads = []string{"smc", "smb_direct", "rpcordma", "nvme-rdma", "lnet", "iser", "eoib", "infiniband_sdp", "fcoib"}

// malformed is the filter of what tshark finds wrong. Payload whose first two bytes happen to be an EtherType is taken for
// a packet in a packet, which it is not.
const malformed = `_ws.malformed and not frame.protocols contains "infiniband:ethertype"`

// frames are how many of a capture tshark finds that a filter wants.
func frames(t *testing.T, file, filter string) int {
	t.Helper()
	return len(strings.Fields(dissect(t, file, filter, "-T", "fields", "-e", "frame.number")))
}

// dissect is what tshark says of the packets of a capture that a filter wants.
func dissect(t *testing.T, file, filter string, how ...string) string {
	t.Helper()
	// The payload is what happened to be in the memory of the tools: it may look like some protocol, and is none.
	args := append([]string{"-n", "-r", file, "-Y", filter}, how...)
	for _, p := range payloads {
		args = append(args, "--disable-protocol", p)
	}
	out, err := exec.Command("tshark", args...).Output()
	if err != nil {
		t.Fatalf("tshark -Y %q: %v", filter, err)
	}
	return string(out)
}
