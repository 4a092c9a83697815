//go:build dpdk

package main

import (
	"testing"
	"time"

	"photon/telemetry/show"
	"photon/units"
)

// Real frames leave a queue with a shaper no sooner than it lets them, all of them, and a queue without one at the same port
// does not wait; a reload takes the shaper away.
func TestShapersOnTheWire(t *testing.T) {
	o := operate(t, "metrics: 127.0.0.1:9464\nqueues: {3: {shaper: {rate: 2Mbps, burst: 3000B}}}\n")
	const frames, length, wire, burst = 100, 1000, 1024, 3000
	o.hosts[1].Flush()
	began := time.Now()
	for n := range uint32(frames) {
		o.hosts[0].Send(udp(0, 1, 26, length, n))
	}
	o.hosts[0].Send(udp(0, 1, 0, 200, 0))
	if got := o.arrivesOf(1, 0, 1); len(got) != 1 {
		t.Error("a frame of the queue without a shaper does not arrive")
	}
	var s show.Scheduler
	o.show("scheduler", &s)
	q := s.Queues[8+3]
	if q.Port != "sw1" || q.Priority != 3 || q.Type != "strict" || q.Rate != 2e6 || q.Burst != burst || s.Queues[8].Rate != 0 || len(s.Ports) != 0 {
		t.Errorf("%+v", s)
	}
	o.until("all have left", func() bool {
		return sum(o.process.metrics(), "photon_port_tx_packets_total", `port="sw1"`, `priority="3"`) == frames
	})
	least := (2 * units.Mbps).Serialize(frames*wire - burst)
	if took := time.Since(began); took < time.Duration(least/1000) {
		t.Errorf("%d frames of %d bytes have left after %v, which is %v at least", frames, wire, took, least)
	}
	if shaped := sum(o.process.metrics(), "photon_queue_shaped_packets_total", `port="sw1"`, `priority="3"`); shaped < frames/2 || shaped > frames {
		t.Errorf("%v of %d frames have waited for tokens", shaped, frames)
	}
	if got := o.hosts[1].Collect(20*time.Millisecond, isUDP(26)); len(got) > frames {
		t.Errorf("%d frames arrive", len(got))
	}
	o.write("metrics: 127.0.0.1:9464\n")
	if out, err := o.photon("reload"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o.show("scheduler", &s)
	if q := s.Queues[8+3]; q.Rate != 0 {
		t.Errorf("after the reload %+v", q)
	}
}
