//go:build dpdk

package main

import (
	"testing"

	"photon/pfc"
	"photon/telemetry/show"
)

// stopAll has host 0 stop the switch, so that what is for it stays there.
func (o *operated) stopAll() {
	o.t.Helper()
	o.pauses(pfc.Frame{Enable: 1, Global: true, Quanta: [8]uint16{pfc.MaxQuanta}})
}

// pauses has host 0 send a PFC frame or PAUSE, and waits until the switch has it.
func (o *operated) pauses(f pfc.Frame) {
	o.t.Helper()
	var c show.PFC
	o.show("pfc counters", &c)
	want := c.Ports[0].Control + 1
	b := make([]byte, pfc.FrameLen)
	f.Encode(b, mac(0))
	o.hosts[0].Send(b)
	o.until("a pause", func() bool { o.show("pfc counters", &c); return c.Ports[0].Control == want })
}

// Of the shared buffer a port's lossy frames take no more than its limit, and a queue always has what is set aside
// for it; a reload changes both.
func TestLossyFramesShareTheBuffer(t *testing.T) {
	const file = "rate: 1Mbps\nmetrics: 127.0.0.1:9464\npfc: {priorities: []}\nbuffer: 70KB\n"
	o := operate(t, file+"lossy_ingress: {limit: 20KB}\nqueues: {1: {min: 10KB}}\n")
	o.stopAll()
	var b show.Buffer
	buffer := func() *show.Buffer { b = show.Buffer{}; o.show("buffer", &b); return &b }
	drops := func(port, reason string) float64 {
		return sum(o.process.metrics(), "photon_port_discards_total", `port="`+port+`"`, `reason="`+reason+`"`)
	}
	// Of 70 KB four queues of priority 1 have 10 KB each. Frames of the kernel's own take some cells of the rest.
	if buffer(); b.Lossy != 30_000 || b.Ports[1].LossyLimit != 20_000 {
		t.Fatalf("%+v", b)
	}
	for i := range uint32(30) {
		o.hosts[1].Send(udp(1, 0, 0, 1000, i))
	}
	o.until("what came through the port is as much as it may be", func() bool { return buffer().Ports[1].LossyUsed > 19_000 && drops("sw1", "ingress_limit") >= 10 })
	for i := range uint32(20) {
		o.hosts[1].Send(udp(1, 0, 8, 1000, i)) // beyond its limit, but in what is set aside
		o.hosts[2].Send(udp(2, 0, 0, 1000, i)) // within its limit, until nothing is left
	}
	o.until("no more has room", func() bool { return drops("sw1", "ingress_limit") >= 20 && drops("sw2", "lossy_buffer") >= 10 })
	if buffer(); b.LossyUsed <= 29_000 || b.LossyUsed > 30_000 || b.Ports[1].LossyUsed <= 29_000 || b.Ports[1].LossyUsed > 30_000 || b.Ports[1].Occupancy[1] != 10_000 {
		t.Errorf("%+v", b)
	}
	o.write(file + "lossy_ingress: {limit: 35KB}\nqueues: {1: {min: 2KB}}\n")
	if _, err := o.photon("reload"); err != nil {
		t.Fatal(err)
	}
	if buffer(); b.Lossy != 62_000 || b.LossyUsed <= 37_000 || b.LossyUsed > 38_000 {
		t.Errorf("after a reload %+v", b)
	}
	before := drops("sw1", "ingress_limit")
	for i := range uint32(15) {
		o.hosts[1].Send(udp(1, 0, 0, 1000, i))
	}
	o.until("the new limit", func() bool { return drops("sw1", "ingress_limit") > before && buffer().Ports[1].LossyUsed > 34_000 })
	o.pauses(pfc.Frame{Enable: 1, Global: true})
	o.until("all have left", func() bool { return buffer().LossyUsed == 0 && b.Ports[1].LossyUsed == 0 })
	if got := len(o.hosts[0].Collect(0, isUDP(0))) + len(o.hosts[0].Collect(0, isUDP(8))); got == 0 {
		t.Error("none have arrived")
	}
}
