//go:build dpdk

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Ordinary hosts: ping and TCP pass between all pairs.
func TestPingAndTCPBetweenAllPairs(t *testing.T) {
	l := newFourHosts(t)
	for i, h := range l.hosts {
		h.Run(t, "ip", "addr", "add", fmt.Sprintf("10.9.0.%d/24", i+1), "dev", "eth0")
	}
	sw := start(t, l.sw, append([]string{"switch"}, ports()...)...)
	for i, from := range l.hosts {
		for j, to := range l.hosts {
			if i == j {
				continue
			}
			address := fmt.Sprintf("10.9.0.%d", j+1)
			if missing := from.Ping(t, 3, address); missing != "" {
				t.Errorf("ping from h%d to h%d:\n%s", i, j, missing)
			}
			server := to.Command("iperf3", "-s", "-1", "--forceflush")
			listening := &watched{wait: "listening", found: make(chan struct{})}
			server.Stdout = listening
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			<-listening.found
			out := from.Run(t, "iperf3", "-c", address, "-n", "20M", "-J")
			if err := server.Wait(); err != nil {
				t.Errorf("iperf3 server: %v", err)
			}
			var report struct {
				End struct {
					Received struct {
						BitsPerSecond float64 `json:"bits_per_second"`
					} `json:"sum_received"`
				}
			}
			if err := json.Unmarshal([]byte(out), &report); err != nil {
				t.Fatal(err)
			}
			if rate := report.End.Received.BitsPerSecond; rate < 10e6 {
				t.Errorf("TCP from h%d to h%d: %.0f bit/s", i, j, rate)
			}
		}
	}
	m := sw.metrics()
	if lost := sum(m, "photon_port_discards_total", `reason="headroom"`); lost != 0 {
		t.Errorf("%v lossless frames lost", lost)
	}
	if n := sum(m, "photon_port_tx_packets_total", `priority="0"`); n < 1000 {
		t.Errorf("metrics tell of %v frames", n)
	}
}

// stream sends frames of two priorities from one host to another until it is stopped.
type stream struct {
	stop chan struct{}
	done chan struct{}
}

func startStream(from *testnet.Socket, every time.Duration, frames ...[]byte) *stream {
	s := &stream{make(chan struct{}), make(chan struct{})}
	go func() {
		defer close(s.done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-s.stop:
				return
			case <-tick.C:
				for _, f := range frames {
					from.Send(f)
				}
			}
		}
	}()
	return s
}

func (s *stream) end() {
	close(s.stop)
	<-s.done
}

// An XOFF stops exactly its priority on exactly its port, until XON or until
// its timer runs out. At 100 Mbit/s the longest pause is 335 ms.
func TestPauseStopsOnePriorityOfOnePort(t *testing.T) {
	l := newFourHosts(t)
	start(t, l.sw, append([]string{"switch", "--rate", "100Mbps", "--metrics", "off"}, ports()...)...)
	var sockets [4]*testnet.Socket
	for i, h := range l.hosts {
		sockets[i] = h.Open(t, "eth0")
		sockets[i].Send(udp(i, (i+1)%4, 0, 100, 0)) // to be learned
	}
	// h1 sends priorities 3 and 0 to h0, and priority 3 to h2.
	s := startStream(sockets[1], 5*time.Millisecond, udp(1, 0, 26, 300, 0), udp(1, 0, 0, 300, 0), udp(1, 2, 26, 300, 0))
	defer s.end()
	if f := sockets[0].Collect(200*time.Millisecond, isUDP(26)); len(f) < 10 {
		t.Fatalf("only %d frames of priority 3 arrive at all", len(f))
	}
	pause := func(quanta uint16) {
		f := pfc.Frame{Enable: 1 << 3}
		f.Quanta[3] = quanta
		b := make([]byte, pfc.FrameLen)
		f.Encode(b, mac(0))
		sockets[0].Send(b)
	}
	longest := pfc.Duration(pfc.MaxQuanta, 100*units.Mbps).Duration()

	// Until XON.
	pause(pfc.MaxQuanta)
	sockets[0].Collect(30*time.Millisecond, isUDP(26)) // what was on its way
	sockets[2].Flush()
	var three, zero int
	sockets[0].Collect(200*time.Millisecond, func(b []byte) bool {
		if isUDP(26)(b) {
			three++
		}
		if isUDP(0)(b) {
			zero++
		}
		return false
	})
	other := len(sockets[2].Collect(time.Millisecond, isUDP(26)))
	if three != 0 || zero < 10 || other < 10 {
		t.Errorf("paused: %d frames of priority 3 and %d of 0 at the port, %d of 3 at another", three, zero, other)
	}
	pause(0)
	if f := sockets[0].Collect(50*time.Millisecond, isUDP(26)); len(f) < 10 {
		t.Errorf("resumed: only %d frames of priority 3", len(f))
	}

	// Until the timer runs out.
	pause(pfc.MaxQuanta)
	sockets[0].Collect(30*time.Millisecond, isUDP(26))
	first := sockets[0].Collect(2*longest, func() func([]byte) bool {
		seen := false
		return func(b []byte) bool { first := !seen && isUDP(26)(b); seen = seen || first; return first }
	}())
	if len(first) == 0 {
		t.Fatal("the timer never ran out")
	}
}

// Two hosts send more to a third than its link takes, on the lossless priority:
// the switch pauses them with frames that tshark decodes, marks, and loses nothing.
func TestCongestionSendsPFC(t *testing.T) {
	l := newFourHosts(t)
	file := filepath.Join(t.TempDir(), "switch.yaml")
	text := "rate: 50Mbps\npfc: {xoff: 100KB, headroom: 800KB}\nports:\n"
	for i := range 4 {
		text += fmt.Sprintf("- device: net_af_packet%d,iface=sw%d\n", i, i)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	sw := start(t, l.sw, "switch", "-c", file)
	var sockets [4]*testnet.Socket
	for i, h := range l.hosts {
		sockets[i] = h.Open(t, "eth0")
		sockets[i].Send(udp(i, (i+1)%4, 0, 100, 0))
	}
	sockets[0].Flush()
	// The hosts of this test do not obey: what they send fits in XOFF and headroom.
	const frames = 400
	for n := range uint32(frames) {
		sockets[1].Send(udp(1, 0, 26, 1500, n))
		sockets[2].Send(udp(2, 0, 26, 1500, n))
	}
	var got [2]uint32
	marked := 0
	received := sockets[0].Collect(time.Second, isUDP(26))
	for _, b := range received {
		from := b[29] - 2 // last byte of the source address: 2 or 3
		if number := binary.BigEndian.Uint32(b[42:]); number != got[from] {
			t.Fatalf("h%d: frame %d comes after %d", from+1, number, got[from])
		}
		got[from]++
		if wire.ECN(b[14:]) == wire.CE {
			marked++
		}
		if !wire.IPv4ChecksumOK(b[14:]) {
			t.Fatal("IPv4 checksum")
		}
	}
	if got != [2]uint32{frames, frames} {
		t.Errorf("%v frames arrived of %d each\n%s", got, frames, sw.log)
	}
	if marked < frames {
		t.Errorf("%d frames are marked", marked)
	}
	isControl := func(b []byte) bool { return bytes.HasPrefix(b[12:], []byte{0x88, 0x08}) }
	for _, host := range []int{1, 2} {
		pauses := sockets[host].Collect(time.Millisecond, isControl)
		if len(pauses) < 2 {
			t.Fatalf("h%d got %d PFC frames", host, len(pauses))
		}
		rows := testnet.Tshark(t, pauses, "eth.dst", "macc.opcode", "macc.cbfc.enbv.c3", "macc.cbfc.pause_time.c3", "macc.cbfc.enbv.c0")
		first, last := strings.Join(rows[0], " "), strings.Join(rows[len(rows)-1], " ")
		if first != "01:80:c2:00:00:01 0x0101 1 65535 0" || last != "01:80:c2:00:00:01 0x0101 1 0 0" {
			t.Errorf("h%d: first %s, last %s", host, first, last)
		}
	}
	if others := sockets[3].Collect(time.Millisecond, isControl); len(others) != 0 {
		t.Errorf("a host that sent nothing is paused: % x", others[0])
	}
	m := sw.metrics()
	if n := sum(m, "photon_pfc_tx_frames_total", `priority="3"`); n < 4 {
		t.Errorf("metrics tell of %v PFC frames", n)
	}
	if n := sum(m, "photon_queue_ecn_marked_packets_total", `port="sw0"`, `priority="3"`); n != float64(marked) {
		t.Errorf("metrics tell of %v marks, %d arrived", n, marked)
	}
	if n := sum(m, "photon_pfc_tx_paused_seconds_total", `port="sw1"`); n <= 0 {
		t.Error("metrics tell of no pause")
	}
}

// The kernel takes the tag off a frame and hands it over beside it; the frame
// leaves with it all the same, and its priority counts.
func TestVLANTagsSurvive(t *testing.T) {
	l := newFourHosts(t)
	sw := start(t, l.sw, append([]string{"switch"}, ports()...)...)
	a, b := l.hosts[0].Open(t, "eth0"), l.hosts[1].Open(t, "eth0")
	b.Send(udp(1, 0, 0, 100, 0))
	frame := make([]byte, 100)
	mac(1).Put(frame)
	mac(0).Put(frame[6:])
	copy(frame[12:], []byte{0x81, 0x00, 5 << 5, 42, 0x12, 0x34, 'p', 'h', 'o', 't', 'o', 'n'})
	a.Send(frame)
	got := b.Collect(300*time.Millisecond, func(b []byte) bool { return bytes.Contains(b, []byte("photon")) })
	if len(got) != 1 || !bytes.Equal(got[0], frame) {
		t.Fatalf("%d frames: % x", len(got), got)
	}
	m := sw.metrics()
	if n := sum(m, "photon_port_rx_packets_total", `port="sw0"`, `priority="5"`); n != 1 {
		t.Errorf("%v frames of priority 5 were counted", n)
	}
}

// What cannot be opened is said before anything starts, with the line that names it.
func TestPortThatDoesNotExist(t *testing.T) {
	file := filepath.Join(t.TempDir(), "switch.yaml")
	for _, port := range []string{"net_af_packet9,iface=nowhere0", "net_bogus0", "0000:ff:1f.7"} {
		// They share a process, and its pool of frames.
		text := fmt.Sprintf("dpdk: {frames: 16384}\nports:\n- device: net_null7\n- device: %q\n", port)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if code := run([]string{"switch", "-c", file}); code != exitBadInput {
			t.Errorf("%s: exit code %d", port, code)
		}
	}
	if err := os.WriteFile(file, []byte("ports:\n- device: net_null7\n- device: net_af_packet9,iface=nowhere0\ndpdk: {frames: 16384}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	root := newRoot()
	root.SetArgs([]string{"switch", "-c", file})
	want := file + ":3: port net_af_packet9,iface=nowhere0: there is no network interface \"nowhere0\" (`ip link` lists them)"
	if err := root.Execute(); err == nil || err.Error() != want || !errors.As(err, &badInput{}) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
