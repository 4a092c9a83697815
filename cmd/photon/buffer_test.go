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
	// 8 KB that were set aside are of the shared buffer now, where the kernel's frames find room again.
	if buffer(); b.Lossy != 62_000 || b.LossyUsed <= 37_000 || b.LossyUsed >= 39_000 {
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

// Ports share their headroom: what one has taken of it another finds missing. A frame that finds none is lost and
// counted, its peer is paused, and when the first has given it back there is room again.
func TestPortsShareHeadroom(t *testing.T) {
	o := operate(t, "rate: 1Mbps\nmetrics: 127.0.0.1:9464\npfc: {xoff: 10KB, headroom: 20KB, headroom_pool: 25KB}\n")
	o.pauses(pfc.Frame{Enable: 1 << 3, Quanta: [8]uint16{3: pfc.MaxQuanta}})
	var b show.Buffer
	buffer := func() *show.Buffer { b = show.Buffer{}; o.show("buffer", &b); return &b }
	lost := func() float64 {
		return sum(o.process.metrics(), "photon_port_discards_total", `port="sw2"`, `priority="3"`, `reason="headroom"`)
	}
	if p := buffer().Pools[1]; p.Name != "headroom_pool" || p.Size != 25_000 || b.Headrooms != 80_000 || b.Reserved != 65_000 {
		t.Fatalf("%+v", b)
	}
	for i := range uint32(25) {
		o.hosts[1].Send(udp(1, 0, 26, 1000, i))
	}
	o.until("15 KB of headroom are used", func() bool { return buffer().Ports[1].Occupancy[3] == 25_000 && b.Pools[1].Used == 15_000 })
	for i := range uint32(25) {
		o.hosts[2].Send(udp(2, 0, 26, 1000, i))
	}
	o.until("10 KB more, and the rest is lost", func() bool { return lost() == 5 && buffer().Pools[1].Used == 25_000 })
	var c show.PFC
	if o.show("pfc counters", &c); *b.Pools[1].Watermark != 25_000 || b.Ports[2].Headroom[3] != 10_000 || c.Ports[2].Tx[3] == 0 {
		t.Errorf("%+v\n%+v", b, c)
	}
	o.pauses(pfc.Frame{Enable: 1 << 3})
	o.arrives(0, 45)
	o.until("nothing is used", func() bool { return buffer().Pools[1].Used == 0 })
}
