//go:build rxe

package guest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Three guests write to a fourth at the same time, each as fast as its NIC lets it. Nothing is lost or out of
// sequence; with a scheme shares are fair, no wire is faster than its reaction point allows, and the switch pauses less.
func TestRDMAIncast(t *testing.T) {
	schemes := []rdmaScheme{
		{"none", ""},
		{"pcn", `period: 50ms, phase: first_packet, wmin: "0.1"`},
		withDCQCN,
		{"pacc", `period: 60ms, phase: 60ms, qth: 10KB, qburst: 4KB, bth: 1KB, unit: 100B, gap: 25ms, min_rate: 400Kbps, ai: 160Kbps, hai: 400Kbps, cut_timer: 25ms, alpha_timer: 28ms, rate_timer: 75ms, g: "1/16"`},
	}
	pauses := map[string]uint64{}
	for _, s := range schemes {
		if !t.Run(s.name, func(t *testing.T) { pauses[s.name] = rdmaIncast(t, s) }) {
			return
		}
	}
	for _, s := range schemes[1:] {
		if pauses[s.name] >= pauses["none"] {
			t.Errorf("%s: %d PFC frames, %d without a scheme", s.name, pauses[s.name], pauses["none"])
		}
	}
	if pauses["none"] == 0 {
		t.Error("without a scheme nothing was paused")
	}
}

// rdmaIncast returns how many PFC frames the switch sent.
func rdmaIncast(t *testing.T, s rdmaScheme) uint64 {
	const senders, messages, size = 3, 160, 64 << 10
	n := newRDMA(t, senders+1, rdmaRate, s)
	to := n.guests[senders]
	var before []map[string]uint64
	for i := range n.guests {
		before = append(before, n.rxeCounters(i))
	}
	for i := range senders {
		to.Run(fmt.Sprintf("rm -f /tmp/rc%d; { %s -t 4 -p %d >/tmp/server%d 2>&1; echo $? >/tmp/rc%d; } &", i, perftest("ib_write_bw", size, 1024, messages), 18515+i, i, i))
		to.Run(fmt.Sprintf(listening, 18515+i))
	}
	for i, g := range n.guests[:senders] {
		g.Run(fmt.Sprintf("rm -f /tmp/rc; { %s -t 4 -p %d %s >/tmp/client 2>&1; echo $? >/tmp/rc; } &", perftest("ib_write_bw", size, 1024, messages), 18515+i, guestIP(senders)))
	}
	eventually(t, func() bool { // all are at it
		for i := range senders {
			if n.onWire(i) < 200_000 {
				return false
			}
		}
		return true
	}, func() string { return "a guest writes nothing: " + n.guests[0].Run("cat /tmp/client") })

	// Guests are without a core now and then: shares are measured again, while all write.
	fair := false
	for attempt := 1; attempt <= 4 && !fair; attempt++ {
		fair = n.incastShares(s.name, senders) >= 0.9 || s.name == "none" // PFC alone is fair to ports, if at all
	}
	if !fair {
		t.Error("in four attempts shares were not fair")
	}
	for i, g := range n.guests[:senders] {
		client := g.Run("until [ -s /tmp/rc ]; do sleep 0.2; done; cat /tmp/rc")
		server := to.Run(fmt.Sprintf("until [ -s /tmp/rc%d ]; do sleep 0.2; done; cat /tmp/rc%d", i, i))
		if strings.TrimSpace(client)+strings.TrimSpace(server) != "00" {
			t.Errorf("guest %d: exit codes %s and %s\n%s\n%s", i, client, server, g.Run("cat /tmp/client"), to.Run(fmt.Sprintf("cat /tmp/server%d", i)))
		}
	}
	grew := func(i int, what string) uint64 { return n.rxeCounters(i)[what] - before[i][what] }
	wrote, answered := uint64(0), uint64(0)
	for i := range n.guests {
		for _, what := range rxeTrouble {
			if d := grew(i, what); d != 0 {
				t.Errorf("guest %d counts %d %s", i, d, what)
			}
		}
		gave, took := n.nics[i].nicFrames()
		t.Logf("%s: guest %d sent %d and received %d packets, its NIC took %d and delivered %d; %d duplicates, %d retries", s.name, i,
			grew(i, "sent_pkts"), grew(i, "rcvd_pkts"), gave, took, grew(i, "duplicate_request"), grew(i, "completer_retry_err"))
		if gave != grew(i, "sent_pkts") || took != grew(i, "rcvd_pkts") {
			t.Errorf("guest %d and its NIC do not agree", i)
		}
		if i < senders {
			wrote, answered = wrote+grew(i, "sent_pkts"), answered+grew(i, "rcvd_pkts")
		}
	}
	if w, a := grew(senders, "rcvd_pkts"), grew(senders, "sent_pkts"); w != wrote || a != answered {
		t.Errorf("%d packets were written and %d came, %d answers were sent and %d came", wrote, w, a, answered)
	}
	if discarded := n.sw.metric("photon_port_discards_total"); discarded != 0 {
		t.Errorf("the switch discarded %d frames", discarded)
	}
	frames := n.sw.metric("photon_pfc_tx_frames_total", `priority="3"`)
	ce, cnps := n.notices()
	t.Logf("%s: %d PFC frames, %d marked frames came, NICs made %d CNPs", s.name, frames, ce, cnps)
	return frames
}

// onWire is how many bytes of data a guest's NIC has sent.
func (n *rdma) onWire(i int) uint64 {
	n.Helper()
	return n.nics[i].metric("photon_port_tx_bytes_total", `port="eth0"`, `priority="3"`)
}

// incastShares measures for five seconds how much the first guests send, and returns Jain's index of it. No wire may have
// carried more than its reaction points allowed.
func (n *rdma) incastShares(scheme string, senders int) float64 {
	n.Helper()
	begin, shares := make([]uint64, senders), make([]uint64, senders)
	last, allowed := make([]float64, senders), make([]float64, senders)
	for i := range senders {
		begin[i] = n.onWire(i)
	}
	at := time.Now()
	for start := at; time.Since(start) < 5*time.Second; {
		time.Sleep(50 * time.Millisecond)
		dt := time.Since(at).Seconds()
		at = time.Now()
		for i := range senders { // the larger of neighbouring looks bounds what was allowed in between
			rate := float64(n.nics[i].metric("photon_rp_allowed_bytes_per_second"))
			allowed[i] += max(rate, last[i]) * dt
			last[i] = rate
		}
	}
	var sum, squares float64
	for i := range senders {
		shares[i] = n.onWire(i) - begin[i]
		sum, squares = sum+float64(shares[i]), squares+float64(shares[i])*float64(shares[i])
		if most := allowed[i]*1.1 + 10_000; float64(shares[i]) > most {
			n.Errorf("guest %d: %d bytes on its wire, where the reaction point allowed %.0f", i, shares[i], most)
		}
	}
	jain := sum * sum / (float64(senders) * squares)
	n.Logf("%s: %v bytes in 5 s, Jain %.3f", scheme, shares, jain)
	return jain
}
