//go:build dpdk

package main

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/pfc"
	"photon/telemetry/show"
)

// An interface is deleted and made again under its name, as at each restart of a
// container: after a while, or at once. The switch finds it by itself, says so, and
// forwards as before; nothing that was for the first is sent by the second.
func TestInterfaceComesAgain(t *testing.T) {
	t.Parallel()
	o := operate(t, "metrics: 127.0.0.1:9464\n")
	host := o.fourHosts.hosts[0]
	count := func(text string) int { return strings.Count(o.process.log.String(), text) }
	// The second interface is gone too briefly for the switch to notice, if it is quick: how often it noticed is counted anew.
	down := func() func() bool {
		before := count("port sw0: link down\n")
		return func() bool { return count("port sw0: link down\n") > before }
	}
	for life := 1; life <= 3; life++ {
		gone := down()
		o.sw.Run(t, "ip", "link", "del", "sw0")
		if life != 2 { // else the switch may not even notice
			o.until("the interface has gone", gone)
			for n := range uint32(50) {
				o.hosts[1].Send(udp(1, 0, 26, 1000, 999_000+n))
			}
			time.Sleep(10 * time.Millisecond)
		}
		testnet.Veth(t, host, "eth0", o.sw, "sw0")
		o.hosts[0] = host.Open(t, "eth0")
		o.until("the interface is used", func() bool { return count("port sw0: the interface was made anew: attached to it") == life })
		o.until("its link is up", func() bool {
			return sum(o.process.metrics(), "photon_device_up", `port="sw0"`) == 1
		})
		time.Sleep(time.Second) // the switch looks five times a second whether a link was down meanwhile
		for to := range 2 {     // both ways
			const frames = 100
			o.hosts[1-to].Send(udp(1-to, to, 0, 100, 0)) // to be learned
			for n := range uint32(frames) {
				o.hosts[1-to].Send(udp(1-to, to, 26, 1000, n))
			}
			for n, b := range o.arrives(to, frames) {
				if got := binary.BigEndian.Uint32(b[42:]); got != uint32(n) {
					t.Fatalf("life %d: frame %d at host %d is %d", life, n, to, got)
				}
			}
		}
	}
	if n := sum(o.process.metrics(), "photon_device_attachments_total", `port="sw0"`); n != 3 {
		t.Errorf("%v attachments are counted", n)
	}
	// Another name is another interface, although it is the same.
	o.sw.Run(t, "ip", "link", "set", "sw0", "down")
	o.sw.Run(t, "ip", "link", "set", "sw0", "name", "other")
	o.sw.Run(t, "ip", "link", "set", "other", "up")
	o.until("the switch knows its other name", func() bool { return count("port sw0: the interface has another name now") == 1 })
	before := sum(o.process.metrics(), "photon_port_rx_packets_total", `port="sw0"`)
	o.hosts[1].Flush()
	o.hosts[0].Send(udp(0, 1, 26, 1000, 1))
	if n := len(o.hosts[1].Collect(300*time.Millisecond, isUDP(26))); n != 0 || sum(o.process.metrics(), "photon_port_rx_packets_total", `port="sw0"`) != before {
		t.Errorf("%d frames come by an interface of another name", n)
	}
}

// How often a link changed is counted by what it did, also if the interface is made again, under a name whose former
// one had lost its link more often, and the switch is asked all the time: an interface that has gone and come is two
// changes.
func TestChangesOfALinkAreCounted(t *testing.T) {
	t.Parallel()
	o := operate(t, "")
	host := o.fourHosts.hosts[0]
	changes := func() (n uint64, up bool) {
		var p show.Ports
		o.show("ports", &p)
		return p.Ports[0].Changes, p.Ports[0].Up
	}
	for i := range uint64(8) {
		o.until("a change of the link", func() bool {
			host.Run(t, "ip", "link", "set", "eth0", []string{"down", "up"}[i%2])
			n, up := changes()
			return n == i+1 && up == (i%2 == 1)
		})
	}
	for life := range uint64(3) {
		o.sw.Run(t, "ip", "link", "del", "sw0")
		if life != 1 { // else it may look as if the link was down for a moment
			o.until("the interface has gone", func() bool { n, up := changes(); return n == 9+2*life && !up })
		}
		testnet.Veth(t, host, "eth0", o.sw, "sw0")
		o.until("the interface is used", func() bool { n, up := changes(); return n >= 10+2*life && up })
		for range 20 {
			if n, _ := changes(); n != 10+2*life {
				t.Fatalf("the link changed %d times, not %d", n, 10+2*life)
			}
		}
	}
}

// What was sent into an interface that is down is lost, and not sent when it is up.
func TestInterfaceThatIsDown(t *testing.T) {
	o := operate(t, "metrics: 127.0.0.1:9464\n")
	for life := range 3 {
		o.sw.Run(t, "ip", "link", "set", "sw0", "down")
		for n := range uint32(200) { // some before the switch knows
			o.hosts[1].Send(udp(1, 0, 26, 1000, 999_000+n))
		}
		o.until("the link is down", func() bool { return strings.Count(o.process.log.String(), "port sw0: link down\n") == life+1 })
		o.sw.Run(t, "ip", "link", "set", "sw0", "up")
		o.until("the link is up", func() bool { return strings.Count(o.process.log.String(), "port sw0: link up") == life+1 })
		o.hosts[1].Send(udp(1, 0, 26, 1000, 7))
		if got := o.arrives(0, 1); binary.BigEndian.Uint32(got[0][42:]) != 7 || len(got) != 1 {
			t.Errorf("life %d: %d frames arrive, the first is %d", life, len(got), binary.BigEndian.Uint32(got[0][42:]))
		}
	}
}

// Every flap is seen, however short: the kernel counts them. What waits for a peer that
// has gone meanwhile is discarded, and its pause with it.
func TestEveryFlapIsSeen(t *testing.T) {
	o := operate(t, "metrics: 127.0.0.1:9464\nrate: 10Mbps\npfc: {headroom: 800KB}\n")
	const waiting, flaps = 30, 5
	o.hosts[0].Send(pauseFrame(0, pfc.MaxQuanta)) // for more than three seconds
	o.until("a pause", func() bool {
		return sum(o.process.metrics(), "photon_pfc_rx_frames_total", `port="sw0"`, `priority="3"`) > 0
	})
	for n := range uint32(waiting) {
		o.hosts[1].Send(udp(1, 0, 26, 1000, n))
	}
	var q show.Queues
	o.until("frames that wait", func() bool { o.show("queues", &q); return q.Ports[0].Queued[3] == waiting })
	for range flaps {
		o.fourHosts.hosts[0].Run(t, "sh", "-c", "ip link set eth0 down && ip link set eth0 up")
	}
	var p show.Ports
	o.until("all flaps are counted", func() bool { o.show("ports", &p); return p.Ports[0].Changes == 2*flaps && p.Ports[0].Up })
	if n := sum(o.process.metrics(), "photon_port_discards_total", `port="sw0"`, `priority="3"`, `reason="link_down"`); n != waiting {
		t.Errorf("%v of %d frames were discarded", n, waiting)
	}
	o.hosts[0].Flush()
	o.hosts[1].Send(udp(1, 0, 26, 1000, 4711))
	if got := o.arrives(0, 1); binary.BigEndian.Uint32(got[0][42:]) != 4711 {
		t.Errorf("frame %d arrives", binary.BigEndian.Uint32(got[0][42:]))
	}
	for i, other := range p.Ports[1:] {
		if other.Changes != 0 {
			t.Errorf("port %d changed %d times", i+1, other.Changes)
		}
	}
}
