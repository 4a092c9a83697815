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
	"photon/lldp"
	"photon/telemetry/show"
)

// runs starts a program in a namespace that ends with the test.
func runs(t *testing.T, n *testnet.Namespace, name string, args ...string) {
	t.Helper()
	c := n.Command(name, args...)
	out := &watched{}
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill() // ip has become the program
		_ = c.Wait()
		if t.Failed() {
			t.Logf("%s: %s", name, out)
		}
	})
}

// A switch that is told to speak LLDP says that it does from then on, although no frame has left and no port has a link.
func TestLLDPIsOnOnceTheFileSaysSo(t *testing.T) {
	o := operate(t, "")
	for _, h := range o.fourHosts.hosts {
		h.Run(t, "ip", "link", "set", "eth0", "down")
	}
	o.until("links that are down", func() bool { p, _ := o.portState(3); return !p.Up })
	o.write("lldp: {}\n")
	if _, err := o.photon("reload"); err != nil {
		t.Fatal(err)
	}
	if out, err := o.photon("show", "lldp"); err != nil || strings.Contains(out, "does not speak LLDP") {
		t.Errorf("%q, %v", out, err)
	}
}

// Debian's lldpd and lldpad read what a port says, and photon what they say: who is there, where the two ends of a
// cable disagree, that they agree when the peer has changed, and that the switch has stopped speaking.
func TestNeighboursByLLDP(t *testing.T) {
	t.Parallel()
	const on = "weights: {0: 1, 3: 3}\nlldp: {interval: 1s, hold: 60}\n"
	o := operate(t, on)
	o.until("h2 hears the switch", func() bool {
		frames := o.hosts[2].Collect(2*time.Second, func(b []byte) bool { return b[12] == 0x88 && b[13] == 0xCC })
		if len(frames) == 0 {
			return false
		}
		row := testnet.Tshark(t, frames[:1], "lldp.tlv.system.name", "lldp.port.id", "lldp.time_to_live", "eth.dst", "lldp.dcbx.feature.pg.per3")[0]
		if got := strings.Join(row, " "); !strings.HasPrefix(got, "sw sw2 61 01:80:c2:00:00:0e 75") {
			t.Fatal(got)
		}
		return true
	})

	// lldpad knows every TLV by its name.
	h1 := o.fourHosts.hosts[1]
	runs(t, h1, "lldpad", "-p", "-f", filepath.Join(t.TempDir(), "lldpad.conf"))
	tool := func(args ...string) string {
		out, _ := h1.Command("lldptool", args...).CombinedOutput()
		return string(out)
	}
	o.until("lldpad is there", func() bool {
		return strings.Contains(tool("set-lldp", "-i", "eth0", "adminStatus=rxtx"), "adminStatus = rxtx")
	})
	o.until("lldpad has read the switch's TLVs", func() bool {
		got := strings.Join(strings.Fields(tool("get-tlv", "-n", "-i", "eth0")), " ")
		for _, want := range []string{
			"Ifname: sw1", "Time to Live TLV 61", "System Name TLV sw", "Enabled capabilities: Bridge",
			"ETS Configuration TLV Willing: no CBS: not supported MAX_TCS: 8 PRIO_MAP: 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 TC Bandwidth: 25% 0% 0% 75% 0% 0% 0% 0% " +
				"TSA_MAP: 0:ets 1:strict 2:strict 3:ets 4:strict",
			"ETS Recommendation TLV PRIO_MAP: 0:0", "PFC TLV Willing: no MACsec Bypass Capable: no PFC capable traffic classes: 8 PFC enabled: 3",
			"Prio 3 Sel 3 P-ID UDP or DCCP Port: 4791", "dscp: 24, 25, 26, 27, 28, 29, 30, 31",
		} {
			if !strings.Contains(got, want) {
				return false
			}
		}
		return true
	})

	// lldpd says whatever bytes it is told to, so it is the peer that disagrees.
	h0 := o.fourHosts.hosts[0]
	socket := filepath.Join("/run", h0.Name+".lldpd") // lldpcli is no more root when it looks for it
	t.Cleanup(func() { os.Remove(socket) })
	h0.Run(t, "mkdir", "-p", "/run/lldpd")
	begins := filepath.Join(t.TempDir(), "lldpd.conf") // lldpd 1.0.16 that is told its interval as it begins may never speak again
	if err := os.WriteFile(begins, []byte("configure lldp tx-interval 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	runs(t, h0, "lldpd", "-d", "-u", socket, "-I", "eth0", "-S", "a host", "-O", begins)
	cli := func(args ...string) string {
		out, _ := h0.Command("lldpcli", append([]string{"-u", socket}, args...)...).CombinedOutput()
		return string(out)
	}
	tlv := func(subtype, info string) string {
		return cli("configure", "lldp", "custom-tlv", "replace", "oui", "00,80,c2", "subtype", subtype, "oui-info", info)
	}
	o.until("lldpd has read the switch", func() bool {
		time.Sleep(200 * time.Millisecond)
		got := strings.Join(strings.Fields(cli("show", "neighbors", "details")), " ")
		return strings.Contains(got, "SysName: sw ") && strings.Contains(got, "PortID: ifname sw0 ") && strings.Contains(got, "OUI: 00,80,C2, SubType: 11, Len: 2 08,08")
	})
	tlv("11", "08,18") // PFC on 3 and 4, not willing
	tlv("9", "80,01,23,45,67,32,00,00,32,00,00,00,00,02,00,00,02,00,00,00,00")
	tlv("12", "00,83,12,b7")
	var shown show.LLDP
	find := func(port string) *show.LLDPNeighbor {
		shown = show.LLDP{}
		o.show("lldp", &shown)
		for _, p := range shown.Ports {
			if p.Port == port && len(p.Neighbours) == 1 {
				return &p.Neighbours[0]
			}
		}
		return nil
	}
	o.until("they disagree about three things", func() bool {
		n := find("sw0")
		return n != nil && len(n.Mismatches) == 3
	})
	n := find("sw0")
	if got := fmt.Sprint(n.Mismatches); got != "[{pfc PFC is on for priorities 3 here, and for priorities 3 4 at the peer, which is not willing} "+
		"{ets priority 0 has 25 % of the link here, and 50 % at the peer, which is willing and has not taken over} "+
		"{applications UDP port 4791 has priority 3 here, and 4 at the peer}]" || n.Text != "a host" {
		t.Errorf("%s: %s", n.Text, got)
	}
	mismatch := func(feature string) float64 {
		return sum(o.process.metrics(), "photon_dcbx_mismatch", `port="sw0"`, `feature="`+feature+`"`)
	}
	for f := range lldp.Features {
		if mismatch(f.String()) != 1 {
			t.Errorf("no metric says that they disagree about %v", f)
		}
	}
	o.until("the log says it", func() bool {
		return strings.Contains(o.process.log.String(), "port sw0: it and its neighbour") && strings.Contains(o.process.log.String(), "disagree: PFC is on for priorities 3 here")
	})
	if m := o.process.metrics(); sum(m, "photon_lldp_neighbours", `port="sw0"`) != 1 || sum(m, "photon_lldp_rx_frames_total", `port="sw0"`) == 0 ||
		sum(m, "photon_lldp_tx_frames_total", `port="sw3"`) == 0 || sum(m, "photon_lldp_neighbours", `port="sw3"`) != 0 {
		t.Error("the metrics say something else")
	}
	tlv("11", "08,08")
	tlv("9", "00,01,23,45,67,19,00,00,4b,00,00,00,00,02,00,00,02,00,00,00,00")
	tlv("12", "00,63,12,b7")
	o.until("they agree", func() bool {
		return mismatch("pfc")+mismatch("ets")+mismatch("applications") == 0 && strings.Contains(o.process.log.String(), "agree now")
	})

	// The file has no lldp any more: the switch takes leave, long before what it said is over.
	o.write("weights: {0: 1, 3: 3}\n")
	if out, err := o.photon("reload"); err != nil || !strings.Contains(out, "lldp: there -> none") {
		t.Fatal(out, err)
	}
	o.until("lldpd knows that the switch has gone", func() bool { return !strings.Contains(cli("show", "neighbors"), "SysName") })
	o.hosts[2].Flush()
	if f := o.hosts[2].Collect(3*time.Second, func(b []byte) bool { return b[12] == 0x88 && b[13] == 0xCC }); len(f) != 0 {
		t.Errorf("it still says who it is, %d times", len(f))
	}
}

// A port that is shut or removed withdraws what it announced: its neighbour need not wait until it is too old. One that
// is opened again announces itself at once.
func TestPortsTakeLeaveByLLDP(t *testing.T) {
	const lines = "lldp: {interval: 30s}\n"
	o := operate(t, lines)
	says := func(what, port, ttl string, host int) {
		t.Helper()
		var last string
		o.until(what, func() bool {
			isLLDP := func(b []byte) bool { return b[12] == 0x88 && b[13] == 0xCC }
			for _, f := range o.hosts[host].Collect(100*time.Millisecond, isLLDP) {
				last = strings.Join(testnet.Tshark(t, [][]byte{f}, "lldp.port.id", "lldp.time_to_live")[0], " ")
			}
			return last == port+" "+ttl
		})
	}
	order := func(args ...string) {
		t.Helper()
		if _, err := o.photon(args...); err != nil {
			t.Fatal(err)
		}
	}
	says("the port announces itself", "sw3", "121", 3)
	order("port", "down", "sw3")
	says("the port that is shut takes leave", "sw3", "0", 3)
	order("port", "up", "sw3")
	says("the port that is open announces itself", "sw3", "121", 3)
	order("port", "remove", "sw3")
	says("the port that is removed takes leave", "sw3", "0", 3)

	says("another port announces itself", "sw2", "121", 2)
	o.rewrite("name: sw\nadmin: " + o.socket + "\n" + lines +
		"ports:\n- device: net_af_packet0,iface=sw0\n- device: net_af_packet1,iface=sw1\n")
	order("reload")
	says("the port that is no more in the file takes leave", "sw2", "0", 2)
}
