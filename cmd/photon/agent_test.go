//go:build dpdk

package main

import (
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
	// The CNPs are few: they wait in their socket until the data were read.
	data := atReceiver.Collect(2*time.Second, opcode(func(o uint8) bool { return o <= wire.OpSendOnly }))
	checkCNPs(t, atSender.Collect(time.Second, opcode(func(o uint8) bool { return o == wire.OpCNP })))
	checkData(t, data)

	// The receiver stops the switch for 42 ms, in which the switch must stop the
	// senders: under PCN nothing else does, when polls are on time.
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		atReceiver.Send(pauseFrame(2, pfc.MaxQuanta/8))
		// XOFF and XON in one poll of a sender that had no turn meanwhile are no time.
		if sum(first.metrics(), "photon_pfc_rx_paused_seconds_total", `priority="3"`) > 0 && sum(second.metrics(), "photon_pfc_rx_paused_seconds_total", `priority="3"`) > 0 || time.Now().After(deadline) {
			break
		}
	}

	for _, p := range []*process{first, second} {
		if !strings.Contains(p.log.String(), "500KB in ") {
			t.Errorf("no flow completion time in the log:\n%s", p.log)
		}
		m := p.metrics()
		atLeast(t, m, 100, "photon_rp_cnp_handled_total")
		atLeast(t, m, 1, "photon_flows_completed_total")
		atLeast(t, m, 1, "photon_rp_rate_bytes_per_second_count")
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

// checkData: whole packets of a reliable connection, in order per flow, some of them marked.
func checkData(t *testing.T, data [][]byte) {
	t.Helper()
	if len(data) < 5000 {
		t.Fatalf("%d data packets came", len(data))
	}
	next := map[[2]uint32]uint32{}
	marked := 0
	for i, b := range data {
		bth := wire.BTH(b[42:])
		flow := [2]uint32{uint32(b[29]), bth.DestQP()}
		if bth.PSN() != next[flow] {
			t.Fatalf("packet %d of flow %v: sequence number %d, expected %d", i, flow, bth.PSN(), next[flow])
		}
		next[flow]++
		if !wire.ICRCOK(b[14:], 28) {
			t.Fatalf("packet %d: ICRC", i)
		}
		if wire.ECN(b[14:]) == wire.CE {
			marked++
		}
	}
	if len(next) != 4 || marked == 0 {
		t.Errorf("%d flows, %d of %d packets marked", len(next), marked, len(data))
	}
	for i, row := range testnet.Tshark(t, data[:100], "infiniband.bth.opcode", "ip.dsfield.dscp", "frame.len") {
		if row[0] > "4" || row[1] != "26" || row[2] != "1058" {
			t.Fatalf("packet %d: %v", i, row)
		}
	}
}
