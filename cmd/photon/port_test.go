//go:build dpdk

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"photon/pfc"
	"photon/telemetry/show"
)

// portState is what the switch and the peer say of a port.
func (o *operated) portState(i int) (p show.PortStatus, peer bool) {
	o.t.Helper()
	var all show.Ports
	o.show("ports", &all)
	carrier := o.fourHosts.hosts[i].Run(o.t, "ip", "link", "show", "eth0")
	return all.Ports[i], !strings.Contains(carrier, "NO-CARRIER")
}

// passes has a host send to another until a frame arrives.
func (o *operated) passes(from, to int) {
	o.t.Helper()
	o.until(fmt.Sprintf("a frame from h%d to h%d", from, to), func() bool {
		o.hosts[from].Send(udp(from, to, 26, 300, 0))
		return len(o.hosts[to].Collect(20e6, isUDP(26))) > 0
	})
}

// A port is shut and opened again while the switch runs, by an order and by a reload: its peer sees the link go, what
// waits for it is discarded and counted, its addresses are forgotten, and everybody else's frames pass, all of them.
func TestPortIsShutAndOpened(t *testing.T) {
	// At this rate a pause lasts for seconds.
	const lines = "metrics: 127.0.0.1:9464\nrate: 10Mbps\ndpdk: {workers: 2}\n"
	o := operate(t, lines)
	shut := func(shut bool) {
		t.Helper()
		want := map[bool]float64{false: 1}[shut]
		o.until(fmt.Sprintf("shut %v", shut), func() bool {
			p, peer := o.portState(0)
			return p.Admin == !shut && p.Up == !shut && peer == !shut
		})
		if n := sum(o.process.metrics(), "photon_port_admin_up", `port="sw0"`); n != want {
			t.Errorf("photon_port_admin_up is %v, not %v", n, want)
		}
		if n := sum(o.process.metrics(), "photon_device_up", `port="sw0"`); n != want {
			t.Errorf("photon_device_up is %v, not %v", n, want)
		}
	}
	order := func(want string, args ...string) {
		t.Helper()
		if out, err := o.photon(args...); err != nil || out != want+"\n" {
			t.Errorf("%v: %q, %v; not %q", args, out, err, want)
		}
	}
	const waiting = 30
	o.hosts[0].Send(pauseFrame(0, pfc.MaxQuanta))
	o.until("a pause", func() bool {
		var c show.PFC
		o.show("pfc", &c)
		return c.Ports[0].Control > 0
	})
	for n := range uint32(waiting) {
		o.hosts[1].Send(udp(1, 0, 26, 1000, n))
	}
	var q show.Queues
	held := func() uint64 { o.show("queues", &q); return q.Ports[0].Queued[3] }
	o.until("frames that wait", func() bool { return held() == waiting })
	order("port sw0 is shut", "port", "down", "sw0")
	order("port sw0 is shut already", "port", "down", "sw0")
	shut(true)
	if n := sum(o.process.metrics(), "photon_port_discards_total", `port="sw0"`, `priority="3"`, `reason="link_down"`); held() != 0 || n != waiting {
		t.Errorf("%d frames wait for a port that is shut, %v of %d were discarded", held(), n, waiting)
	}
	var fdb show.FDB
	o.show("fdb", &fdb)
	for _, e := range fdb.Entries {
		if slices.Contains(e.Ports, "sw0") {
			t.Errorf("%s is still known at sw0", e.MAC)
		}
	}
	for _, h := range o.hosts[1:] {
		h.Flush()
	}
	for n := range uint32(40) {
		o.hosts[1].Send(udp(1, 0, 26, 1000, n)) // unknown now: to the others
	}
	o.arrives(2, 40)
	o.arrives(3, 40)
	o.passes(2, 1)
	// Somebody takes the interface up: it is shut again.
	o.sw.Run(t, "ip", "link", "set", "sw0", "up")
	shut(true)

	// A reload that says nothing of it leaves it so, and one that does opens and shuts it.
	if out, err := o.photon("reload"); err != nil || out != "nothing changed\n" {
		t.Error(out, err)
	}
	shut(true)
	order("port sw0 is open, and its link is up", "port", "up", "sw0")
	shut(false)
	o.passes(0, 1)
	o.passes(1, 0)
	write := func(down string) {
		o.write(strings.Replace(lines, "metrics", down+"metrics", 1))
	}
	reload := func(want string) {
		t.Helper()
		if out, err := o.photon("reload"); err != nil || out != want+"\n" {
			t.Errorf("%q, %v", out, err)
		}
	}
	write("  shutdown: true\n") // of the last port
	reload("ports[3].shutdown: (default) -> true")
	if p, peer := o.portState(3); p.Admin || p.Up || peer {
		t.Errorf("the file says that it is shut: %+v, peer's link %v", p, peer)
	}
	shut(false) // the first
	write("")
	reload("ports[3].shutdown: true -> (default)")
	o.until("open", func() bool { p, peer := o.portState(3); return p.Admin && p.Up && peer })
	o.passes(3, 1)
	o.passes(1, 3)

	if _, err := o.photon("port", "down", "nowhere"); err == nil || err.Error() != `there is no port "nowhere" (there are sw0, sw1, sw2, sw3)` {
		t.Error(err)
	}
	if n := sum(o.process.metrics(), "photon_port_discards_total", `reason="headroom"`); n != 0 {
		t.Errorf("%v lossless frames found no room", n)
	}
	// A switch that ends leaves the interface as it was.
	order("port sw2 is shut", "port", "down", "sw2")
	o.process.stop()
	if out := o.sw.Run(t, "ip", "link", "show", "sw2"); !strings.Contains(out, ",UP") {
		t.Error(out)
	}
}

// A port that the file shuts is so from the start, until an order opens it.
func TestPortIsShutFromTheStart(t *testing.T) {
	l := newFourHosts(t)
	o := &operated{fourHosts: l, t: t, file: t.TempDir() + "/switch.yaml", socket: t.TempDir() + "/sw.sock"}
	o.write("  shutdown: true\nmetrics: off\ndpdk: {workers: 2}\n")
	for i, h := range l.hosts {
		o.hosts[i] = h.Open(t, "eth0")
	}
	o.process = start(t, o.sw, "switch", "-c", o.file)
	o.passes(0, 1)
	o.until("shut", func() bool { p, peer := o.portState(3); return !p.Admin && !p.Up && !peer })
	if out, err := o.photon("port", "up", "sw3"); err != nil {
		t.Fatal(out, err)
	}
	o.hosts[3] = l.hosts[3].Open(t, "eth0")
	o.passes(3, 1)
	o.passes(1, 3)
	o.process.stop()
}

// Ports whose devices cannot take their links down are shut all the same; their peers do not see it, and the answer
// says so.
func TestPortWithoutALinkIsShut(t *testing.T) {
	l := newFourHosts(t)
	o := &operated{fourHosts: l, t: t, socket: t.TempDir() + "/sw.sock"}
	o.process = start(t, l.sw, "switch", "--metrics", "off", "--admin", o.socket, "--rate", "10Mbps", "--port", "net_af_packet0,iface=sw0", "--port", "net_null0")
	if out, err := o.photon("port", "down", "net_null0"); err != nil || out != "port net_null0 is shut; its peer does not see it, for its device has no link to take down\n" {
		t.Error(out, err)
	}
	received := func() (p show.PortStatus) {
		var all show.Ports
		o.show("ports", &all)
		return all.Ports[1]
	}
	first := received()
	o.until("frames that are discarded", func() bool { p := received(); return p.Rx > first.Rx && p.Discards > first.Discards })
	if p := received(); p.Up || p.Admin || p.Tx != first.Tx {
		t.Errorf("%+v, before %+v", p, first)
	}
	if out, err := o.photon("port", "up", "net_null0"); err != nil || out != "port net_null0 is open, and its link is up\n" {
		t.Error(out, err)
	}
	o.process.stop()
}
