//go:build dpdk

package main

import (
	"encoding/json"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/telemetry/show"
)

// Debian's sfcapd reads the samples: who sent, to whom, how long the frames are, and about as many as were sent.
func TestSamplesToACollector(t *testing.T) {
	const every, frames = 8, 4000
	l := newFourHosts(t)
	dir := t.TempDir()
	collector := l.sw.Command("sfcapd", "-b", "127.0.0.1", "-p", "6343", "-w", dir, "-t", "3600")
	out := &watched{}
	collector.Stdout, collector.Stderr = out, out
	if err := collector.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- collector.Wait() }()
	stop := func() {
		if collector.Process != nil {
			_ = collector.Process.Signal(syscall.SIGTERM)
			<-ended
			collector.Process = nil
		}
	}
	t.Cleanup(stop)
	for deadline := time.Now().Add(patience); !strings.Contains(l.sw.Run(t, "ss", "-Hlun"), ":6343"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("sfcapd does not listen\n%s", out)
		}
	}
	o := operateOn(t, l, "sflow: {collector: '127.0.0.1:6343', sampling: 8, polling: 1s}\n")
	for i := range frames {
		o.hosts[2].Send(udp(2, 3, 0, 300, uint32(i)))
	}
	pool := func() float64 {
		return sum(o.process.metrics(), "photon_port_rx_packets_total", `port="sw2"`, `priority="0"`)
	}
	o.until("all have come", func() bool { return pool() >= frames })
	var shown show.SFlow
	o.show("sflow", &shown)
	begun := shown.Datagrams
	o.until("the samples were sent", func() bool {
		shown = show.SFlow{}
		o.show("sflow", &shown)
		return shown.Datagrams >= begun+4 // counters are sent each second, behind the samples
	})
	if shown.Failed != 0 || shown.Every != every || shown.Samples < frames/every/2 {
		t.Errorf("%+v", shown)
	}
	o.until("sfcapd has read them", func() bool { // it ends without reading what waits for it
		socket := strings.Fields(l.sw.Run(t, "ss", "-Hlun", "sport", "=", ":6343"))
		return len(socket) > 1 && socket[1] == "0"
	})
	stop()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("sfcapd wrote nothing (%v)\n%s", err, out)
	}
	text := l.sw.Run(t, "nfdump", "-q", "-R", dir, "-o", "json", "src ip 10.9.0.3 and dst ip 10.9.0.4 and dst port 12345")
	var records []struct {
		Packets int `json:"in_packets"`
		Bytes   int `json:"in_bytes"`
		Proto   int `json:"proto"`
		Input   int `json:"input_snmp"`
	}
	if text = strings.TrimSpace(text); !strings.HasPrefix(text, "[") { // nfdump 1.7 lists objects without saying that it is a list
		text = "[" + strings.Trim(text, ",\n") + "]"
	}
	if err := json.Unmarshal([]byte(text), &records); err != nil {
		t.Fatalf("%v\n%.500s", err, text)
	}
	packets := 0
	for _, r := range records {
		packets += r.Packets
		if r.Proto != 17 || r.Input != 3 || r.Bytes == 0 {
			t.Fatalf("%+v", r)
		}
	}
	kept := int(shown.Samples - shown.Lost) // a few are of other frames
	if len(records) < kept-50 || len(records) > kept {
		t.Errorf("sfcapd has %d samples, %d were sent", len(records), kept)
	}
	if packets != len(records)*every {
		t.Errorf("%d samples stand for %d packets, one in %d was sampled", len(records), packets, every)
	}
}

// A way to the collector may come after the switch: what could not be sent until then is counted, and what comes then is sent.
func TestCollectorIsReachedLater(t *testing.T) {
	l := newFourHosts(t)
	o := operateOn(t, l, "sflow: {collector: '10.77.0.1:6343', sampling: 1, polling: 1s}\n")
	var shown show.SFlow
	look := func(frames int) {
		for i := range frames {
			o.hosts[2].Send(udp(2, 3, 0, 300, uint32(i)))
		}
		shown = show.SFlow{}
		o.show("sflow", &shown)
	}
	o.until("samples could not be sent", func() bool { look(5); return shown.Failed > 0 })
	if !shown.On || shown.Collector != "10.77.0.1:6343" || shown.Every != 1 || shown.Datagrams != 0 {
		t.Errorf("%+v", shown)
	}
	l.sw.Run(t, "ip", "addr", "add", "10.77.0.1/32", "dev", "lo")
	o.until("samples are sent", func() bool { look(5); return shown.Datagrams > 0 })
}

// The host that photon runs on gets another address by which it reaches the collector: samples come from there on.
func TestSamplesAfterTheHostIsRenumbered(t *testing.T) {
	l := newFourHosts(t)
	far := testnet.New(t, "collector")
	testnet.Veth(t, far, "eth0", l.sw, "mgmt")
	far.Run(t, "ip", "address", "add", "10.78.0.9/24", "dev", "eth0")
	l.sw.Run(t, "ip", "address", "add", "10.78.0.1/24", "dev", "mgmt")
	var collector *net.UDPConn
	if err := far.Do(func() (err error) {
		collector, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(10, 78, 0, 9), Port: 6343})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { collector.Close() })
	o := operateOn(t, l, "sflow: {collector: '10.78.0.9:6343', sampling: 1, polling: 1s}\n")
	from := func(address string) func() bool {
		return func() bool {
			o.hosts[2].Send(udp(2, 3, 0, 300, 0))
			b := make([]byte, 2000)
			if err := collector.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			n, sender, err := collector.ReadFromUDPAddrPort(b)
			agent := net.IP(b[8:12]).String() // behind the version and the family
			return err == nil && n > 28 && sender.Addr().String() == address && agent == address
		}
	}
	o.until("samples come", from("10.78.0.1"))
	l.sw.Run(t, "ip", "address", "del", "10.78.0.1/24", "dev", "mgmt")
	l.sw.Run(t, "ip", "address", "add", "10.78.0.2/24", "dev", "mgmt")
	o.until("samples come from the new address", from("10.78.0.2"))
}
