//go:build dpdk

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/telemetry/show"
)

// A NIC is started again while its peers send to an application that only receives, and
// so would never show itself: it is found by the frames that come for it. The address of
// a tap is the same as before, so that nobody has to ask for it anew.
func TestNICStartedAgain(t *testing.T) {
	near, far, app := testnet.New(t, "near"), testnet.New(t, "far"), testnet.New(t, "app")
	testnet.Veth(t, near, "eth0", far, "eth0")
	testnet.Veth(t, near, "nic0", app, "app0")
	for _, i := range []string{"eth0", "nic0"} {
		wireOnly(t, near, i)
	}
	wires, programs := far.Open(t, "eth0"), app.Open(t, "app0")
	write := func(name, device string) string {
		t.Helper()
		f := filepath.Join(t.TempDir(), "nic.yaml")
		text := "name: " + name + "\nrole: nic\nport: {device: \"net_af_packet0,iface=eth0\"}\napplication: {device: \"" + device + "\"}\nadmin: off\n"
		if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return f
	}
	packet := write("nic", "net_af_packet1,iface=nic0")
	for range 2 {
		nic := start(t, near, "agent", "-c", packet)
		within(t, func() bool {
			wires.Send(udp(1, 0, 26, 1000, 0))
			return len(programs.Collect(50*time.Millisecond, isUDP(26))) > 0
		}, func() string { return "nothing arrives at an application that has not spoken\n" + nic.log.String() })
		programs.Send(udp(0, 1, 26, 1000, 0)) // it speaks: all of it arrives from now on
		within(t, func() bool { return len(wires.Collect(50*time.Millisecond, isUDP(26))) > 0 }, func() string { return "nothing leaves\n" + nic.log.String() })
		programs.Flush()
		for n := range uint32(100) {
			wires.Send(udp(1, 0, 26, 1000, n))
		}
		got := 0
		within(t, func() bool { got += len(programs.Collect(50*time.Millisecond, isUDP(26))); return got >= 100 }, func() string { return fmt.Sprintf("%d of 100 frames arrive", got) })
		nic.stop()
	}
	address := func() string {
		t.Helper()
		nic := start(t, near, "agent", "-c", write("tap", "net_tap0,iface=app0"))
		defer nic.stop()
		return strings.TrimSpace(near.Run(t, "cat", "/sys/class/net/app0/address"))
	}
	first, second := address(), address()
	if first != second || !bytes.ContainsAny([]byte(first[1:2]), "26ae") {
		t.Errorf("the tap's address is %s, then %s", first, second)
	}
}

// What programs send is listed by the addresses and ports that they know, in a table and
// as JSON.
func TestShowFlowsOfANIC(t *testing.T) {
	near, far := testnet.New(t, "near"), testnet.New(t, "far")
	testnet.Veth(t, near, "eth0", far, "eth0")
	wireOnly(t, near, "eth0")
	far.Run(t, "ip", "addr", "add", "10.9.0.2/24", "dev", "eth0")
	o := &operated{t: t, socket: filepath.Join(t.TempDir(), "nic.sock")}
	file := filepath.Join(t.TempDir(), "nic.yaml")
	text := "name: nic\nrole: nic\nport: {device: \"net_af_packet0,iface=eth0\"}\napplication: {device: \"net_tap0,iface=app0\", dscp: 26}\nadmin: " + o.socket + "\nseries: {flows: 10}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o.process = start(t, near, "agent", "-c", file)
	near.Run(t, "ip", "addr", "add", "10.9.0.1/24", "dev", "app0")
	o.tcp(near, far, "10.9.0.2")
	o.tcp(near, far, "10.9.0.2")
	near.Run(t, "ping", "-c", "3", "-i", "0.1", "10.9.0.2")
	var flows show.Flows
	o.show("flows", &flows)
	byProtocol := map[string]int{}
	bytes := uint64(0)
	for _, f := range flows.Flows {
		byProtocol[f.Protocol]++
		bytes += f.Bytes
		if !strings.HasPrefix(f.From, "10.9.0.1") || !strings.HasPrefix(f.Peer, "10.9.0.2") || f.Packets == 0 || f.Rate == 0 || f.Protocol == "tcp" && !strings.HasSuffix(f.Peer, ":5201") {
			t.Errorf("%+v", f)
		}
	}
	if flows.Active != len(flows.Flows) || byProtocol["tcp"] != 4 || byProtocol["1"] != 1 || bytes < 1_000_000 {
		t.Errorf("%d flows, listed %v, %d bytes\n%+v", flows.Active, byProtocol, bytes, flows.Flows)
	}
	if len(o.process.metrics()) == 0 { // names that two flows share would spoil the scrape
		t.Error("no metrics")
	}
	if table, err := o.photon("show", "flows"); err != nil || !strings.Contains(table, "10.9.0.2:5201") || !strings.Contains(table, "tcp") {
		t.Error(table, err)
	}
}

// TCP that runs while a NIC is started again goes on, through a veth pair that stays and through a tap that is made
// anew under its name, with its address: nobody has to be asked where it is.
func TestTCPOutlivesANIC(t *testing.T) {
	t.Parallel()
	for _, device := range []string{"net_af_packet1,iface=nic0", "net_tap0,iface=app0"} {
		t.Run(device[:7], func(t *testing.T) {
			near, far := testnet.New(t, "near"), testnet.New(t, "far")
			testnet.Veth(t, near, "eth0", far, "eth0")
			wireOnly(t, near, "eth0")
			app := near
			if strings.Contains(device, "nic0") {
				app = testnet.New(t, "app")
				testnet.Veth(t, near, "nic0", app, "app0")
				wireOnly(t, near, "nic0")
			}
			far.Run(t, "ip", "address", "add", "10.9.0.2/24", "dev", "eth0")
			config := filepath.Join(t.TempDir(), "nic.yaml")
			text := "name: nic\nrole: nic\nport: {device: \"net_af_packet0,iface=eth0\", rate: 20Mbps}\n" +
				"application: {device: \"" + device + "\"}\nadmin: off\n"
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			begin := func() *process {
				nic := start(t, near, "agent", "-c", config)
				app.Run(t, "ip", "address", "replace", "10.9.0.1/24", "dev", "app0")
				app.Run(t, "ip", "link", "set", "app0", "up")
				return nic
			}
			carried := func(p *process) float64 {
				return sum(p.metrics(), "photon_port_tx_bytes_total", `port="eth0"`)
			}
			nic := begin()
			carries := func(trouble string) {
				t.Helper()
				within(t, func() bool { return carried(nic) > 1e6 }, func() string { return trouble + "\n" + nic.log.String() })
			}
			server := far.Command("iperf3", "-s", "-1", "--forceflush")
			listening := &watched{wait: "listening", found: make(chan struct{})}
			server.Stdout = listening
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			<-listening.found
			client, said := app.Command("iperf3", "-c", "10.9.0.2", "-n", "8M", "--forceflush"), &bytes.Buffer{}
			client.Stdout, client.Stderr = said, said
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			carries("TCP does not begin")
			nic.stop()
			nic = begin()
			carries("TCP does not go on")
			if err := client.Wait(); err != nil {
				t.Errorf("%v\n%s\n%s", err, said, nic.log)
			}
			if err := server.Wait(); err != nil {
				t.Errorf("iperf3 server: %v", err)
			}
		})
	}
}
