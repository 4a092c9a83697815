//go:build dpdk

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"photon/daemon"
	"photon/telemetry/show"
)

// A peer that does not obey PFC overruns the headroom: the log says once where, why,
// how much and since when, and then only now and then that it was more; the metric and
// `photon show losses` say the same. Lossy frames, and frames for no host,
// are no losses.
func TestLossesAreNamed(t *testing.T) {
	o := operate(t, "metrics: 127.0.0.1:9464\nrate: 10Mbps\npfc: {xoff: 10KB, headroom: 10KB}\nlossy_queue: 10KB\n")
	var d show.Losses
	if o.show("losses", &d); len(d.Losses) != 0 {
		t.Fatalf("losses before any: %+v", d.Losses)
	}
	first := `photon_port_lossless_first_loss_timestamp_seconds{node="sw",port="sw0",priority="3"}`
	if at, ok := o.process.metrics()[first]; !ok || at != 0 {
		t.Fatalf("the first loss was at %v (%v)", at, ok)
	}
	for n := range uint32(200) { // lossy ones, and those that come back to where they are from
		o.hosts[2].Send(udp(2, 3, 0, 1000, n))
		o.hosts[1].Send(udp(1, 1, 26, 1000, n))
	}
	begin := time.Now()
	for n := range uint32(300) {
		o.hosts[0].Send(udp(0, 1, 26, 1000, n))
	}
	o.until("losses are shown", func() bool { o.show("losses", &d); return len(d.Losses) > 0 })
	discards := func() float64 {
		return sum(o.process.metrics(), "photon_port_discards_total", `port="sw0"`, `priority="3"`, `reason="headroom"`)
	}
	settle := func() { // what was on its way has come
		t.Helper()
		o.until("all is counted", func() bool {
			n := discards()
			time.Sleep(50 * time.Millisecond)
			return discards() == n
		})
	}
	settle()
	o.show("losses", &d)
	l := d.Losses[0]
	if len(d.Losses) != 1 || l.Port != "sw0" || l.Priority != 3 || len(l.Reasons) != 1 || l.Reasons[0] != (show.LossReason{Reason: "headroom", Frames: l.Frames}) {
		t.Errorf("the losses are %+v", d.Losses)
	}
	if n := discards(); n != float64(l.Frames) || n < 200 {
		t.Errorf("%v frames are counted, %d shown", n, l.Frames)
	}
	slack := 10 * time.Millisecond
	if l.First.Before(begin.Add(-slack)) || l.First.After(time.Now().Add(slack)) {
		t.Errorf("the first was lost at %v, not after %v", l.First, begin)
	}
	if at := o.process.metrics()[first]; at < float64(l.First.UnixMilli()-10)/1000 || at > float64(l.First.UnixMilli()+10)/1000 {
		t.Errorf("the first was lost at %v, and at %v", l.First, at)
	}
	table, err := o.photon("show", "losses")
	if want := fmt.Sprintf("%d headroom", l.Frames); err != nil || !strings.Contains(table, "sw0:3") || !strings.Contains(table, want) {
		t.Errorf("%v: %s", err, table)
	}
	o.until("the log tells", func() bool {
		return strings.Contains(o.process.log.String(), "port sw0: frames of lossless priority 3 were lost: ")
	})
	for n := range uint32(2000) { // for half a second and more
		o.hosts[0].Send(udp(0, 1, 26, 1000, n))
		time.Sleep(500 * time.Microsecond)
	}
	if n := strings.Count(o.process.log.String(), "lossless priority 3"); n > 1+int(time.Since(begin)/daemon.LossLogInterval) {
		t.Errorf("%d lines in %v", n, time.Since(begin))
	}
	// They are not forgotten with the port.
	settle()
	n := discards()
	if _, err := o.photon("port", "remove", "sw0"); err != nil {
		t.Fatal(err)
	}
	if o.show("losses", &d); len(d.Losses) != 0 || float64(d.Removed) != n {
		t.Errorf("%v frames were lost at a port that has been removed, and the switch says %+v", n, d)
	}
	table, err = o.photon("show", "losses")
	want := fmt.Sprintf("Ports that were removed lost %d frames of lossless priorities", d.Removed)
	if err != nil || !strings.Contains(table, want) {
		t.Errorf("%v: %s", err, table)
	}
}
