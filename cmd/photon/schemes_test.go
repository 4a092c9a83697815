//go:build dpdk

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"photon/wire"
)

// Schemes whose switches or acknowledgements speak otherwise than by CNPs, between
// processes: QCN's messages reach the senders they are about, and HPCC's
// telemetry comes back to them.
func TestOtherSchemesOnTheWire(t *testing.T) {
	for _, c := range []struct {
		scheme string
		params string                              // of agents, for round trips of milliseconds: cores are shared
		seen   func(h *wire.Header, b []byte) bool // at a sender
	}{
		{"qcn", "", func(h *wire.Header, _ []byte) bool { return h.EtherType == wire.TypeCNM && h.CNTagged }},
		{"hpcc", "  params: {base_rtt: 8ms}\n", func(h *wire.Header, b []byte) bool {
			if h.BTH == 0 || wire.BTH(b[h.BTH:]).Opcode() != wire.OpAcknowledge {
				return false
			}
			x := wire.INTOf(b[h.L3:], h.BTH-h.L3)
			return x != nil && x.Hops() == 1 && x.Hop(0).Rate == 100_000_000
		}},
	} {
		t.Run(c.scheme, func(t *testing.T) {
			dir := t.TempDir()
			file := func(name string) string {
				b, err := os.ReadFile("../../deploy/" + name)
				if err != nil {
					t.Fatal(err)
				}
				text := strings.Replace(string(b), "name: pcn", "name: "+c.scheme, 1)
				// Five processes poll on two cores: leave room for gaps of tens of milliseconds.
				text = strings.Replace(text, "response: 10ms", "response: 100ms", 1)
				text = regexp.MustCompile(`(?m)^  params:.*\n?( {4}period:.*\n)?`).ReplaceAllString(text, c.params)
				if text == string(b) {
					t.Fatalf("%s does not name pcn", name)
				}
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return path
			}
			l := newFourHosts(t)
			sw := start(t, l.sw, "switch", "-c", file("switch.yaml"))
			receiver := start(t, l.hosts[2], "agent", "-c", file("agent-h2.yaml"))
			atSender := l.hosts[0].Open(t, "eth0")
			sender := start(t, l.hosts[0], "agent", "-c", file("agent-h0.yaml"))
			start(t, l.hosts[1], "agent", "-c", file("agent-h1.yaml"))
			notifications := atSender.Collect(2*time.Second, func(b []byte) bool {
				var h wire.Header
				return wire.Parse(b, &h) && c.seen(&h, b)
			})
			if len(notifications) < 3 {
				t.Errorf("%d messages came", len(notifications))
			}
			m := receiver.metrics()
			atLeast(t, m, 1000, "photon_port_rx_packets_total", `priority="3"`)
			if c.scheme == "qcn" {
				atLeast(t, sender.metrics(), 3, "photon_rp_cnp_handled_total")
			}
			// A sender that this machine holds up for longer than its timeout repeats packets: they are no loss.
			for _, p := range []*process{sw, sender, receiver} {
				for name, value := range p.metrics() {
					if strings.HasPrefix(name, "photon_port_discards_total") && strings.Contains(name, `priority="3"`) && !strings.Contains(name, `reason="sequence"`) && value != 0 {
						t.Errorf("%s %v", name, value)
					}
				}
			}
		})
	}
}
