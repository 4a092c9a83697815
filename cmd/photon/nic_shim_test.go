//go:build dpdk

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/wire"
)

// Under schemes that hear of every frame, ordinary programs see what they always
// see, and on the wire each of their frames is inside a packet of the NICs', with
// the switch's telemetry where the scheme wants it, and answered.
func TestApplicationsUnderSchemesThatHearOfEveryFrame(t *testing.T) {
	for _, c := range []struct {
		scheme, params string
		hops           bool
		mtu            int
	}{{"hpcc", "base_rtt: 8ms", true, 1378}, {"timely", "t_low: 30ms, t_high: 500ms", false, 1420}} {
		t.Run(c.scheme, func(t *testing.T) {
			hosts := [2]*testnet.Namespace{testnet.New(t, "near"), testnet.New(t, "far")}
			middle := testnet.New(t, "sw")
			file := func(text string) string {
				f := filepath.Join(t.TempDir(), "photon.yaml")
				if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return f
			}
			scheme := fmt.Sprintf("scheme: {name: %s, params: {%s}}\npfc: {priorities: [3], response: 1s}\nadmin: off\n", c.scheme, c.params)
			for i, h := range hosts {
				testnet.Veth(t, h, "eth0", middle, fmt.Sprintf("sw%d", i))
				wireOnly(t, h, "eth0")
				wireOnly(t, middle, fmt.Sprintf("sw%d", i))
			}
			sw := start(t, middle, "switch", "-c", file("name: sw\nports:\n- device: net_af_packet0,iface=sw0\n- device: net_af_packet1,iface=sw1\nrate: 10Mbps\n"+scheme))
			var nics [2]*process
			for i, h := range hosts {
				nics[i] = start(t, h, "agent", "-c", file("name: nic\nrole: nic\nport: {device: \"net_af_packet0,iface=eth0\", rate: 10Mbps}\n"+
					"application: {device: \"net_tap0,iface=app0\", dscp: 26}\n"+scheme))
				h.Run(t, "ip", "addr", "add", fmt.Sprintf("10.9.0.%d/24", i+1), "dev", "app0")
			}
			if out := hosts[0].Run(t, "ip", "link", "show", "app0"); !strings.Contains(out, fmt.Sprintf("mtu %d ", c.mtu)) {
				t.Errorf("expected mtu %d: %s", c.mtu, out)
			}
			onWire, atApplication := hosts[1].Open(t, "eth0"), hosts[1].Open(t, "app0")
			if missing := hosts[0].Ping(t, 20, "10.9.0.2", "-s", "1000"); missing != "" {
				t.Errorf("ping:\n%s", missing)
			}
			var wrapped [][]byte
			echoes, naked := 0, 0
			onWire.Collect(time.Second, func(b []byte) bool {
				var h wire.Header
				switch {
				case !wire.Parse(b, &h) || h.L3 == 0 || h.Dst.Multicast():
				case h.BTH == 0:
					naked++
				case wire.BTH(b[h.BTH:]).Opcode() == wire.OpShimEcho:
					echoes++
				default:
					wrapped = append(wrapped, b)
				}
				return false
			})
			if len(wrapped) != 20 || echoes != 20 || naked != 0 {
				t.Errorf("on the wire: %d wrapped frames, %d echoes, %d others", len(wrapped), echoes, naked)
			}
			for _, b := range wrapped {
				var h wire.Header
				wire.Parse(b, &h)
				tel := wire.INTOf(b[h.L3:], h.BTH-h.L3)
				if !wire.ICRCOK(b[h.L3:], h.BTH-h.L3) || c.hops != (tel != nil) || c.hops && (tel.Hops() != 1 || tel.Hop(0).Rate != wire10M) {
					t.Fatalf("on the wire is % x", b[:120])
				}
			}
			testnet.Tshark(t, wrapped) // finds none of them malformed
			// Applications see theirs only.
			pings := 0
			atApplication.Collect(time.Second, func(b []byte) bool {
				var h wire.Header
				if wire.Parse(b, &h) && h.BTH != 0 {
					t.Errorf("the application sees % x", b[:60])
				}
				if h.Proto == 1 {
					pings++
				}
				return false
			})
			server := hosts[1].Command("iperf3", "-s", "-1", "--forceflush")
			listening := &watched{wait: "listening", found: make(chan struct{})}
			server.Stdout = listening
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			<-listening.found
			hosts[0].Run(t, "iperf3", "-c", "10.9.0.2", "-n", "1M", "-M", "1300")
			if err := server.Wait(); err != nil {
				t.Error(err)
			}
			m := nics[0].metrics()
			atLeast(t, m, 100, "photon_nic_echoes_total", `direction="rx"`)
			atLeast(t, nics[1].metrics(), 100, "photon_nic_echoes_total", `direction="tx"`)
			for i, n := range append(nics[:], sw) {
				m := n.metrics()
				lost := sum(m, "photon_port_discards_total") - sum(m, "photon_port_discards_total", `reason="unknown"`) -
					sum(m, "photon_port_discards_total", `reason="flow_queue"`) // TCP sends until something is lost
				for _, port := range []string{"eth0", "sw0", "sw1"} {
					lost += sum(m, "photon_device_rx_missed_total", `port="`+port+`"`)
				}
				if lost != 0 {
					t.Errorf("%v frames are lost at %d", lost, i)
				}
			}
			if pings != 20 {
				t.Errorf("the application got %d pings", pings)
			}
		})
	}
}

const wire10M = 10_000_000
