//go:build dpdk

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/pfc"
	"photon/wire"
)

// The example configurations: two senders and a receiver on the switch. What
// passes is what their protocols say, in tshark's eyes, and the metrics tell of it.
func TestExampleConfigurations(t *testing.T) {
	t.Parallel()
	l := newFourHosts(t)
	sw := start(t, l.sw, "switch", "-c", "../../deploy/switch.yaml")
	receiver := start(t, l.hosts[2], "agent", "-c", "../../deploy/agent-h2.yaml")
	atSender, atReceiver := l.hosts[0].Open(t, "eth0"), l.hosts[2].Open(t, "eth0")
	first := start(t, l.hosts[0], "agent", "-c", "../../deploy/agent-h0.yaml")
	second := start(t, l.hosts[1], "agent", "-c", "../../deploy/agent-h1.yaml")

	opcode := func(want func(uint8) bool) func([]byte) bool {
		return func(b []byte) bool {
			var h wire.Header
			return wire.Parse(b, &h) && h.BTH != 0 && want(wire.BTH(b[h.BTH:]).Opcode())
		}
	}
	// Until there are enough, not for a while: how much passes in a second is up to
	// who else wants the cores. The CNPs are few: they wait in their socket until the
	// data were read.
	data := gather(atReceiver, opcode(func(o uint8) bool { return o <= wire.OpSendOnly }), func(all [][]byte) bool {
		flows, marked := seenData(all)
		return len(all) >= 5000 && len(flows) == 4 && marked > 0
	})
	checkCNPs(t, gather(atSender, opcode(func(o uint8) bool { return o == wire.OpCNP }), func(all [][]byte) bool {
		says := map[uint8]int{}
		for _, b := range all {
			says[wire.ECN(b[14:])]++
		}
		return len(all) >= 100 && len(says) == 2
	}))
	checkData(t, data, map[byte]*process{1: first, 2: second})

	// The receiver stops the switch for 42 ms, in which the switch must stop the
	// senders: under PCN nothing else does, when polls are on time.
	within(t, func() bool {
		atReceiver.Send(pauseFrame(2, pfc.MaxQuanta/8))
		time.Sleep(80 * time.Millisecond)
		for _, p := range []*process{first, second} {
			m := p.metrics()
			// XOFF and XON in one poll of a sender that had no turn meanwhile are no time.
			if sum(m, "photon_pfc_rx_paused_seconds_total", `priority="3"`) == 0 || sum(m, "photon_rp_cnp_handled_total") < 100 || !strings.Contains(p.log.String(), "500KB in ") {
				return false
			}
		}
		return true
	}, func() string {
		return fmt.Sprintf("no pause, no CNPs or no flow completion time at the senders\n%s\n%s\n%s", first.log, second.log, sw.log)
	})

	for _, p := range []*process{first, second} {
		m := p.metrics()
		atLeast(t, m, 100, "photon_rp_cnp_handled_total")
		atLeast(t, m, 1, "photon_flows_completed_total")
		atLeast(t, m, 1, "photon_rp_flows")
		atLeast(t, m, 1000, "photon_port_tx_packets_total", `priority="3"`)
		atLeast(t, m, 1, "photon_pfc_rx_frames_total", `priority="3"`)
		atLeast(t, m, 1e-6, "photon_pfc_rx_paused_seconds_total", `priority="3"`)
	}
	m := receiver.metrics()
	atLeast(t, m, 100, "photon_np_cnp_sent_total")
	atLeast(t, m, 100, "photon_np_ecn_marked_packets_total")
	m = sw.metrics()
	atLeast(t, m, 100, "photon_queue_ecn_marked_packets_total", `port="sw2"`, `priority="3"`)
	atLeast(t, m, 10_000, "photon_queue_watermark_bytes", `port="sw2"`, `priority="3"`)
	atLeast(t, m, 1, "photon_pfc_tx_frames_total", `port="sw0"`, `priority="3"`)
	atLeast(t, m, 1e-6, "photon_pfc_tx_paused_seconds_total", `port="sw0"`, `priority="3"`)
	atLeast(t, m, 1, "photon_worker_rounds_total")
	for name, value := range m {
		if strings.HasPrefix(name, "photon_port_discards_total") && strings.Contains(name, `priority="3"`) && value != 0 {
			t.Errorf("%s %v", name, value)
		}
	}
}

func atLeast(t *testing.T, m map[string]float64, want float64, name string, labels ...string) {
	t.Helper()
	if got := sum(m, name, labels...); got < want {
		t.Errorf("%s%v is %v, expected at least %v", name, labels, got, want)
	}
}

// gather returns the frames that a socket receives and keep wants, as soon as they
// are enough, or after a minute.
func gather(from *testnet.Socket, wanted func([]byte) bool, enough func([][]byte) bool) (all [][]byte) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if all = append(all, from.Collect(100*time.Millisecond, wanted)...); enough(all) {
			break
		}
	}
	return all
}

// seenData is how many packets came of each flow, a sender's address and a queue
// pair, and how many of all are marked.
func seenData(data [][]byte) (flows map[[2]uint32]uint32, marked int) {
	flows = map[[2]uint32]uint32{}
	for _, b := range data {
		flows[[2]uint32{uint32(b[29]), wire.BTH(b[42:]).DestQP()}]++
		if wire.ECN(b[14:]) == wire.CE {
			marked++
		}
	}
	return flows, marked
}

// checkCNPs: opcode 0x81 to one of the sender's queue pairs, DSCP 48, as PCN
// marks them, with a RecRate that the link can have.
func checkCNPs(t *testing.T, cnps [][]byte) {
	t.Helper()
	if len(cnps) < 100 {
		t.Fatalf("%d CNPs came", len(cnps))
	}
	ecn := map[string]int{}
	for i, row := range testnet.Tshark(t, cnps, "infiniband.bth.opcode", "infiniband.bth.destqp", "ip.dsfield.dscp", "ip.dsfield.ecn", "udp.dstport", "ip.src") {
		qp := row[1]
		if row[0] != "129" || qp != "0x000001" && qp != "0x00000b" || row[2] != "48" || row[4] != "4791" || row[5] != "10.9.0.3" {
			t.Fatalf("CNP %d: %v", i, row)
		}
		ecn[row[3]]++
	}
	if ecn["3"] == 0 || ecn["0"] == 0 || len(ecn) != 2 {
		t.Errorf("ECN fields of CNPs: %v, expected some 3 (decrease) and some 0 (increase)", ecn)
	}
	for i, b := range cnps {
		if !wire.ICRCOK(b[14:], 28) {
			t.Fatalf("CNP %d: ICRC of % x", i, b)
		}
		if rate := uint32(b[54])<<24 | uint32(b[55])<<16 | uint32(b[56])<<8 | uint32(b[57]); rate < 1 || rate > 1000 { // polls come in bursts when cores are shared
			t.Fatalf("CNP %d: RecRate %d Mbit/s on a link of 100 Mbit/s", i, rate)
		}
	}
}

// checkData: whole packets of a reliable connection, in order per flow, some of them marked. If a sender, by the last
// byte of its address, went back, which it does after it had no turn for some time, it says so.
func checkData(t *testing.T, data [][]byte, senders map[byte]*process) {
	t.Helper()
	if len(data) < 5000 {
		t.Fatalf("%d data packets came", len(data))
	}
	next := map[[2]uint32]uint32{}
	for i, b := range data {
		bth := wire.BTH(b[42:])
		flow := [2]uint32{uint32(b[29]), bth.DestQP()}
		expected, seen := next[flow]
		if seen && bth.PSN() != expected { // which a connection begins with is drawn
			m := senders[b[29]].metrics()
			back := (expected-bth.PSN())&0xFFFFFF < 1<<23
			if !back || sum(m, "photon_ack_timeouts_total")+sum(m, "photon_nak_received_total") == 0 {
				t.Fatalf("packet %d of flow %v: sequence number %d, expected %d", i, flow, bth.PSN(), expected)
			}
		}
		next[flow] = (bth.PSN() + 1) & 0xFFFFFF
		if !wire.ICRCOK(b[14:], 28) {
			t.Fatalf("packet %d: ICRC", i)
		}
	}
	if _, marked := seenData(data); len(next) != 4 || marked == 0 {
		t.Errorf("%d flows, %d of %d packets marked", len(next), marked, len(data))
	}
	for i, row := range testnet.Tshark(t, data[:100], "infiniband.bth.opcode", "ip.dsfield.dscp", "frame.len") {
		if row[0] > "4" || row[1] != "26" || row[2] != "1058" {
			t.Fatalf("packet %d: %v", i, row)
		}
	}
}
