//go:build dpdk

package main

import (
	"slices"
	"strings"
	"testing"

	"photon/telemetry/show"
	"photon/wire"
)

// What a port is told to do to frames on purpose is done to real ones, counted, and shown.
func TestImpairedPort(t *testing.T) {
	o := operate(t, `  impair:
    seed: 7
    rules:
    - {do: lose, priority: 3, packets: [3]}
    - {do: duplicate, priority: 3, from: 10.9.0.4, packets: [4]}
    - {do: mark, priority: 3, packets: [6]}
    - {do: reorder, priority: 3, packets: [5], behind: 1}
metrics: 127.0.0.1:9464
scheme: {name: none}
`)
	for n := range uint32(10) {
		o.hosts[3].Send(udp(3, 0, 26, 200, n+1))
	}
	frames := o.arrivesOf(0, 26, 10)
	marked := 0
	for _, b := range frames {
		if b[15]&3 == wire.CE {
			marked++
		}
	}
	if len(frames) != 10 || marked != 1 {
		t.Errorf("%d frames arrived, %d marked: of 10 one was to be lost, one doubled, one marked", len(frames), marked)
	}
	var d show.Impair
	o.show("impair", &d)
	if len(d.Ports) != 1 || d.Ports[0].Lost != 1 || d.Ports[0].Duplicated != 1 || d.Ports[0].Marked != 1 || d.Ports[0].Reordered != 1 || d.Ports[0].DelayedNow != 0 {
		t.Errorf("%+v", d.Ports)
	}
	for _, action := range []string{"lose", "duplicate", "mark", "reorder"} {
		if n := sum(o.process.metrics(), "photon_port_impaired_frames_total", `action="`+action+`"`); n != 1 {
			t.Errorf("%s: %v in the metrics", action, n)
		}
	}
	table, err := o.photon("show", "impair")
	if err != nil || !slices.Contains(strings.Fields(table), "Duplicated") {
		t.Errorf("%v\n%s", err, table)
	}
}
