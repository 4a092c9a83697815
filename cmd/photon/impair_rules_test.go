//go:build dpdk

package main

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"photon/telemetry/show"
)

// The rules that hold frames back, change them or pause the port, on ports of two workers: frames go from one worker's
// port to the other's.
func TestImpairedPortsOfTwoWorkers(t *testing.T) {
	o := operate(t, `  impair: {rules: [{do: delay, priority: 3, packets: [1], by: 200ms}, {do: corrupt, priority: 3, packets: [3]}]}
metrics: 127.0.0.1:9464
scheme: {name: none}
dpdk: {workers: 2}
`)
	const frames = 10
	for n := range uint32(frames) { // port 3 is the second worker's, port 0 the first's
		o.hosts[3].Send(udp(3, 0, 26, 200, n))
	}
	var order []uint32
	broken := 0
	for _, b := range o.arrives(0, frames) {
		n := binary.BigEndian.Uint32(b[42:])
		if !bytes.Equal(b, udp(3, 0, 26, 200, n)) {
			broken++
			continue // the bit may be one of its number's
		}
		order = append(order, n)
	}
	if len(order) != frames-1 || broken != 1 {
		t.Fatalf("%d frames arrived as they were sent, %d broken: 9 and 1 were to", len(order), broken)
	}
	for i, n := range order[:frames-2] { // without the one that was delayed, and the one that was broken
		if want := uint32(i) + 1; n != want && n != want+1 {
			t.Errorf("frame %d is number %d: %v", i, n, order)
		}
	}
	if order[frames-2] != 0 {
		t.Errorf("the frame that was delayed is not the last: %v", order)
	}
	var d show.Impair
	o.show("impair", &d)
	if p := d.Ports[0]; len(d.Ports) != 1 || p.Delayed != 1 || p.Corrupted != 1 || p.DelayedNow != 0 {
		t.Errorf("%+v", d.Ports)
	}
}

// A rule that pauses a port does what a storming peer would: frames of that priority wait, and of no other.
func TestImpairedPortIsPaused(t *testing.T) {
	o := operate(t, `  impair: {rules: [{do: pause, priority: 3, every: 50ms}]}
metrics: 127.0.0.1:9464
rate: 100Mbps
dpdk: {workers: 2}
`)
	paused := func() float64 {
		return sum(o.process.metrics(), "photon_pfc_rx_frames_total", `port="sw3"`, `priority="3"`)
	}
	o.until("a pause", func() bool { return paused() > 0 })
	o.hosts[3].Flush()
	o.hosts[0].Send(udp(0, 3, 26, 500, 1))
	o.hosts[0].Send(udp(0, 3, 8, 500, 2))
	o.arrivesOf(3, 8, 1) // although it came later
	before := paused()
	o.until("more pauses", func() bool { return paused() > before+20 })
	var q show.Queues
	o.show("queues", &q)
	if n := len(o.hosts[3].Collect(time.Millisecond, isUDP(26))); n != 0 || q.Ports[3].Queued[3] != 1 {
		t.Errorf("%d lossless frames arrived, %d wait", n, q.Ports[3].Queued[3])
	}
	var d show.Impair
	o.show("impair", &d)
	if len(d.Ports) != 1 || d.Ports[0].Pauses == 0 {
		t.Errorf("%+v", d.Ports)
	}
}

// A reload gives a running switch rules for ports that had none, others, and none again. What was done is counted on, and
// no frame is lost but by a rule.
func TestImpairReloaded(t *testing.T) {
	const rest = "metrics: 127.0.0.1:9464\nscheme: {name: none}\ndpdk: {workers: 2}\n"
	o := operate(t, rest)
	sent := uint32(0)
	gives := func(arrive int) {
		t.Helper()
		for range 3 {
			o.hosts[3].Send(udp(3, 0, 26, 200, sent)) // from the second worker's port to the first's
			sent++
		}
		o.arrivesOf(0, 26, arrive)
		if n := len(o.hosts[0].Collect(100*time.Millisecond, isUDP(26))); n != 0 {
			t.Errorf("%d frames too many", n)
		}
	}
	reload := func(rules, want string) {
		t.Helper()
		o.write(rules + rest)
		if out, err := o.photon("reload"); err != nil || out != want {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	lost := func(want uint64) {
		t.Helper()
		var d show.Impair
		o.show("impair", &d)
		if len(d.Ports) != 1 || d.Ports[0].Port != "sw3" || d.Ports[0].Lost != want {
			t.Errorf("%+v", d.Ports)
		}
	}
	gives(3)
	reload("  impair: {rules: [{do: lose, priority: 3, packets: [2]}]}\n", "ports[3].impair.rules: 0 -> 1\n")
	gives(2)
	lost(1)
	reload("  impair: {rules: [{do: lose, priority: 3, packets: [2, 3]}]}\n", "ports[3].impair.rules[0].packets: [2] -> [2 3]\n")
	gives(1) // it counts from the first again
	lost(3)
	reload("", "ports[3].impair.rules: 1 -> 0\n")
	gives(3)
	lost(3)
	o.write("  impair: {rules: [{do: lose, rate: 2}]}\n" + rest)
	if out, err := o.photon("reload"); err == nil {
		t.Errorf("taken: %s", out)
	}
	gives(3)
	o.process.stop()
}
