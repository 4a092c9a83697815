//go:build e1000e

package guest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"photon/pfc"
	"photon/wire"
)

// switchFile is the switch's configuration. Its links are slow, so that a pause
// lasts for seconds: what computes every instruction is not on time.
const switchFile = `name: sw
ports:
  - device: %s
  - device: %s
rate: 10Mbps
pfc:
  priorities: [3]
  xoff: 32KB
  headroom: 2MB # the hosts of this test do not obey: all they send has room
dpdk:
  hugepages: true
  sleep: 100us # the machine has other guests
`

// network is photon on two cards of a guest, between two hosts.
type network struct {
	hosts  [2]*Guest
	sw     *Guest
	cables [2]*Cable // end 0 is the host's, end 1 the switch's
}

const hostPort, switchPort = 0, 1

func newNetwork(t *testing.T) *network {
	n := &network{}
	image := Build(t, Contents{
		Modules:  []string{"e1000e", "virtio_net", "vfio-pci", "vfio_iommu_type1"},
		Programs: []string{"ping"},
		Drivers:  []string{"bus_pci", "bus_vdev", "mempool_ring", "net_ring", "net_e1000", "net_null"},
	})
	for i := range n.cables {
		n.cables[i] = NewCable(t)
	}
	card := func(host byte, cable, end int) Card {
		return Card{Model: "e1000e", MAC: fmt.Sprintf("02:00:00:00:00:%02x", host), Cable: n.cables[cable].Path[end]}
	}
	n.sw = Boot(t, image, "sw", Size{Processors: 2, Memory: 768, Huge: 256}, card(0x10, 0, switchPort), card(0x11, 1, switchPort))
	for i := range n.hosts {
		n.hosts[i] = Boot(t, image, fmt.Sprintf("h%d", i), Size{Processors: 1, Memory: 384}, card(byte(i+1), i, hostPort))
	}
	n.sw.Ready()
	n.sw.Run("modprobe vfio_iommu_type1 && modprobe vfio-pci")
	for i := range n.cables {
		n.sw.Run(fmt.Sprintf("echo vfio-pci >/sys/bus/pci/devices/%[1]s/driver_override && echo %[1]s >/sys/bus/pci/drivers_probe", Address(i)))
	}
	n.sw.Write("/etc/switch.yaml", fmt.Sprintf(switchFile, Address(0), Address(1)))
	n.sw.Run("photon check /etc/switch.yaml")
	n.sw.Run("sh -c 'photon switch -c /etc/switch.yaml & echo $! >/tmp/pid; wait $!; echo exit code $? >/tmp/code' >/tmp/log 2>&1 &")
	n.log(t, "sw runs")
	for i, h := range n.hosts {
		h.Ready()
		// On a busy machine an answer may take longer than ARP waits for one.
		h.Run(fmt.Sprintf("modprobe e1000e && ip addr add 10.9.0.%d/24 dev eth0 && ip link set eth0 up && arp -s 10.9.0.%d 02:00:00:00:00:%02x", i+1, 2-i, 2-i))
	}
	n.connected(t)
	return n
}

// log waits until the switch's log has a line.
func (n *network) log(t *testing.T, want string) {
	t.Helper()
	var out string
	eventually(t, func() bool {
		out, _ = n.sw.Try("cat /tmp/log")
		if _, code := n.sw.Try("test -e /tmp/code"); code == 0 {
			t.Fatalf("photon ended\n%s", n.sw.Run("cat /tmp/log /tmp/code"))
		}
		return strings.Contains(out, want)
	}, func() string { return fmt.Sprintf("the log does not say %q:\n%s", want, out) })
}

// show is what `photon show` answers.
func (n *network) show(t *testing.T, topic string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(n.sw.Run("photon show "+topic+" --json")), into); err != nil {
		t.Fatal(err)
	}
}

// connected waits until a ping comes back: links take their time to come up.
func (n *network) connected(t *testing.T) {
	t.Helper()
	var out string
	eventually(t, func() bool {
		var code int
		out, code = n.hosts[0].Try("/usr/bin/ping -n -c 1 -W 10 10.9.0.2")
		return code == 0
	}, func() string { return "the hosts do not reach each other:\n" + out })
}

// pings has the first host ping the second; every ping is answered.
func (n *network) pings(t *testing.T, count int, arguments string) {
	t.Helper()
	out, _ := n.hosts[0].Try(fmt.Sprintf("/usr/bin/ping -n -c %d %s 10.9.0.2", count, arguments))
	if !strings.Contains(out, fmt.Sprintf("%d packets transmitted, %d received", count, count)) {
		t.Errorf("ping:\n%s", out)
	}
}

// lossless tells the echo requests of the lossless priority.
func lossless(b []byte) bool {
	var h wire.Header
	return wire.Parse(b, &h) && h.L3 != 0 && h.TOS>>2 == 26
}

func isControl(b []byte) bool { return bytes.HasPrefix(b[12:], []byte{0x88, 0x08}) }

// pause is the PFC frame with which a peer stops (or, with 0, resumes) priority 3.
func pause(quanta uint16) []byte {
	f := pfc.Frame{Enable: 1 << 3}
	f.Quanta[3] = quanta
	b := make([]byte, 60)
	f.Encode(b, 0x020000000002)
	return b
}

// photon's switch drives two cards that are real to it: the driver, the bus, the
// IOMMU and the registers are those of a server; only the silicon is QEMU's.
func TestSwitchOnCards(t *testing.T) {
	n := newNetwork(t)

	var ports struct {
		Ports []struct {
			Port                   string
			Up                     bool
			Rate                   int64  `json:"rate_bps"`
			Rx                     uint64 `json:"rx_packets"`
			Tx                     uint64 `json:"tx_packets"`
			Missed                 uint64 `json:"rx_missed"`
			Flow                   string `json:"device_flow_control"`
			Discards, Link_Changes uint64
		}
	}
	n.pings(t, 20, "-i 0.1 -W 20")
	n.show(t, "ports", &ports)
	for i, p := range ports.Ports {
		if !p.Up || p.Rate != 1e9 || p.Rx < 20 || p.Tx < 20 || p.Port != Address(i) || p.Flow != "off" {
			t.Errorf("port %d: %+v", i, p)
		}
	}

	// The peer of the second port stops priority 3, and goes on doing so.
	peer := startPeer(t, n.cables[1])
	var counters struct {
		Ports []struct {
			Rx, Tx [8]uint64
			Paused [8]float64 `json:"rx_paused_seconds"`
			Bad    uint64     `json:"rx_control_bad"`
		}
	}
	eventually(t, func() bool { n.show(t, "pfc counters", &counters); return counters.Ports[1].Rx[3] > 0 },
		func() string { return fmt.Sprintf("the PFC frames of the peer do not arrive: %+v", counters) })
	n.cables[1].Capture(switchPort, lossless)
	n.cables[0].Capture(switchPort, isControl)
	const burst = 60
	n.hosts[0].Run(fmt.Sprintf("/usr/bin/ping -n -c %d -l %d -W 120 -Q %d -s 1400 10.9.0.2 >/tmp/ping 2>&1 &", burst, burst, 26<<2))
	// 60 x 1442 bytes are more than XOFF: photon stops its own peer.
	eventually(t, func() bool { return len(n.cables[0].Captured(switchPort)) > 0 }, func() string { return "photon sends no PFC frame" })
	var f pfc.Frame
	if err := f.Decode(n.cables[0].Captured(switchPort)[0]); err != nil || f.Enable != 1<<3 || f.Quanta[3] != pfc.MaxQuanta {
		t.Errorf("photon sends %+v, %v", f, err)
	}
	n.pings(t, 5, "-i 0.1 -W 20") // the other priorities go on
	if b := n.cables[1].Captured(switchPort); len(b) != 0 {
		t.Errorf("%d frames of a paused priority were sent", len(b))
	}
	peer.stop()
	n.cables[1].Send(t, switchPort, pause(0))
	var out string
	eventually(t, func() bool { out = n.hosts[0].Run("cat /tmp/ping"); return strings.Contains(out, "transmitted") },
		func() string { return "the burst does not arrive:\n" + out })
	if !strings.Contains(out, fmt.Sprintf("%d packets transmitted, %d received", burst, burst)) {
		t.Errorf("a lossless priority lost frames:\n%s", out)
	}
	if b := n.cables[1].Captured(switchPort); len(b) != burst {
		t.Errorf("%d of %d frames passed", len(b), burst)
	}
	control := n.cables[0].Captured(switchPort)
	if err := f.Decode(control[len(control)-1]); err != nil || f.Enable != 1<<3 || f.Quanta[3] != 0 {
		t.Errorf("photon does not say XON: %+v, %v", f, err)
	}
	n.show(t, "pfc counters", &counters)
	if c := counters.Ports[0]; c.Tx[3] != uint64(len(control)) || c.Bad != 0 {
		t.Errorf("%d PFC frames on the cable, %+v", len(control), c)
	}
	if c := counters.Ports[1]; c.Rx[3] != peer.sent+1 || c.Paused[3] <= 0 || c.Bad != 0 {
		t.Errorf("%d PFC frames sent, %+v", peer.sent+1, c)
	}
	if b := n.cables[1].Captured(hostPort); len(b) != 0 {
		t.Errorf("%x", b)
	}

	// What the cables carried is what the switch counted.
	var counts string
	eventually(t, func() bool {
		n.show(t, "ports", &ports)
		same := true
		counts = ""
		for i, p := range ports.Ports {
			from, to := n.cables[i].Counts(switchPort)
			counts += fmt.Sprintf("port %d: the cable carried %d to and %d from it, %+v\n", i, to, from, p)
			same = same && p.Tx == from && p.Rx == to && p.Missed == 0
		}
		return same
	}, func() string { return counts })
	t.Log(counts)

	// The cable is pulled out and put back.
	n.sw.SetLink(0, false)
	n.log(t, "port "+Address(0)+": link down")
	if out, code := n.hosts[0].Try("/usr/bin/ping -n -c 2 -W 1 10.9.0.2"); code == 0 {
		t.Errorf("frames pass without a link:\n%s", out)
	}
	n.sw.SetLink(0, true)
	n.log(t, "port "+Address(0)+": link up")
	n.connected(t)
	n.pings(t, 5, "-i 0.1 -W 20")

	// A card is removed while the switch runs, and added again: DPDK lets go of it, and finds it anew.
	for range 2 {
		n.sw.Run("photon port add net_null0,no-rx=1 --rate 10Mbps") // a switch has two ports
		n.sw.Run("photon port remove " + Address(1))
		if out, code := n.hosts[0].Try("/usr/bin/ping -n -c 2 -W 1 10.9.0.2"); code == 0 {
			t.Errorf("frames pass without a port:\n%s", out)
		}
		n.sw.Run("photon port add " + Address(1) + " --rate 10Mbps")
		n.sw.Run("photon port remove net_null0")
		n.connected(t)
		n.pings(t, 5, "-i 0.1 -W 20")
	}

	// It drains, stops, and accounts for every frame.
	n.sw.Run("kill -TERM $(cat /tmp/pid)")
	eventually(t, func() bool { out, _ = n.sw.Try("cat /tmp/log /tmp/code"); return strings.Contains(out, "exit code") },
		func() string { return "photon does not stop:\n" + out })
	if !strings.Contains(out, "exit code 0") {
		t.Error(out)
	}
	t.Log(out)
}

// peer sends XOFF for priority 3 into a cable, as a card whose buffer is full.
type peer struct {
	sent uint64
	end  chan struct{}
	wait sync.WaitGroup
}

func startPeer(t *testing.T, c *Cable) *peer {
	p := &peer{end: make(chan struct{})}
	p.wait.Add(1)
	go func() {
		defer p.wait.Done()
		tick := time.NewTicker(500 * time.Millisecond) // a pause lasts 3.4 s
		defer tick.Stop()
		for {
			select {
			case <-p.end:
				return
			case <-tick.C:
				if c.ends[switchPort].give(pause(pfc.MaxQuanta)) == nil {
					p.sent++
				}
			}
		}
	}()
	return p
}

func (p *peer) stop() {
	close(p.end)
	p.wait.Wait()
}
