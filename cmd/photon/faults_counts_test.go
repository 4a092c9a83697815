//go:build dpdk

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"photon/internal/testnet"
)

// counts are what everybody counted of a campaign so far.
type counts struct {
	metrics  map[string]float64
	missing  []int // of each stream, sent and not arrived
	disorder uint32
	missed   int64 // frames that hosts had no room for
}

// counts asks when nothing changes: the switch and the kernel agree, or do not for a while.
func (c *campaign) counts() *counts {
	c.t.Helper()
	n := &counts{metrics: c.process.metrics()}
	for _, s := range c.streams {
		n.missing = append(n.missing, int(s.sent.Load()-s.got.Load()))
		n.disorder += s.disorder.Load()
	}
	for _, s := range c.stations {
		n.missed += s.missed.Load()
	}
	return n
}

// grown is by how much a metric is more than before.
func grown(before, after *counts, name string, labels ...string) int {
	return int(sum(after.metrics, name, labels...) - sum(before.metrics, name, labels...))
}

// compare says how many lossless frames were lost by a fault, how many the watchdog dropped, and what does not add up.
func (c *campaign) compare(f *fault, before, after *counts) (lost, ordered int, wrong string) {
	c.t.Helper()
	var says []string
	say := func(format string, a ...any) { says = append(says, fmt.Sprintf(format, a...)) }
	discarded := func(reason string, labels ...string) int {
		return grown(before, after, "photon_port_discards_total", append(labels, `reason="`+reason+`"`, `priority="3"`)...)
	}
	ordered = discarded("pfc_watchdog")
	for i, s := range c.streams {
		if s.to != victim || !f.cuts {
			lost += after.missing[i]
		}
	}
	explained := ordered
	if f.cuts {
		explained -= discarded("pfc_watchdog", fmt.Sprintf(`port="sw%d"`, victim))
	}
	lost = max(lost-explained, discarded("headroom")+discarded("no_memory"))
	if lost < 0 {
		say("%d frames fewer are missing than the watchdog dropped", -lost)
		lost = 0
	}
	if n := after.disorder - before.disorder; n != 0 {
		say("%d lossless frames came late or twice", n)
	}
	if n := after.missed - before.missed; n != 0 {
		say("the observers missed %d frames: what they did not see may have come", n)
	}
	if n := grown(before, after, "photon_device_rx_missed_total"); n != 0 {
		say("%d frames overran the kernel's rings: polls were too far apart", n)
	}
	if n := sum(after.metrics, "photon_pfc_tx_frames_total") - sum(before.metrics, "photon_pfc_tx_frames_total"); n < 0 {
		say("a counter went back")
	}
	for host := range c.stations {
		if host == victim {
			continue // its interfaces begin anew
		}
		if text := c.agree(host); text != "" {
			say("%s", text)
		}
	}
	return lost, ordered, strings.Join(says, "; ")
}

// agree compares what the switch counted at a port with what the kernel counted at the host's end of the cable, all
// kinds of frames together, and says by how much they differ.
func (c *campaign) agree(host int) string {
	c.t.Helper()
	now, was := [2]int{}, c.differs[host]
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if now = c.difference(host); now == was {
			return ""
		}
	}
	c.differs[host] = now
	return fmt.Sprintf("host %d: the switch took %d frames more than were sent, and sent %d more than came\n%s",
		host, now[0]-was[0], now[1]-was[1], c.along(host))
}

// along is what everybody along the cable to a host counted, for who wants to know where they differ: the kernel at
// both ends, the socket that the switch has there, and the switch.
func (c *campaign) along(host int) string {
	c.t.Helper()
	name := fmt.Sprintf("sw%d", host)
	var b strings.Builder
	for _, end := range []struct {
		home  *testnet.Namespace
		iface string
	}{{c.stations[host].home, "eth0"}, {c.sw, name}} {
		fmt.Fprintf(&b, "%s\n%s", end.iface, end.home.Run(c.t, "ip", "-s", "-s", "link", "show", end.iface))
	}
	fmt.Fprintf(&b, "/proc/net/packet, by socket\n%s", c.sw.Run(c.t, "cat", "/proc/net/packet"))
	m := c.process.metrics()
	for _, series := range slices.Sorted(maps.Keys(m)) {
		if strings.Contains(series, `port="`+name+`"`) && m[series] != 0 && !strings.Contains(series, "_bytes") {
			fmt.Fprintf(&b, "%s %v\n", series, m[series])
		}
	}
	return b.String()
}

// difference is how many frames the switch took from a host beyond those that the kernel counts, and sent to it, when
// nothing moves. Those of the time before the switch polled are in it.
func (c *campaign) difference(host int) [2]int {
	c.t.Helper()
	port := fmt.Sprintf(`port="sw%d"`, host)
	var sent, received, in, out int
	c.until(fmt.Sprintf("host %d is quiet", host), func() bool {
		beforeSent, beforeReceived := c.kernel(host)
		m := c.process.metrics()
		in = int(sum(m, "photon_port_rx_packets_total", port) + sum(m, "photon_port_rx_control_packets_total", port))
		out = int(sum(m, "photon_port_tx_packets_total", port) + sum(m, "photon_port_tx_control_packets_total", port))
		sent, received = c.kernel(host)
		return sent == beforeSent && received == beforeReceived
	})
	return [2]int{in - sent, out - received}
}

// kernel is what the kernel counted at a host's interface.
func (c *campaign) kernel(host int) (sent, received int) {
	c.t.Helper()
	err := c.stations[host].home.Do(func() error {
		text, err := os.ReadFile("/proc/thread-self/net/dev")
		if err != nil {
			return err
		}
		_, line, _ := strings.Cut(string(text), "eth0:")
		n := strings.Fields(line) // bytes, packets and six more, received; then the same sent
		if len(n) < 16 {
			return fmt.Errorf("there is no eth0\n%s", text)
		}
		received, err = strconv.Atoi(n[1])
		if err != nil {
			return err
		}
		sent, err = strconv.Atoi(n[9])
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return sent, received
}
