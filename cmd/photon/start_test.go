//go:build dpdk

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A switch of two VLANs comes up while a host sends, on the lossless priority, less
// than its link takes: what came before it polled is neither taken for another port's
// nor does it overrun the headroom.
func TestStartUnderTraffic(t *testing.T) {
	l := newFourHosts(t)
	file := filepath.Join(t.TempDir(), "switch.yaml")
	text := "rate: 100Mbps\npfc: {xoff: 32KB, response: 10ms}\nvlans: [{id: 10, untagged: [0, 1]}, {id: 20, untagged: [2, 3]}]\nports:\n"
	for i := range 4 {
		text += fmt.Sprintf("- device: net_af_packet%d,iface=sw%d\n", i, i)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	from, neighbour, other := l.hosts[0].Open(t, "eth0"), l.hosts[1].Open(t, "eth0"), l.hosts[2].Open(t, "eth0")
	frame := udp(0, 1, 26, 1000, 0)
	for i := range 6 {
		frame[i] = 0xFF // to everybody
	}
	s := startStream(from, time.Millisecond, frame, frame, frame, frame, frame)
	time.Sleep(100 * time.Millisecond)
	sw := start(t, l.sw, "switch", "-c", file)
	within(t, func() bool { return len(neighbour.Collect(100*time.Millisecond, isUDP(26))) > 0 }, func() string { return "nothing arrives\n" + sw.log.String() })
	s.end()
	var m map[string]float64
	rx := func(port string) float64 {
		return sum(m, "photon_port_rx_packets_total", `port="`+port+`"`, `priority="3"`)
	}
	last := -1.0
	within(t, func() bool { // until what was sent is through
		m = sw.metrics()
		done := rx("sw0") == last
		last = rx("sw0")
		time.Sleep(100 * time.Millisecond)
		return done
	}, func() string { return "frames do not end" })
	for _, port := range []string{"sw1", "sw2", "sw3"} {
		if n := rx(port); n != 0 {
			t.Errorf("%v frames of host 0 are counted as received on %s", n, port)
		}
	}
	if n := len(other.Collect(time.Millisecond, isUDP(26))); n != 0 {
		t.Errorf("%d frames came out in another VLAN", n)
	}
	if n := sum(m, "photon_port_discards_total", `priority="3"`); n != 0 {
		t.Errorf("%v lossless frames were discarded", n)
	}
	if n := sum(m, "photon_device_rx_before_start_total", `port="sw0"`); n < 100 {
		t.Errorf("%v frames that came before are counted", n)
	}
	if log := sw.log.String(); !strings.Contains(log, "port sw0: ") || !strings.Contains(log, "came before the switch polled") {
		t.Errorf("the log does not tell of frames that came before\n%s", log)
	}
}

// README's own sequence, typed without pauses: the example's switch and agents come up
// all at once, and the switch loses no lossless frame.
func TestEverythingStartsAtOnce(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := newFourHosts(t)
	command := func(host int) *exec.Cmd {
		return alone(t, l.hosts[host], self, "agent", "-c", fmt.Sprintf("../../deploy/agent-h%d.yaml", host))
	}
	sw := launch(t, l.sw, alone(t, l.sw, self, "switch", "-c", "../../deploy/switch.yaml"))
	agents := []*process{launch(t, l.hosts[2], command(2)), launch(t, l.hosts[0], command(0)), launch(t, l.hosts[1], command(1))}
	sw.serves()
	for _, a := range agents {
		a.serves()
	}
	arrived := func() float64 { return sum(agents[0].metrics(), "photon_port_rx_packets_total", `priority="3"`) }
	within(t, func() bool { time.Sleep(100 * time.Millisecond); return arrived() > 20_000 }, func() string { return "little arrives\n" + sw.log.String() })
	m := sw.metrics()
	for name, value := range m {
		if strings.HasPrefix(name, "photon_port_discards_total") && strings.Contains(name, `priority="3"`) && value != 0 || strings.HasPrefix(name, "photon_device_rx_missed_total") && value != 0 {
			t.Errorf("%s %v", name, value)
		}
	}
}
