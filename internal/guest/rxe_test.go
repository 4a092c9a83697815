//go:build rxe

package guest

import "testing"

// rdmaRate is what two cores manage on which guests compute every instruction. The scheme's parameters are those of
// docs/nic.md, stretched again: a packet of 4 KB takes 4 ms.
const rdmaRate = "8Mbps"

var withDCQCN = rdmaScheme{"dcqcn", `min_rate: 400Kbps, ai: 160Kbps, hai: 400Kbps, cnp_interval: 25ms, alpha_timer: 28ms, rate_timer: 75ms, byte_counter: 400KB, kmin: 8KB, kmax: 20KB, pmax: "0.1", g: "1/16"`}

// What RDMA hardware is tested with runs between two guests whose NICs photon is: every message
// arrives, nothing is lost or late, and the counters of Soft-RoCE and of photon agree. The wires
// carry nothing that tshark does not understand.
func TestRDMATools(t *testing.T) {
	n := newRDMA(t, 2, rdmaRate, withDCQCN)
	n.skew()
	var captures []func() string
	for _, h := range n.hosts {
		captures = append(captures, capture(t, h, "eth0"))
	}
	var rows []rdmaRow
	for _, mtu := range []int{1024, 4096} {
		for _, tool := range []string{"ib_send_bw", "ib_write_bw", "ib_read_bw"} {
			for bytes, messages := range map[int]int{1: 50, 64 << 10: 8, 1 << 20: 5} {
				rows = append(rows, n.run(withDCQCN.name, tool, bytes, mtu, messages))
			}
		}
		rows = append(rows,
			n.run(withDCQCN.name, "ib_send_lat", 256, mtu, 50),
			n.run(withDCQCN.name, "ib_atomic_bw", 8, mtu, 50),
			n.run(withDCQCN.name, "rping", 1000*mtu/1024, mtu, 10))
	}
	writeRows(t, rows)
	for i, end := range captures {
		file := end()
		if k := frames(t, file, "infiniband"); k < 1000 {
			t.Errorf("wire %d: tshark sees %d RoCE packets", i, k)
		}
		if k := frames(t, file, malformed); k > 0 {
			t.Errorf("wire %d: %d malformed packets\n%s", i, k, dissect(t, file, malformed, "-V", "-x"))
		}
	}
	if len(rows) < 20 {
		t.Errorf("%d rows", len(rows))
	}
}

// skew makes the numbers of queue pairs differ: those of the first guest are ahead.
func (n *rdma) skew() {
	n.Helper()
	n.guests[0].Run("for i in 1 2 3; do timeout 2 ibv_rc_pingpong -d rxe0 -g 1 >/dev/null 2>&1; done; true")
}
