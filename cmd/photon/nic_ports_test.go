//go:build dpdk

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/pfc"
)

// An application that takes nothing for a while, behind a port whose ring is full:
// the NIC tells the wire's other end to stop, and to go on when the application
// does, and every frame that was sent reaches it.
func TestNICPausesTheWire(t *testing.T) {
	app, near, far := testnet.New(t, "app"), testnet.New(t, "near"), testnet.New(t, "far")
	testnet.Veth(t, near, "eth0", far, "eth0")
	wireOnly(t, near, "eth0")
	wireOnly(t, far, "eth0")
	socket := filepath.Join(t.TempDir(), "memif.sock")
	file := func(text string) string {
		f := filepath.Join(t.TempDir(), "agent.yaml")
		if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return f
	}
	nic := start(t, near, "agent", "-c", file("name: nic\nrole: nic\nport: {device: \"net_af_packet0,iface=eth0\"}\n"+
		"application: {device: \"net_memif0,role=server,socket="+socket+",socket-abstract=no\", mac: [\""+mac(0).String()+"\"]}\n"+
		"pfc: {priorities: [3], xoff: 20KB, headroom: 10MB}\nadmin: off\n"))
	host := start(t, app, "agent", "-c", file("name: host\nrole: receiver\nport: {device: \"net_memif0,role=client,socket="+socket+",socket-abstract=no\"}\n"+
		"ip: 10.9.0.1\nmac: \""+mac(0).String()+"\"\nadmin: off\n"))
	wires := far.Open(t, "eth0")
	const frames = 3000
	sent := 0
	send := func(n int) {
		t.Helper()
		for range n {
			wires.Send(udp(1, 0, 26, 1000, uint32(sent)))
			sent++
		}
	}
	arrived := func(p *process, port string) float64 {
		return sum(p.metrics(), "photon_port_rx_packets_total", `port="`+port+`"`, `priority="3"`)
	}
	send(1) // the ring is there
	within(t, func() bool { return arrived(host, "net_memif0") == 1 }, func() string { return "the application gets nothing\n" + nic.log.String() })
	wires.Flush()

	if err := host.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	send(frames)
	var received [][]byte
	next := func(xoff bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			var p pfc.Frame
			b := wires.Receive(time.Second)
			if b == nil || p.Decode(b) != nil || p.Enable != 1<<3 || (p.Quanta[3] > 0) != xoff {
				continue
			}
			received = append(received, b)
			return
		}
		t.Fatalf("no PFC frame comes, XOFF %v\n%s", xoff, nic.log)
	}
	next(true)
	within(t, func() bool { return arrived(nic, "eth0") == frames+1 }, func() string { return fmt.Sprintf("%v frames came to the NIC", arrived(nic, "eth0")) })
	if err := host.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	next(false)
	for i, row := range testnet.Tshark(t, received, "eth.dst", "macc.opcode", "macc.cbfc.enbv", "macc.cbfc.pause_time.c3") {
		want := []string{"01:80:c2:00:00:01", "0x0101", "0x0008", "65535"}
		if i == 1 {
			want[3] = "0"
		}
		if strings.Join(row, " ") != strings.Join(want, " ") {
			t.Errorf("tshark reads %v, not %v", row, want)
		}
	}
	within(t, func() bool { return arrived(host, "net_memif0") == float64(sent) }, func() string {
		return fmt.Sprintf("%v of %d frames reached the application\n%s", arrived(host, "net_memif0"), sent, nic.log)
	})
	m := nic.metrics()
	if n := sum(m, "photon_port_discards_total") + sum(m, "photon_device_rx_missed_total"); n != 0 {
		t.Errorf("%v frames were dropped", n)
	}
	atLeast(t, m, 2, "photon_pfc_tx_frames_total", `port="eth0"`, `priority="3"`)
	if sum(m, "photon_pfc_tx_paused_seconds_total", `port="eth0"`, `priority="3"`) <= 0 {
		t.Error("no time of pause is counted")
	}
}

// Two virtual machines behind NICs: what leaves one goes through vhost-user, over a
// wire, and into the other, under the scheme, and nothing is lost in between.
func TestMachinesBehindNICs(t *testing.T) {
	dir := t.TempDir()
	hosts := [2]*testnet.Namespace{testnet.New(t, "near"), testnet.New(t, "far")}
	testnet.Veth(t, hosts[0], "eth0", hosts[1], "eth0")
	macs := [2]string{"02:00:00:00:00:01", "02:00:00:00:00:02"}
	var nics [2]*process
	var sockets [2]string
	for _, h := range hosts { // before a NIC hears what the kernel sends
		wireOnly(t, h, "eth0")
	}
	for i, h := range hosts {
		sockets[i] = filepath.Join(dir, fmt.Sprintf("vm%d", i))
		file := filepath.Join(dir, fmt.Sprintf("nic%d.yaml", i))
		text := fmt.Sprintf("name: nic\nrole: nic\nport: {device: \"net_af_packet0,iface=eth0\", rate: 50Mbps}\napplication: {device: \"net_vhost0,iface=%s\", dscp: 26, mac: [\"%s\"]}\n"+
			"scheme: {name: pcn, params: {period: 50ms}}\npfc: {priorities: [3], response: 1s}\nadmin: off\n", sockets[i], macs[i])
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		nics[i] = start(t, h, "agent", "-c", file)
	}
	sender := startMachine(t, "nicsender", sockets[0], macs[0], "--forward-mode=rxonly", "--eth-peer=0,"+macs[1])
	echo := startMachine(t, "nicecho", sockets[1], macs[1], "--forward-mode=macswap")
	for _, n := range nics {
		within(t, func() bool {
			return strings.Contains(n.log.String(), "net_vhost0: link up") || sum(n.metrics(), "photon_device_up", `port="net_vhost0"`) == 1
		},
			func() string { return "the link does not come up\n" + n.log.String() })
	}
	echo.forward()
	sender.say("start tx_first 50") // of which it sends what the NIC takes: a flow's queue is full before that
	var got string
	within(t, func() bool {
		back, sent := sender.counts()
		received, echoed := echo.counts()
		got = fmt.Sprintf("sender: %d sent, %d back; echo: %d received, %d echoed", sent, back, received, echoed)
		return sent >= 32 && received == sent && echoed >= 32 && back == echoed
	}, func() string {
		counted := ""
		for i, n := range nics { // where they are, if a NIC has them
			for name, v := range n.metrics() {
				if v != 0 && (strings.HasPrefix(name, "photon_port_") || strings.HasPrefix(name, "photon_nic_") || strings.HasPrefix(name, "photon_pfc_") || strings.HasPrefix(name, "photon_device_")) {
					counted += fmt.Sprintf("%d: %s %v\n", i, name, v)
				}
			}
		}
		return "frames are missing: " + got + "\n" + counted + nics[0].log.String() + nics[1].log.String()
	})
	t.Log(got)
	for i, n := range nics {
		m := n.metrics()
		if lost := sum(m, "photon_port_discards_total") + sum(m, "photon_device_rx_missed_total"); lost != 0 {
			t.Errorf("%v frames are lost at %d", lost, i)
		}
		if n := sum(m, "photon_port_tx_packets_total", `port="eth0"`, `priority="3"`); n < 32 {
			t.Errorf("%v frames left on the lossless priority", n)
		}
	}
	atLeast(t, nics[0].metrics(), 32, "photon_nic_ecn_set_packets_total") // the others come back with what they got here
}
