//go:build dpdk

package main

import (
	"testing"
	"time"

	"photon/pfc"
	"photon/telemetry/show"
)

// A port without lossless priorities that sends PAUSE stops its peer by 802.3x when a queue behind it is paused, and
// discards nothing; another writes code points of its own; a third takes shorter frames; and a reload gives them others.
func TestPortsOfTheirOwn(t *testing.T) {
	o := operate(t, "metrics: 127.0.0.1:9464\nrate: 10Mbps\npfc: {xoff: 20KB, headroom: 200KB}\n")
	text := func(first string) string {
		return "name: sw\nadmin: " + o.socket + "\nmetrics: 127.0.0.1:9464\nrate: 10Mbps\npfc: {xoff: 20KB, headroom: 200KB}\nports:\n- {device: 'net_af_packet0,iface=sw0'" + first + "}\n" +
			"- {device: 'net_af_packet1,iface=sw1', priority_to_pcp: {3: 5}}\n- {device: 'net_af_packet2,iface=sw2'}\n- {device: 'net_af_packet3,iface=sw3', mtu: 500}\n"
	}
	o.rewrite(text(", lossless: [], pause: true"))
	if out, err := o.photon("reload"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if gap := sum(o.process.metrics(), "photon_worker_poll_gap_survived_seconds"); gap <= 0 {
		t.Errorf("polls may be %g s apart: each port has headroom", gap)
	}
	isPause := func(want func(f *pfc.Frame) bool) func([]byte) bool {
		return func(b []byte) bool {
			var f pfc.Frame
			return b[12] == 0x88 && b[13] == 0x08 && f.Decode(b) == nil && want(&f)
		}
	}
	paused := startStream(o.hosts[2], time.Millisecond, pauseFrame(2, pfc.MaxQuanta))
	o.hosts[0].Flush()
	for n := range uint32(60) {
		o.hosts[0].Send(udp(0, 2, 26, 1000, n))
	}
	o.until("an 802.3x PAUSE comes", func() bool {
		return len(o.hosts[0].Collect(20*time.Millisecond, isPause(func(f *pfc.Frame) bool { return f.Global && f.Quanta[0] > 0 }))) > 0
	})
	o.rewrite(text("")) // with all of it in the buffer
	if out, err := o.photon("reload"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o.until("a PFC frame comes", func() bool {
		return len(o.hosts[0].Collect(20*time.Millisecond, isPause(func(f *pfc.Frame) bool { return !f.Global && f.Enable == 1<<3 && f.Quanta[3] > 0 }))) > 0
	})
	paused.end()
	o.hosts[2].Send(pauseFrame(2, 0))
	if got := o.arrives(2, 60); len(got) != 60 {
		t.Errorf("%d of 60 frames arrive", len(got))
	}
	tagged := append(append(append([]byte{}, udp(0, 1, 26, 200, 7)[:12]...), 0x81, 0, 0x10, 0), udp(0, 1, 26, 200, 7)[12:]...)
	o.hosts[1].Flush()
	o.hosts[0].Send(tagged)
	o.until("a tagged frame comes", func() bool {
		got := o.hosts[1].Collect(20*time.Millisecond, func(b []byte) bool { return b[12] == 0x81 && b[13] == 0 })
		if len(got) > 0 && got[0][14] != 5<<5|0x10 {
			t.Errorf("its code point is %d", got[0][14]>>5)
		}
		return len(got) > 0
	})
	o.hosts[0].Send(udp(0, 3, 26, 1000, 1))
	o.until("a frame is too long for sw3", func() bool { return o.discards("oversize") == 1 })
	var b show.Buffer
	o.show("buffer", &b)
	if len(b.Profiles) != 4 {
		t.Errorf("%+v", b.Profiles)
	}
}
