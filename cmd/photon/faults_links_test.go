//go:build dpdk

package main

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"photon/internal/testnet"
	"photon/pfc"
	"photon/telemetry/show"
)

// timesLogged is how often the switch's log has a text.
func (c *campaign) timesLogged(text string) int { return strings.Count(c.process.log.String(), text) }

// changes is how often the switch saw the victim's link go down or come up: it is up when that is even.
func (c *campaign) changes() uint64 {
	c.t.Helper()
	var p show.Ports
	c.show("ports", &p)
	return p.Ports[victim].Changes
}

// flapVictim takes the victim's link down, for a moment or until the switch has seen it, and up again.
func (c *campaign) flapVictim(long bool) {
	c.t.Helper()
	home, before := c.stations[victim].home, c.changes()
	if !long {
		home.Run(c.t, "sh", "-c", "ip link set eth0 down && ip link set eth0 up")
	} else {
		home.Run(c.t, "ip", "link", "set", "eth0", "down")
		c.until("the link is seen down", func() bool { return c.changes()%2 == 1 })
		home.Run(c.t, "ip", "link", "set", "eth0", "up")
	}
	c.until("the flap is seen", func() bool { n := c.changes(); return n > before && n%2 == 0 })
}

// A link that goes down and comes up: between two looks, and for longer.
func (c *campaign) flap() {
	c.flapVictim(false)
	c.flapVictim(true)
}

// The same while the switch has the peer paused: the new link's peer knows nothing of it, and is told anew.
func (c *campaign) flapUnderXOFF() {
	c.t.Helper()
	release := c.pauses(0)
	defer release()
	v := c.stations[victim]
	before := v.xoffs.Load()
	c.until("an XOFF to the victim", func() bool {
		for n := 0; n < 200 && v.xoffs.Load() == before; n++ {
			c.next(c.streams[4])
			time.Sleep(100 * time.Microsecond)
		}
		return v.xoffs.Load() > before
	})
	before = v.xoffs.Load()
	c.flapVictim(false)
	c.until("an XOFF on the new link", func() bool { return v.xoffs.Load() > before })
}

// pauses has a host pause the switch until the function it returns is called.
func (c *campaign) pauses(host int) (release func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			c.stations[host].send(pauseFrame(host, pfc.MaxQuanta))
			select {
			case <-tick.C:
			case <-stop:
				c.stations[host].send(pauseFrame(host, 0))
				return
			}
		}
	}()
	return func() { close(stop); <-stopped }
}

// An interface is deleted and made again, as at each restart of a container.
func (c *campaign) peerGone() {
	c.t.Helper()
	v := c.stations[victim]
	attached := c.timesLogged("port sw2: the interface was made anew: attached to it")
	c.sw.Run(c.t, "ip", "link", "del", "sw2")
	time.Sleep(50 * time.Millisecond)
	testnet.Veth(c.t, v.home, "eth0", c.sw, "sw2")
	v.open()
	v.until.Store(0)
	c.until("the interface is used", func() bool {
		return c.timesLogged("port sw2: the interface was made anew: attached to it") > attached &&
			c.changes()%2 == 0
	})
	v.send(udp(victim, 0, 0, 100, 0)) // to be learned
}

// A server of the switch's memif takes the connection and never answers. The links of other ports are looked at all the
// same.
func (c *campaign) memifHangs() {
	c.t.Helper()
	listener, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	defer unix.Close(listener)
	if err := unix.Bind(listener, &unix.SockaddrUnix{Name: c.memif}); err != nil {
		c.t.Fatal(err)
	}
	defer unix.Unlink(c.memif)
	if err := unix.Listen(listener, 1); err != nil {
		c.t.Fatal(err)
	}
	peer := -1
	c.until("the memif connects", func() bool {
		fd, _, err := unix.Accept(listener)
		if err != nil {
			return false
		}
		peer = fd
		return true
	})
	defer unix.Close(peer)
	c.flapVictim(true)
}
