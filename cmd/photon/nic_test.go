//go:build dpdk

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"photon/internal/testnet"
)

// behindNICs are three senders and a receiver whose applications know nothing of
// photon: they use the interface app0, a NIC carries its frames to eth0, and a
// switch joins them at 20 Mbit/s, a rate at which two shared cores keep up. app0
// is a tap beside the NIC, but for the last sender, whose programs have a
// namespace of their own at the other end of a veth pair.
type behindNICs struct {
	*testing.T
	apps [4]*testnet.Namespace
	nics [4]*process
	sw   *process
}

const nicTestNIC = `
name: nic%d
role: nic
port: {device: "net_af_packet0,iface=eth0", rate: 20Mbps}
application: {device: "%s", dscp: 26, flow_queue: 64}
scheme: {name: %s, params: {%s}}
pfc: {priorities: [3], response: 1s}
admin: off
dpdk: {cores: [%d]}
`

const nicTestSwitch = `
name: sw
ports:
- device: net_af_packet0,iface=sw0
- device: net_af_packet1,iface=sw1
- device: net_af_packet2,iface=sw2
- device: net_af_packet3,iface=sw3
rate: 20Mbps
scheme: {name: %s, params: {%s}}
pfc: {priorities: [3], xoff: 12KB, response: 1s}
admin: off
`

func startNICs(t *testing.T, scheme, params string) *behindNICs {
	t.Helper()
	l := newFourHosts(t)
	b := &behindNICs{T: t, apps: l.hosts}
	b.apps[2] = testnet.New(t, "a2")
	testnet.Veth(t, b.apps[2], "app0", l.hosts[2], "nic0")
	wireOnly(t, l.hosts[2], "nic0")
	for i, h := range l.hosts {
		wireOnly(t, h, "eth0")
		wireOnly(t, l.sw, fmt.Sprintf("sw%d", i))
	}
	file := func(text string) string {
		f, err := os.CreateTemp(t.TempDir(), "*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return f.Name()
	}
	b.sw = start(t, l.sw, "switch", "-c", file(fmt.Sprintf(nicTestSwitch, scheme, params)))
	for i, h := range l.hosts {
		device := "net_tap0,iface=app0"
		if i == 2 {
			device = "net_af_packet1,iface=nic0"
		}
		b.nics[i] = start(t, h, "agent", "-c", file(fmt.Sprintf(nicTestNIC, i, device, scheme, params, i%2)))
		b.apps[i].Run(t, "ip", "addr", "add", fmt.Sprintf("10.9.0.%d/24", i+1), "dev", "app0")
	}
	return b
}

// wireOnly keeps the kernel of a namespace from using an interface itself: it
// would answer for the address of app0, and send frames past the counters.
func wireOnly(t *testing.T, n *testnet.Namespace, iface string) {
	t.Helper()
	n.Run(t, "ip", "link", "set", iface, "arp", "off")
	n.Run(t, "sysctl", "-qw", "net.ipv6.conf."+iface+".disable_ipv6=1")
}

// shares has the three senders send to the fourth and returns what each gets on the
// wire, in bit/s, over the same five seconds, in which all of them send, and the
// bottleneck's mean queue in bytes. What the programs say themselves is of spans that
// begin when they do: who begins last has the link with fewer others in the end.
func (b *behindNICs) shares(udp bool) (got [3]float64, queue float64) {
	b.Helper()
	var servers, clients [3]*exec.Cmd
	for i := range servers {
		servers[i] = b.apps[3].Command("iperf3", "-s", "-1", "-p", fmt.Sprint(5201+i), "--forceflush")
		listening := &watched{wait: "listening", found: make(chan struct{})}
		servers[i].Stdout = listening
		if err := servers[i].Start(); err != nil {
			b.Fatal(err)
		}
		<-listening.found
	}
	var logs [3]watched
	for i := range clients {
		args := []string{"-c", "10.9.0.4", "-p", fmt.Sprint(5201 + i), "-t", "300"}
		if udp {
			args = append(args, "-u", "-b", "15M", "-l", "1400")
		}
		clients[i] = b.apps[i].Command("iperf3", args...)
		clients[i].Stdout, clients[i].Stderr = &logs[i], &logs[i]
		if err := clients[i].Start(); err != nil {
			b.Fatal(err)
		}
	}
	type sample struct {
		at    time.Time
		bytes float64
	}
	look := func(i int) sample {
		m := b.nics[i].metrics()
		return sample{time.Now(), sum(m, "photon_port_tx_bytes_total", `port="eth0"`, `priority="3"`)}
	}
	var first, begin [3]sample
	for i := range first {
		first[i] = look(i)
	}
	for i := range first { // past the first rates, from which DCQCN takes seconds to recover
		within(b.T, func() bool { return look(i).bytes > first[i].bytes+3e6 }, func() string { return fmt.Sprintf("h%d sends nothing\n%s", i, logs[i].String()) })
	}
	for i := range begin {
		begin[i] = look(i)
	}
	samples := 0.
	for time.Since(begin[0].at) < 5*time.Second {
		queue += sum(b.sw.metrics(), "photon_queue_bytes", `port="sw3"`, `priority="3"`)
		samples++
		time.Sleep(100 * time.Millisecond)
	}
	for i := range got {
		end := look(i)
		got[i] = (end.bytes - begin[i].bytes) * 8 / end.at.Sub(begin[i].at).Seconds()
	}
	for i := range clients { // they would go on
		if err := clients[i].Process.Signal(syscall.SIGTERM); err != nil {
			b.Errorf("iperf3 from h%d has ended: %v\n%s", i, err, logs[i].String())
		}
		_ = clients[i].Wait()
	}
	for i := range servers {
		_ = servers[i].Process.Signal(syscall.SIGTERM) // it may have ended with its client
		_ = servers[i].Wait()
	}
	return got, queue / samples
}

func jain(x [3]float64) float64 {
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += v * v
	}
	return sum * sum / (3 * squares)
}

// pauses is how many XOFF and XON frames the switch sent so far.
func (b *behindNICs) pauses() float64 {
	return sum(b.sw.metrics(), "photon_pfc_tx_frames_total", `priority="3"`)
}

// onWires is, of each host's wire and direction, how many frames more one end sent
// than the other received: those on their way, and those of the time when not
// everybody had started.
func (b *behindNICs) onWires() (more [4][2]float64) {
	b.Helper()
	sw := b.sw.metrics()
	count := func(m map[string]float64, direction, port string) (n float64) {
		return sum(m, "photon_port_"+direction+"_packets_total", `port="`+port+`"`) + sum(m, "photon_port_"+direction+"_control_packets_total", `port="`+port+`"`)
	}
	for i, n := range b.nics {
		nic, port := n.metrics(), fmt.Sprintf("sw%d", i)
		more[i] = [2]float64{count(nic, "tx", "eth0") - count(sw, "rx", port), count(sw, "tx", port) - count(nic, "rx", "eth0")}
		if n := sum(nic, "photon_device_rx_missed_total", `port="eth0"`) + sum(sw, "photon_device_rx_missed_total", `port="`+port+`"`); n != 0 {
			b.Errorf("the kernel dropped %v frames of h%d's wire", n, i)
		}
		if n := sum(nic, "photon_port_discards_total", `port="eth0"`) - sum(nic, "photon_port_discards_total", `port="eth0"`, `reason="unknown"`); n != 0 {
			b.Errorf("h%d discarded %v frames from the wire", i, n)
		}
	}
	if n := sum(sw, "photon_port_discards_total"); n != 0 {
		b.Errorf("the switch discarded %v frames", n)
	}
	return more
}

// counters are those of the switch, then those of each NIC.
func (b *behindNICs) counters() []map[string]float64 {
	all := []map[string]float64{b.sw.metrics()}
	for _, n := range b.nics {
		all = append(all, n.metrics())
	}
	return all
}

// since says what the ports have counted since then, a line each, and what the kernel says of their wires.
func (b *behindNICs) since(then []map[string]float64) string {
	var lines []string
	for i, now := range b.counters() {
		for name, v := range now {
			frames := strings.HasPrefix(name, "photon_port_") || strings.HasPrefix(name, "photon_device_")
			frames = frames && strings.Contains(name, "_total") && !strings.Contains(name, "_bytes_")
			if d := v - then[i][name]; d != 0 && frames {
				lines = append(lines, fmt.Sprintf("%s %s %+.0f", []string{"sw", "h0", "h1", "h2", "h3"}[i], name, d))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n" + b.apps[0].Run(b.T, "cat", "/proc/net/softnet_stat")
}

// waitUntilIdle waits until nothing is on its way and returns what is missing then.
func (b *behindNICs) waitUntilIdle() [4][2]float64 {
	last := b.onWires()
	for deadline := time.Now().Add(30 * time.Second); ; {
		time.Sleep(200 * time.Millisecond)
		now := b.onWires()
		if now == last || time.Now().After(deadline) {
			return now
		}
		last = now
	}
}

// Ordinary programs behind NICs: ping and iperf3 know nothing of it, the switch's
// queue and pauses fall, shares are fair, and nothing is lost between the wires.
// Offered are 45 Mbit/s for a link of 20. Shares are measured again if others
// took the cores for so long that the NICs could not keep their rates.
func TestApplicationsBehindNICs(t *testing.T) {
	const attempts = 3
	type load struct{ queue, pauses float64 }
	without := map[bool]load{}
	for _, c := range []struct{ scheme, params string }{
		{"none", ""},
		{"pcn", "period: 50ms, phase: first_packet, wmin: \"0.1\""},
		{"dcqcn", "min_rate: 1Mbps, ai: 400Kbps, hai: 1Mbps, cnp_interval: 10ms, alpha_timer: 11ms, rate_timer: 30ms, byte_counter: 1MB, kmin: 4KB, kmax: 20KB, pmax: \"0.1\", g: \"1/16\""},
	} {
		t.Run(c.scheme, func(t *testing.T) {
			b := startNICs(t, c.scheme, c.params)
			for i := range 3 {
				if missing := b.apps[i].Ping(t, 3, "10.9.0.4"); missing != "" {
					t.Errorf("ping from h%d:\n%s", i, missing)
				}
			}
			begin := b.waitUntilIdle()
			counters := b.counters()
			for _, udp := range []bool{true, false} {
				what := map[bool]string{true: "UDP", false: "TCP"}[udp]
				fair := false
				for n := 1; n <= attempts && !fair; n++ {
					b.waitUntilIdle() // a server would take what is left of an earlier client for a new one
					before := b.pauses()
					got, queue := b.shares(udp)
					l := load{queue, b.pauses() - before}
					t.Logf("%s %s: %.2f %.2f %.2f Mbit/s, Jain %.3f; mean queue %.0f B, %.0f PFC frames", c.scheme, what, got[0]/1e6, got[1]/1e6, got[2]/1e6, jain(got), l.queue, l.pauses)
					if c.scheme == "none" {
						without[udp] = l
					}
					fair = jain(got) > 0.95 && (c.scheme == "none" || l.queue < without[udp].queue*3/4 && l.pauses < without[udp].pauses/2)
				}
				if !fair {
					t.Errorf("%s %s: in %d attempts shares were not fair, or the queue is not three quarters, or pauses not half, of what they are without a scheme", c.scheme, what, attempts)
				}
				if end := b.waitUntilIdle(); end != begin {
					t.Errorf("%s %s: frames missing on the wires, by host and direction: %v at first, %v now\n%s", c.scheme, what, begin, end, b.since(counters))
				}
			}
			m := b.nics[0].metrics()
			// UDP sends more than its share: that flow loses, and stops no other.
			for i, port := range map[int]string{0: "app0", 2: "nic0"} {
				m := b.nics[i].metrics()
				atLeast(t, m, 1, "photon_port_discards_total", `port="`+port+`"`, `reason="flow_queue"`)
				if n := sum(m, "photon_nic_application_holds_total"); n != 0 {
					t.Errorf("the port of h%d's applications was held %v times", i, n)
				}
			}
			atLeast(t, m, 100, "photon_nic_ecn_set_packets_total")
			if c.scheme != "none" {
				atLeast(t, m, 10, "photon_rp_cnp_handled_total")
				atLeast(t, b.nics[3].metrics(), 30, "photon_np_cnp_sent_total")
			}
		})
	}
}

// A program that loses nothing behind a port that loses nothing: photon's own
// host on memif, whose ring fills when the NIC takes no more. Its flow of 3000
// packets comes through whole, at the pace that the far host's CNPs set.
func TestHostBehindNICByMemif(t *testing.T) {
	near, far := testnet.New(t, "near"), testnet.New(t, "far")
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
	const pcn = "scheme: {name: pcn, params: {period: 50ms}}\nadmin: off\n"
	peer := start(t, far, "agent", "-c", file("name: peer\nrole: receiver\nport: {device: \"net_af_packet0,iface=eth0\", rate: 50Mbps}\nip: 10.9.0.2\n"+pcn))
	host := start(t, near, "agent", "-c", file("name: host\nrole: sender\nport: {device: \"net_memif0,role=client,socket="+socket+",socket-abstract=no\", rate: 100Mbps}\n"+
		"ip: 10.9.0.1\nscheme: {name: none}\nadmin: off\nmetrics: off\nack_timeout: 60s\nflows: [{to: 10.9.0.2, qp: 5, size: 3MB}]\n"))
	within(t, func() bool { return strings.Contains(host.log.String(), "net_memif0: link down") }, func() string { return "the flow has a link\n" + host.log.String() })
	nic := start(t, near, "agent", "-c", file("name: nic\nrole: nic\nport: {device: \"net_af_packet0,iface=eth0\", rate: 50Mbps}\n"+
		"application: {device: \"net_memif0,role=server,socket="+socket+",socket-abstract=no\"}\n"+pcn))
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(host.log.String(), "3MB in "); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the flow does not end\n%s\n%s", host.log, nic.log)
		}
	}
	m := nic.metrics()
	if n := sum(m, "photon_port_rx_packets_total", `port="net_memif0"`, `priority="3"`); n != 3000 {
		t.Errorf("%v packets came from the host", n)
	}
	if n := sum(m, "photon_port_tx_packets_total", `port="eth0"`, `priority="3"`); n != 3000 {
		t.Errorf("%v packets went to the wire", n)
	}
	if n := sum(peer.metrics(), "photon_port_rx_packets_total", `priority="3"`); n != 3000 {
		t.Errorf("%v packets arrived", n)
	}
	if n := sum(m, "photon_port_discards_total", `port="net_memif0"`) + sum(m, "photon_device_rx_missed_total", `port="net_memif0"`); n != 0 {
		t.Errorf("%v frames of the host are lost", n)
	}
	atLeast(t, m, 1, "photon_nic_application_holds_total")
	atLeast(t, m, 1, "photon_rp_cnp_handled_total")
}
