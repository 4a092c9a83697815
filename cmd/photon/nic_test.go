//go:build dpdk

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"photon/internal/testnet"
)

// behindNICs are three senders and a receiver whose applications know nothing of
// photon: in each host's namespace they use the interface app0, a NIC carries
// its frames to eth0, and a switch joins them at 20 Mbit/s, a rate at which two
// shared cores keep up.
type behindNICs struct {
	*testing.T
	hosts [4]*testnet.Namespace
	nics  [4]*process
	sw    *process
}

const nicTestNIC = `
name: nic%d
role: nic
port: {device: "net_af_packet0,iface=eth0", rate: 20Mbps}
application: {device: "net_tap0,iface=app0", dscp: 26}
scheme: {name: %s, params: {%s}}
pfc: {priorities: [3], response: 200ms}
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
pfc: {priorities: [3], xoff: 12KB, response: 200ms}
admin: off
`

func startNICs(t *testing.T, scheme, params string) *behindNICs {
	t.Helper()
	l := newFourHosts(t)
	b := &behindNICs{T: t, hosts: l.hosts}
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
		b.nics[i] = start(t, h, "agent", "-c", file(fmt.Sprintf(nicTestNIC, i, scheme, params, i%2)))
		h.Run(t, "ip", "addr", "add", fmt.Sprintf("10.9.0.%d/24", i+1), "dev", "app0")
	}
	return b
}

// wireOnly keeps the kernel of a namespace from using an interface itself: it
// would answer for the address of app0, and send frames that nobody counts.
func wireOnly(t *testing.T, n *testnet.Namespace, iface string) {
	t.Helper()
	n.Run(t, "ip", "link", "set", iface, "arp", "off")
	n.Run(t, "sysctl", "-qw", "net.ipv6.conf."+iface+".disable_ipv6=1")
}

// shares has the three senders send to the fourth for five seconds and returns
// what arrives of each, in bit/s, and the bottleneck's mean queue in bytes.
func (b *behindNICs) shares(udp bool) (got [3]float64, queue float64) {
	b.Helper()
	type run struct {
		out string
		err error
	}
	var results [3]chan run
	for i := range results {
		port := fmt.Sprint(5201 + i)
		server := b.hosts[3].Command("iperf3", "-s", "-1", "-p", port, "--forceflush")
		listening := &watched{wait: "listening", found: make(chan struct{})}
		server.Stdout = listening
		if err := server.Start(); err != nil {
			b.Fatal(err)
		}
		defer server.Wait()
		<-listening.found
		args := []string{"-c", "10.9.0.4", "-p", port, "-t", "5", "-O", "2", "-J"}
		if udp {
			args = append(args, "-u", "-b", "15M", "-l", "1400")
		}
		client := b.hosts[i].Command("iperf3", args...)
		results[i] = make(chan run, 1)
		go func() {
			out, err := client.Output()
			results[i] <- run{string(out), err}
		}()
	}
	var samples []float64
	for i := range results {
		for waiting := true; waiting; {
			select {
			case r := <-results[i]:
				if r.err != nil {
					b.Fatalf("iperf3 from h%d: %v\n%s", i, r.err, r.out)
				}
				got[i] = received(b.T, r.out)
				waiting = false
			case <-time.After(200 * time.Millisecond):
				samples = append(samples, sum(b.sw.metrics(), "photon_queue_bytes", `port="sw3"`, `priority="3"`))
			}
		}
	}
	for _, s := range samples {
		queue += s / float64(len(samples))
	}
	return got, queue
}

// received is the rate that iperf3's report says arrived.
func received(t *testing.T, report string) float64 {
	t.Helper()
	type rate struct {
		BitsPerSecond float64 `json:"bits_per_second"`
	}
	var r struct {
		End struct {
			Received rate `json:"sum_received"`
		} `json:"end"`
	}
	if err := json.Unmarshal([]byte(report), &r); err != nil {
		t.Fatalf("%v\n%s", err, report)
	}
	return r.End.Received.BitsPerSecond
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

// settle waits until nothing is on its way and returns what is missing then.
func (b *behindNICs) settle() [4][2]float64 {
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
	const attempts = 5
	type load struct{ queue, pauses float64 }
	without := map[bool]load{}
	for _, c := range []struct{ scheme, params string }{
		{"none", ""},
		{"pcn", "period: 50ms, phase: first_packet, wmin: \"0.1\""},
		{"dcqcn", "min_rate: 1Mbps, ai: 200Kbps, hai: 1Mbps, cnp_interval: 10ms, alpha_timer: 11ms, rate_timer: 60ms, byte_counter: 1MB, kmin: 4KB, kmax: 20KB, pmax: \"0.1\", g: \"1/16\""},
	} {
		t.Run(c.scheme, func(t *testing.T) {
			b := startNICs(t, c.scheme, c.params)
			for i := range 3 {
				if out := b.hosts[i].Run(t, "ping", "-c", "3", "-i", "0.1", "-W", "10", "10.9.0.4"); !strings.Contains(out, " 0% packet loss") {
					t.Errorf("ping from h%d:\n%s", i, out)
				}
			}
			begin := b.settle()
			for _, udp := range []bool{true, false} {
				what := map[bool]string{true: "UDP", false: "TCP"}[udp]
				fair := false
				for n := 1; n <= attempts && !fair; n++ {
					before := b.pauses()
					got, queue := b.shares(udp)
					l := load{queue, b.pauses() - before}
					t.Logf("%s %s: %.2f %.2f %.2f Mbit/s, Jain %.3f; mean queue %.0f B, %.0f PFC frames", c.scheme, what, got[0]/1e6, got[1]/1e6, got[2]/1e6, jain(got), l.queue, l.pauses)
					if c.scheme == "none" {
						without[udp] = l
					}
					fair = jain(got) > 0.95 && (c.scheme == "none" || l.queue < without[udp].queue/2 && l.pauses < without[udp].pauses/2)
				}
				if !fair {
					t.Errorf("%s %s: in %d attempts shares were not fair, or queue and pauses not half of what they are without a scheme", c.scheme, what, attempts)
				}
				if end := b.settle(); end != begin {
					t.Errorf("%s %s: frames missing on the wires, by host and direction: %v at first, %v now", c.scheme, what, begin, end)
				}
			}
			m := b.nics[0].metrics()
			atLeast(t, m, 1, "photon_device_rx_missed_total", `port="app0"`) // UDP sends more than its share
			atLeast(t, m, 1, "photon_nic_application_holds_total")
			atLeast(t, m, 100, "photon_nic_ecn_set_packets_total")
			if c.scheme != "none" {
				atLeast(t, m, 10, "photon_rp_cnp_handled_total")
				atLeast(t, b.nics[3].metrics(), 30, "photon_np_cnp_sent_total")
			}
		})
	}
}

// What a NIC cannot do is said before anything starts.
func TestNICConfigurationErrors(t *testing.T) {
	const good = "role: nic\nport: {device: net_null0}\napplication:\n  device: net_null1\n"
	for text, want := range map[string]string{
		good + "scheme: {name: hpcc}\n":          ":5: scheme hpcc cannot be used with role nic: it writes telemetry",
		good + "scheme: {name: tcd+timely}\n":    ":5: scheme tcd+timely cannot be used with role nic: it measures round-trip times",
		good + "ip: 10.0.0.1\n":                  ":5: ip: a NIC has no address",
		good + "flows:\n- to: 10.0.0.1\n":        ":6: flows: a NIC sends and receives nothing",
		good + "payload: 100B\n":                 ":5: payload: a NIC",
		good + "  full: burst\n":                 ":5: full \"burst\": hold or drop",
		good + "  ecn: yes\n":                    ":5: ecn \"yes\": clear or keep",
		good + "  dscp: 64\n":                    ":5: DSCP 64",
		good + "  flow_queue: 5000\n":            ":4: application: a queue of 4096 frames in all",
		"role: nic\nport: {device: net_null0}\n": ":1: a NIC needs a port for applications",
		"role: nic\nport: {device: net_null0}\napplication: {device: net_null0}\n":          ":3: device net_null0 is used twice",
		"role: nic\nport: {device: net_null0}\napplication: {device: 0000:03:00.0}\n":       ":3: application: device 0000:03:00.0: a virtual device",
		"role: router\nport: {device: net_null0}\nip: 10.0.0.1\n":                           ":1: role \"router\": sender, receiver, both or nic",
		"role: sender\nport: {device: net_null0}\nip: 10.0.0.1\nreceive: 5\n":               ":4: receive: a sender takes no flows",
		"role: receiver\nport: {device: net_null0}\nip: 10.0.0.1\nflows:\n- to: 10.0.0.2\n": ":5: flows: a receiver sends none",
		"port: {device: net_null0}\nip: 10.0.0.1\napplication: {device: net_null1}\n":       ":3: application: only an agent with `role: nic`",
	} {
		file := filepath.Join(t.TempDir(), "agent.yaml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		root := newRoot()
		root.SetArgs([]string{"agent", "-c", file})
		if err := root.Execute(); err == nil || !strings.HasPrefix(err.Error(), file+want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
		if code := run([]string{"agent", "-c", file}); code != exitBadInput {
			t.Errorf("exit code %d", code)
		}
	}
}
