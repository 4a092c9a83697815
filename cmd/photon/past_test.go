//go:build dpdk

package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"photon/pfc"
	"photon/telemetry/show"
)

// A peer stops priority 3 of a port twice, and lets it go on: the history has both, with the times that the counters
// have; and the frames that are discarded are there with their headers.
func TestWhatHappenedAtAPort(t *testing.T) {
	o := operate(t, "history: {pauses: 2, events: 3}\nvlans:\n- {id: 10, untagged: [0, 1, 2, 3]}\n")
	control := func(quanta uint16) []byte {
		b := make([]byte, pfc.FrameLen)
		f := pfc.Frame{Enable: 1 << 3}
		f.Quanta[3] = quanta
		f.Encode(b, mac(0))
		return b
	}
	var past show.Pauses
	port := func(name string) show.PausesPort {
		past = show.Pauses{}
		o.show("pfc history", &past)
		for _, p := range past.Ports {
			if p.Port == name {
				return p
			}
		}
		t.Fatalf("no port %s", name)
		return show.PausesPort{}
	}
	for i := range 3 {
		o.hosts[0].Send(control(pfc.MaxQuanta))
		if i == 0 {
			o.hosts[0].Send(control(0)) // an XON ends it before its time
		}
		o.until("the pause has ended", func() bool { return port("sw0").Ended == uint64(i+1) })
	}
	if p := port("sw0"); p.Lost != 1 || past.Capacity != 2 || len(past.Pauses) != 2 {
		t.Fatalf("%+v", past)
	}
	longest := pfc.Duration(pfc.MaxQuanta, 10e9).Seconds()
	for _, p := range past.Pauses {
		at, err := time.Parse(time.RFC3339Nano, p.From)
		if err != nil || time.Since(at) < 0 || time.Since(at) > 10*time.Minute {
			t.Errorf("it began at %s, now it is %v", p.From, time.Now())
		}
		if p.Port != "sw0" || p.Stopped != "sw0" || p.By != "peer" || p.Direction != "rx" || p.Priority != 3 || p.Lasts || math.Abs(p.Seconds-longest) > 1e-9 {
			t.Errorf("%+v, one lasts %v s", p, longest)
		}
	}
	paused := sum(o.process.metrics(), "photon_pfc_rx_paused_seconds_total", `port="sw0"`, `priority="3"`)
	if paused < 2*longest || paused > 3*longest {
		t.Errorf("%v s paused, two of %v s and one shorter were", paused, longest)
	}

	frame := udp(0, 1, 26, 200, 0)
	tagged := append(append(append([]byte{}, frame[:12]...), 0x81, 0, 0x60, 77), frame[12:]...) // VLAN 77 is none of the port's
	for range 3 {
		o.hosts[0].Send(tagged)
	}
	var events show.Events
	o.until("three frames are an event", func() bool {
		events = show.Events{}
		o.show("events", &events)
		for _, e := range events.Events {
			if e.Reason == "vlan" && e.Frames == 3 {
				return true
			}
		}
		return false
	})
	for _, e := range events.Events {
		if e.Reason != "vlan" {
			continue
		}
		if e.Port != "sw0" || e.Event != "discard" || e.Priority != 3 || e.Length != len(tagged) || !strings.HasPrefix(e.Head, "02000a090002") ||
			!strings.Contains(e.First, "VLAN 77 PCP 3") || !strings.Contains(e.First, "DSCP 26") {
			t.Errorf("%+v", e)
		}
	}
}
