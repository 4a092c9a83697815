//go:build dpdk

package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"photon/cnp"
	"photon/pfc"
	"photon/wire"
)

// metric is what the switch has of one now.
func (c *campaign) metric(name string, labels ...string) float64 {
	return sum(c.process.metrics(), name, labels...)
}

// more waits until a metric is more than it was.
func (c *campaign) more(than float64, name string, labels ...string) {
	c.t.Helper()
	c.until(fmt.Sprintf("more %s%v", name, labels), func() bool { return c.metric(name, labels...) > than })
}

// The victim pauses the switch without end: the watchdog drops what is for it, and nothing else.
func (c *campaign) storm() {
	c.t.Helper()
	port := `port="sw2"`
	dropped := c.metric("photon_port_discards_total", port, `reason="pfc_watchdog"`)
	restored := c.metric("photon_pfc_watchdog_restored_total", port)
	release := c.pauses(victim)
	c.more(dropped, "photon_port_discards_total", port, `reason="pfc_watchdog"`)
	release()
	c.more(restored, "photon_pfc_watchdog_restored_total", port)
}

// The victim pauses the switch, and its XON is lost on the way: the pause ends by itself.
func (c *campaign) lostXON() {
	c.t.Helper()
	v, port := c.stations[victim], `port="sw2"`
	lost := c.metric("photon_port_impaired_frames_total", port, `action="lose"`)
	paused := c.metric("photon_pfc_rx_frames_total", port, `priority="3"`)
	resumed := c.metric("photon_pfc_rx_transitions_total", port, `priority="3"`)
	v.send(pauseFrame(victim, pfc.MaxQuanta))
	c.more(paused, "photon_pfc_rx_frames_total", port, `priority="3"`)
	xon := pfc.Frame{Enable: 1<<3 | 1<<lostWith}
	b := make([]byte, pfc.FrameLen)
	xon.Encode(b, mac(victim))
	v.send(b)
	c.more(lost, "photon_port_impaired_frames_total", port, `action="lose"`)
	c.more(resumed, "photon_pfc_rx_transitions_total", port, `priority="3"`)
}

// flow has the sending agent send a flow, and waits until it is done.
func (c *campaign) flow(words ...string) {
	c.t.Helper()
	a := &agents{t: c.t, process: [2]*process{c.agents[0]}, socket: [2]string{c.flowSocket}}
	done := sum(c.agents[0].metrics(), "photon_flows_completed_total")
	a.must(append([]string{"add", "--to", fmt.Sprintf("10.9.0.%d", receivingAgent+1)}, words...)...)
	c.until("a flow is done", func() bool { return sum(c.agents[0].metrics(), "photon_flows_completed_total") > done })
}

// A flow whose CNPs are all lost: the switch has only PFC against it, and it is done all the same.
func (c *campaign) lostCNP() {
	c.t.Helper()
	labels := []string{`port="sw5"`, `action="lose"`}
	lost := c.metric("photon_port_impaired_frames_total", labels...)
	c.until("CNPs are lost", func() bool {
		c.flow("--size", "500KB", "--qp", fmt.Sprint(lostOnPurpose))
		return c.metric("photon_port_impaired_frames_total", labels...) > lost
	})
}

// paced sends so many frames from a host, 40 a millisecond in bursts: who receives them shares the machine's cores.
func (c *campaign) paced(from, frames, burst int, make func(n int) []byte) {
	for n := range frames {
		c.stations[from].send(make(n))
		if n%burst == burst-1 {
			time.Sleep(time.Duration(burst) * time.Millisecond / 40)
		}
	}
}

// Somebody tells the sending agent to slow down, as often as he can, in the name of its receiver: the flow goes on, and
// is as fast as it was when that ends.
func (c *campaign) floodOfCNPs() {
	c.t.Helper()
	b := make([]byte, cnp.MaxLen)
	to := wire.RoCE{
		DstMAC: mac(sendingAgent), SrcMAC: mac(3), TOS: 48 << 2, SrcPort: 4000,
		Src: wire.IPv4(10, 9, 0, receivingAgent+1), Dst: wire.IPv4(10, 9, 0, sendingAgent+1),
	}
	b = b[:cnp.Encode(b, to, 1, cnp.Notice{ECN: wire.CE, Word: 1})]
	count := func() float64 {
		m := c.agents[0].metrics()
		return sum(m, "photon_rp_cnp_handled_total") + sum(m, "photon_rp_cnp_ignored_total")
	}
	const frames = 1000
	before := count()
	c.until("the CNPs are taken", func() bool { // some may not fit in a queue
		c.paced(3, frames, 10, func(int) []byte { return b })
		return count() >= before+frames
	})
	c.flow("--size", "50KB")
}

// Frames that no host should send.
func (c *campaign) malformed() {
	random := rand.New(rand.NewPCG(uint64(c.reload), 2))
	c.reload++
	for range 50 {
		b := malformed(random)
		if b[12] == 0x08 && b[13] == 0x00 && len(b) > 15 {
			b[15] &= 0x1F // lossy: the streams alone are lossless
		}
		c.stations[3].send(b)
	}
}

// More lossy frames than their queue holds, as short as can be: memory is what runs out first, if it is not accounted
// for.
func (c *campaign) floodOfSmall() {
	c.t.Helper()
	labels := []string{`port="sw2"`, `priority="0"`, `reason="tail_drop"`}
	dropped := c.metric("photon_port_discards_total", labels...)
	c.until("the queue is full", func() bool {
		c.paced(3, 4000, 2000, func(n int) []byte { return udp(3, victim, 0, 60, uint32(n)) })
		return c.metric("photon_port_discards_total", labels...) > dropped
	})
}
