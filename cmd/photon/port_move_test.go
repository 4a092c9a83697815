//go:build dpdk

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"photon/daemon"
	"photon/internal/testnet"
	"photon/pfc"
	"photon/telemetry/show"
)

// moving is a switch to which a fifth host can be connected.
type moving struct {
	*operated
	extra *testnet.Socket // the fifth host's interface
}

func newMoving(t *testing.T, lines string) *moving {
	t.Helper()
	l := newFourHosts(t)
	h := testnet.New(t, "h4")
	testnet.Veth(t, h, "eth0", l.sw, "sw4")
	return &moving{operateOn(t, l, lines), h.Open(t, "eth0")}
}

// expect runs a command, which must give an answer.
func (m *moving) expect(want string, args ...string) {
	m.t.Helper()
	if out, err := m.photon(args...); err != nil || out != want+"\n" {
		m.t.Errorf("%v: %q, %v; not %q", args, out, err, want)
	}
}

// refused has a command be refused, in these words, and change nothing.
func (m *moving) refused(want string, args ...string) {
	m.t.Helper()
	before := m.there()
	if out, err := m.photon(args...); err == nil || err.Error() != want || !errors.As(err, new(badInput)) {
		m.t.Errorf("%v: %q, %v; not %q", args, out, err, want)
	}
	if after := m.there(); after != before {
		m.t.Errorf("%v: the ports are %s, not %s any more", args, after, before)
	}
}

// there are the ports, as they are shown and as they are scraped.
func (m *moving) there() string {
	m.t.Helper()
	var all show.Ports
	m.show("ports", &all)
	var names []string
	for _, p := range all.Ports {
		names = append(names, p.Port)
	}
	for _, topic := range show.Topics {
		if topic.Name == "flows" { // of agents
			continue
		}
		if out, err := m.photon(append([]string{"show"}, strings.Fields(topic.Name)...)...); err != nil {
			m.t.Errorf("show %s: %q, %v", topic.Name, out, err)
		}
	}
	scraped := m.process.metrics()
	for _, n := range []string{"sw0", "sw1", "sw2", "sw3", "sw4"} {
		is, series := slices.Contains(names, n), 0
		for key := range scraped {
			if strings.Contains(key, `port="`+n+`"`) {
				series++
			}
		}
		if is != (series > 0) {
			m.t.Errorf("port %s is there: %v, and has %d series", n, is, series)
		}
	}
	return strings.Join(names, " ")
}

// stream is lossless traffic between two hosts that no change of other ports may touch.
func (m *moving) stream(from, to int) (verify func()) {
	const bursts, each = 40, 25
	m.hosts[to].Flush()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for i := range uint32(bursts * each) {
			m.hosts[from].Send(udp(from, to, 26, 300, 7_000_000+i))
			if i%each == each-1 {
				time.Sleep(2 * time.Millisecond)
			}
		}
	}()
	return func() {
		m.t.Helper()
		<-sent
		next := uint32(7_000_000)
		for _, b := range m.hosts[to].Collect(20e6, isUDP(26)) {
			if n := binary.BigEndian.Uint32(b[42:]); n >= 7_000_000 {
				if n != next {
					m.t.Fatalf("frame %d of %d arrives, want %d", n, bursts*each, next)
				}
				next++
			}
		}
		if next != 7_000_000+bursts*each {
			m.t.Errorf("%d of %d frames between ports that stay arrived", next-7_000_000, bursts*each)
		}
	}
}

// fifth has the fifth host and another reach each other.
func (m *moving) fifth(other int) {
	m.t.Helper()
	m.until(fmt.Sprintf("a frame from the fifth host to h%d, and back", other), func() bool {
		m.extra.Send(udp(4, other, 26, 300, 0))
		m.hosts[other].Send(udp(other, 4, 26, 300, 0))
		return len(m.hosts[other].Collect(20e6, isUDP(26))) > 0 && len(m.extra.Collect(20e6, isUDP(26))) > 0
	})
}

// A port is added to a switch that runs, by an order and by a reload, and removed again, beside traffic of which nothing is
// lost: it takes part in everything, and leaves nothing behind.
func TestPortIsAddedAndRemoved(t *testing.T) {
	const lines = "metrics: 127.0.0.1:9464\nrate: 100Mbps\ndpdk: {workers: 2}\n"
	const until = "; a `photon reload` makes the ports those of the file"
	m := newMoving(t, lines)
	all := "sw0 sw1 sw2 sw3"
	for round := range 3 {
		verify := m.stream(2, 3)
		m.expect("port sw4 is added"+until, "port", "add", "net_af_packet4,iface=sw4", "--rate", "10Mbps")
		if got := m.there(); got != all+" sw4" {
			t.Fatalf("the ports are %s", got)
		}
		m.fifth(0)
		m.fifth(1)
		if n := sum(m.process.metrics(), "photon_device_up", `port="sw4"`); n != 1 {
			t.Errorf("round %d: photon_device_up is %v", round, n)
		}
		m.extra.Flush()
		const waiting = 20
		m.extra.Send(pauseFrame(4, pfc.MaxQuanta))
		m.until("a pause", func() bool {
			var c show.PFC
			m.show("pfc", &c)
			return c.Ports[4].Control > 0
		})
		for n := range uint32(waiting) {
			m.hosts[1].Send(udp(1, 4, 26, 1000, n))
		}
		var q show.Queues
		m.until("frames that wait", func() bool { m.show("queues", &q); return q.Ports[4].Queued[3] == waiting })
		m.expect("port sw4 is removed"+until, "port", "remove", "sw4")
		if got := m.there(); got != all {
			t.Fatalf("the ports are %s", got)
		}
		// And what else was flooded while it went.
		said := m.logged(round+1, `port sw4 is removed; (\d+) frames that waited for it are discarded`)
		if n, err := strconv.Atoi(said[1]); err != nil || n < waiting {
			t.Errorf("%d frames that waited are discarded, %v", n, err)
		}
		var fdb show.FDB
		m.show("fdb", &fdb)
		for _, e := range fdb.Entries {
			if e.MAC == mac(4).String() {
				t.Errorf("%s is still known", e.MAC)
			}
		}
		if out := m.sw.Run(t, "ip", "link", "show", "sw4"); !strings.Contains(out, ",UP") {
			t.Error(out)
		}
		verify()
	}

	// One in the middle goes, and comes again with the file, to its name and number there.
	verify := m.stream(2, 3)
	m.expect("port sw1 is removed"+until, "port", "remove", "sw1")
	if got := m.there(); got != "sw0 sw2 sw3" {
		t.Fatalf("the ports are %s", got)
	}
	for _, what := range []string{"down", "remove"} { // the place that it has left has no name
		m.refused(`there is no port "" (there are sw0, sw2, sw3)`, "port", what, "")
	}
	m.expect("port sw4 is added"+until, "port", "add", "net_af_packet4,iface=sw4")
	m.fifth(0)
	m.expect("ports[1]: none -> net_af_packet1,iface=sw1\nports[3]: net_af_packet4,iface=sw4 -> none", "reload")
	m.until("the ports of the file", func() bool { got := strings.Fields(m.there()); slices.Sort(got); return strings.Join(got, " ") == all })
	m.passes(1, 0)
	m.passes(0, 1)
	verify()

	// The file has one more, in a VLAN by its number; then another order.
	write := func(devices []int, lines string) {
		text := "name: sw\nadmin: " + m.socket + "\nports:\n"
		for _, i := range devices {
			text += fmt.Sprintf("- device: net_af_packet%d,iface=sw%d\n", i, i)
		}
		if err := os.WriteFile(m.file, []byte(text+lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	verify = m.stream(2, 3)
	write([]int{4, 0, 1, 2, 3}, lines+"vlans: [{id: 1, untagged: [3, 4]}, {id: 2, untagged: [0, 1]}]\n")
	m.expect("ports[0]: none -> net_af_packet4,iface=sw4\nvlans: 0 -> 2", "reload")
	m.fifth(0) // of VLAN 2
	var vlans show.VLANs
	m.show("vlan", &vlans)
	for _, v := range vlans.VLANs {
		var names []string
		for _, p := range v.Members {
			names = append(names, p.Port)
		}
		slices.Sort(names)
		if want := map[int]string{1: "sw2 sw3", 2: "sw0 sw4"}[v.ID]; strings.Join(names, " ") != want {
			t.Errorf("VLAN %d has %v, want %s", v.ID, names, want)
		}
	}
	m.refused("port net_af_packet4,iface=sw4: VLAN 2 names it: take that out of the file, with the port, and `photon reload`", "port", "remove", "sw4")
	verify()
	if n := sum(m.process.metrics(), "photon_port_discards_total", `reason="headroom"`); n != 0 {
		t.Errorf("%v lossless frames found no room", n)
	}
	m.process.stop() // and every frame is accounted for
}

// The last line of a port that is removed has what its device missed, too.
func TestLastLineOfAPortHasWhatItMissed(t *testing.T) {
	m := newMoving(t, "")
	if _, err := m.photon("port", "add", "net_af_packet4,iface=sw4,framesz=2048,blocksz=4096,framecnt=2"); err != nil {
		t.Fatal(err)
	}
	missed := func() uint64 {
		var all show.Ports
		m.show("ports", &all)
		return all.Ports[4].Missed
	}
	m.until("missed frames", func() bool {
		for n := range uint32(1000) {
			m.extra.Send(udp(4, 0, 26, 300, n))
		}
		return missed() > 0
	})
	least := missed()
	if _, err := m.photon("port", "remove", "sw4"); err != nil {
		t.Fatal(err)
	}
	last := m.logged(1, `port sw4: \d+ frames received, \d+ sent, \d+ discarded, (\d+) missed`)
	if n, _ := strconv.ParseUint(last[1], 10, 64); n < least {
		t.Errorf("%d frames were missed, %d of them before", n, least)
	}
}

// What a port is on changes in two steps, and who tries it in one is told which.
func TestDeviceOfAPortChanges(t *testing.T) {
	m := newMoving(t, "metrics: 127.0.0.1:9464\n")
	write := func(device string) {
		text := "name: sw\nadmin: " + m.socket + "\nmetrics: 127.0.0.1:9464\nports:\n"
		for i := range 3 {
			text += fmt.Sprintf("- device: net_af_packet%d,iface=sw%d\n", i, i)
		}
		m.rewrite(text + "- device: " + device + "\n")
	}
	for device, has := range map[string]string{
		"net_af_packet3,iface=sw4":              "port sw3 has device net_af_packet3",
		"net_af_packet9,iface=sw3":              "there is a port sw3",
		"net_af_packet3,iface=sw3,framecnt=512": "there is a port sw3",
	} {
		write(device)
		m.refused(m.file+":8: port "+device+": "+has+": `photon port remove sw3`, then `photon reload`", "reload")
	}
	write("net_af_packet3,iface=sw4")
	m.expect("port sw3 is removed; a `photon reload` makes the ports those of the file", "port", "remove", "sw3")
	m.expect("ports[3]: none -> net_af_packet3,iface=sw4", "reload")
	m.fifth(0)
	m.process.stop()
}

// Devices of every kind come and go, and what was opened is given back: it can be opened again. (net_null would receive
// whatever a frame buffer had in it before: frames of others, again.)
func TestPortsOfEveryKindComeAndGo(t *testing.T) {
	m := newMoving(t, "metrics: 127.0.0.1:9464\ndpdk: {workers: 2}\n")
	socket := filepath.Join(t.TempDir(), "vhost.sock")
	memif := "socket-abstract=no,socket=" + filepath.Join(t.TempDir(), "memif.sock")
	verify := m.stream(2, 3)
	for range 3 {
		for _, device := range []string{
			"net_tap7,iface=tap7", "net_null7,no-rx=1", "net_memif7,role=server," + memif, "net_memif8,role=client," + memif, "net_vhost7,iface=" + socket,
			"net_af_packet4,iface=sw4",
		} {
			if _, err := m.photon("port", "add", device, "--rate", "10Gbps"); err != nil {
				t.Fatal(err)
			}
			m.passes(0, 1)
			if _, err := m.photon("port", "remove", daemon.PortName(device)); err != nil {
				t.Fatal(err)
			}
		}
	}
	verify()
	m.process.stop()
}

// What is held back on purpose at a port that goes, and what came by it, arrives all the same; and one that comes may
// have rules.
func TestPortWithRulesComesAndGoes(t *testing.T) {
	const lines = "metrics: 127.0.0.1:9464\ndpdk: {workers: 2}\n"
	m := newMoving(t, lines)
	const rules = "  impair: {rules: [{do: delay, by: 10s, priority: 3}]}\n"
	device := "- device: net_af_packet4,iface=sw4\n"
	for round := range 3 {
		m.write(device + rules + lines)
		m.expect("ports[4]: none -> net_af_packet4,iface=sw4", "reload")
		m.hosts[0].Flush()
		const frames = 30
		for n := range uint32(frames) {
			m.extra.Send(udp(4, 0, 26, 300, n))
		}
		m.until("frames that are held back", func() bool {
			return sum(m.process.metrics(), "photon_port_impaired_frames_total", `port="sw4"`, `action="delay"`) == frames
		})
		if n := len(m.hosts[0].Collect(20e6, isUDP(26))); n != 0 {
			t.Errorf("round %d: %d frames are not held back", round, n)
		}
		m.write(lines)
		m.expect("ports[4]: net_af_packet4,iface=sw4 -> none", "reload")
		for n, b := range m.arrives(0, frames) {
			if got := binary.BigEndian.Uint32(b[42:]); got != uint32(n) {
				t.Fatalf("round %d: frame %d is %d", round, n, got)
			}
		}
		m.passes(0, 1)
	}
	// Without rules, and shut: opened, it is as any other.
	m.write(device + "  shutdown: true\n" + lines)
	m.expect("ports[4]: none -> net_af_packet4,iface=sw4", "reload")
	m.until("a port that is shut", func() bool {
		var all show.Ports
		m.show("ports", &all)
		return !all.Ports[4].Admin && !all.Ports[4].Up
	})
	m.expect("port sw4 is open, and its link is up", "port", "up", "sw4")
	m.fifth(1)
	m.process.stop()
}

// What cannot be is one line, and changes nothing.
func TestPortsThatAreRefused(t *testing.T) {
	m := newMoving(t, "metrics: 127.0.0.1:9464\n")
	m.refused("port net_af_packet4,iface=sw9: there is no network interface \"sw9\" (`ip link` lists them)", "port", "add", "net_af_packet4,iface=sw9")
	m.refused("interface sw1 is used twice", "port", "add", "net_af_packet4,iface=sw1")
	m.refused("device net_af_packet1 is used twice", "port", "add", "net_af_packet1,iface=sw4")
	m.refused(`device "sw4": write net_af_packet0,iface=sw4 for an interface of the kernel, or a card's PCI address (0000:03:00.0)`, "port", "add", "sw4")
	m.refused("port 0000:03:00.0: DPDK was started without its bus for cards, as no port was one: start photon again with this one", "port", "add", "0000:03:00.0")
	m.refused(`there is no port "sw4" (there are sw0, sw1, sw2, sw3)`, "port", "remove", "sw4")
	capture := make(chan error)
	go func() {
		_, err := m.photon("capture", "sw3", "-c", "400", "-w", filepath.Join(t.TempDir(), "sw3.pcapng"))
		capture <- err
	}()
	m.until("a capture", func() bool { return strings.Contains(m.process.log.String(), "port sw3 is being captured") })
	m.refused("port sw3 is being captured: end that first", "port", "remove", "sw3")
	for n := range uint32(400) {
		m.hosts[0].Send(udp(0, 3, 26, 100, n))
	}
	if err := <-capture; err != nil {
		t.Error(err)
	}
	m.until("its end", func() bool { return strings.Contains(m.process.log.String(), "port sw3 is not captured any more") })
	for _, p := range []string{"sw1", "sw2"} {
		if _, err := m.photon("port", "remove", p); err != nil {
			t.Fatal(err)
		}
	}
	m.refused("a switch has at least two ports (`ports:` in the file, or --port twice)", "port", "remove", "sw3")
	// More than there are frame buffers for.
	for i := 10; ; i++ {
		_, err := m.photon("port", "add", fmt.Sprintf("net_null%d,no-rx=1", i))
		if err == nil && i < 40 {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "dpdk: {frames: N}") {
			t.Errorf("%d ports are added; %v", i-10, err)
		}
		if i < 10+2+2 {
			t.Errorf("only %d ports can be added", i-10)
		}
		break
	}
	m.passes(0, 3)
	m.process.stop()
}
