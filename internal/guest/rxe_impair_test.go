//go:build rxe

package guest

import (
	"fmt"
	"strconv"
	"testing"
)

// spoilt is what the switch does to what it receives from the first guest: two packets are lost, one is spoilt, two come
// twice. They are further apart than the 64 packets
// of a message, so that each is a case by itself.
const spoilt = `  impair:
    rules:
    - {do: lose, frames: data, packets: [60, 200]}
    - {do: corrupt, frames: data, packets: [320]}
    - {do: duplicate, frames: data, packets: [450, 580]}
`

// A wire that loses, spoils and repeats frames: Soft-RoCE counts what photon says it did, and repeats what is missing. Each
// gap is noticed once, by one NAK; what came twice is a duplicate; every message arrives.
func TestRDMASpoilt(t *testing.T) {
	n := newRDMA(t, 2, rdmaRate, withDCQCN, spoilt)
	n.skew()
	const messages, bytes, mtu = 12, 64 << 10, 1024
	before := [2]map[string]uint64{n.rxeCounters(0), n.rxeCounters(1)}
	const port = 18515
	a, b := n.guests[0], n.guests[1]
	command := perftest("ib_write_bw", bytes, mtu, messages) + " -t 1" // one message is under way: what is lost is noticed before the next case
	b.Run(fmt.Sprintf("rm -f /tmp/rc; { %s >/tmp/server 2>&1; echo $? >/tmp/rc; } &", command))
	b.Run(fmt.Sprintf(listening, port))
	out, rc := a.Try(command + " " + guestIP(1))
	if server, _ := strconv.Atoi(b.Run("until [ -s /tmp/rc ]; do sleep 0.1; done; cat /tmp/rc")); rc != 0 || server != 0 {
		t.Fatalf("exit codes %d and %d\n%s\n%s", rc, server, out, b.Run("cat /tmp/server"))
	}
	grew := func(i int, what string) uint64 { return n.rxeCounters(i)[what] - before[i][what] }
	did := func(action string) uint64 {
		return n.sw.metric("photon_port_impaired_frames_total", `port="sw0"`, fmt.Sprintf("action=%q", action))
	}
	lost, broken, twice := did("lose"), did("corrupt"), did("duplicate")
	if lost != 2 || broken != 1 || twice != 2 {
		t.Errorf("photon lost %d, spoilt %d and repeated %d frames, not 2, 1 and 2", lost, broken, twice)
	}
	sent, received := grew(0, "sent_pkts"), grew(1, "rcvd_pkts")
	if received != sent-lost-broken+twice {
		t.Errorf("guest 0 sent %d packets, guest 1 took %d; photon lost %d, spoilt %d, repeated %d", sent, received, lost, broken, twice)
	}
	gaps, naks, duplicates := grew(1, "out_of_seq_request"), grew(0, "rcvd_seq_err"), grew(1, "duplicate_request")
	if gaps != lost+broken || naks != lost+broken {
		t.Errorf("%d frames did not arrive: guest 1 found %d gaps, guest 0 was told of %d", lost+broken, gaps, naks)
	}
	// A guest that did not get its core for long sends again what is on its way: each such packet was sent once more.
	const packets = messages * bytes / mtu
	if again := sent - packets; duplicates < twice || duplicates > twice+again {
		t.Errorf("%d duplicates, of which the wire made %d; %d packets were sent for %d", duplicates, twice, sent, packets)
	}
	t.Logf("%d packets for %d, %d gaps, %d NAKs, %d duplicates", sent, packets, gaps, naks, duplicates)
	if back, backwards := grew(1, "sent_pkts"), grew(0, "rcvd_pkts"); back != backwards {
		t.Errorf("the other direction is not spoilt: %d packets sent, %d came", back, backwards)
	}
}
