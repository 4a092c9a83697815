//go:build dpdk

package main

import (
	"errors"
	"strings"
	"testing"

	"photon/pfc"
	"photon/telemetry/show"
)

// Watermarks of queues and buffer begin anew with what is there, of one port or of all, and counters go on.
func TestClearWatermarks(t *testing.T) {
	o := operate(t, "rate: 1Mbps\nmetrics: 127.0.0.1:9464\npfc: {priorities: [3], xoff: 20KB, headroom: 30KB}\n")
	control := func(n uint64) func() bool {
		return func() bool {
			var c show.PFC
			o.show("pfc counters", &c)
			return c.Ports[0].Control == n
		}
	}
	o.hosts[0].Send(pauseFrame(0, pfc.MaxQuanta))
	o.until("a pause", control(1))
	for i := range uint32(30) {
		o.hosts[1].Send(udp(1, 0, 26, 1000, i))
	}
	peaks := func() (ingress, queue int64) {
		var b show.Buffer
		o.show("buffer", &b)
		var q show.Queues
		o.show("queues", &q)
		return b.Ports[1].Watermark[3], q.Ports[0].Watermark[3]
	}
	headroom := func(what string) float64 {
		return sum(o.process.metrics(), "photon_ingress_headroom"+what+"_bytes", `port="sw1"`, `priority="3"`)
	}
	o.until("30 frames in the switch", func() bool { in, out := peaks(); return in == 30_000 && out == 30_000 })
	clear := func(says string, words ...string) {
		t.Helper()
		if said, err := o.photon(append([]string{"clear", "watermarks"}, words...)...); err != nil || said != says+"\n" {
			t.Errorf("%q, %v", said, err)
		}
	}
	clear("the watermarks of port sw1 begin anew", "sw1")
	if in, out := peaks(); in != 30_000 || out != 30_000 {
		t.Errorf("%d and %d bytes are the most of 30000 that are there", in, out)
	}
	o.hosts[0].Send(pauseFrame(0, 0))
	o.until("its end", control(2))
	o.arrives(0, 30)
	clear("the watermarks of port sw1 begin anew", "sw1")
	if in, out := peaks(); in != 0 || out != 30_000 {
		t.Errorf("%d bytes are the most at the port that was cleared, %d at the other", in, out)
	}
	if most := headroom("_watermark"); most != 0 {
		t.Errorf("%v bytes are the most in the headroom", most)
	}
	clear("the longest poll gap and the watermarks of all ports begin anew")
	if in, out := peaks(); in != 0 || out != 0 {
		t.Errorf("%d and %d bytes are the most, and all were cleared", in, out)
	}
	if n := sum(o.process.metrics(), "photon_port_rx_packets_total", `port="sw1"`, `priority="3"`); n != 30 {
		t.Errorf("%v frames are counted", n)
	}
	if _, err := o.photon("clear", "watermarks", "sw9"); err == nil || !strings.Contains(err.Error(), `there is no port "sw9" (there are sw0, sw1, sw2, sw3)`) || !errors.As(err, &badInput{}) {
		t.Error(err)
	}
}
