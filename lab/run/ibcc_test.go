package run

import (
	"context"
	"strings"
	"testing"

	"photon/lab/experiment"
)

// InfiniBand's congestion control slows down who is congested, however the mark comes back and whoever has an index, and
// over either flow control. What a run says of itself is of the flow control that it has.
func TestIBCCEndToEnd(t *testing.T) {
	const text = `
id: test/ibcc
title: an incast behind a link that others share
duration: 6ms
topology: {kind: compact, bursters: 6}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, FLOW, buffer: 12MB, start_phase: 0s}
schemes:
  - none
  - {name: ibcc}
  - {name: ibcc, label: ack, params: {becn: ack}}
  - {name: ibcc, label: sl, params: {port_control: sl}}
  - {name: tcd+ibcc}
  - {name: tcd+ibcc, label: tcd-ack-sl, params: {becn: ack, port_control: sl}}
flows:
  - {name: culprit, from: H1, to: R1}
  - {name: incast, from: "H2..H7", to: R1}
measure:
  sample: 100us
  probes:
    - {name: culprit, kind: received, flows: [culprit]}
    - {name: cnps, kind: notified, flows: ["*"]}
    - {name: root_ce, kind: marked, at: [S1>R1]}
    - {name: queue, kind: queue, at: [S1>R1]}
    - {name: pauses, kind: xoffs, at: ["*"]}
  metrics:
    - {name: cnps, do: last, of: cnps}
    - {name: root_ce, do: last, of: root_ce}
    - {name: queue, do: mean, of: queue, from: 3ms}
    - {name: pauses, do: last, of: pauses}
`
	for flow, with := range map[string]string{"credits": "flow_control: credits, lane_buffer: 64KB", "pause": "xoff: 60KB"} {
		e, err := experiment.Parse("ibcc.yaml", []byte(strings.Replace(text, "FLOW", with, 1)))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Replay(context.Background(), e, Options{World: "sim"})
		if err != nil {
			t.Fatal(err)
		}
		uncontrolled := *r.Runs[0].Metrics["queue"]
		for i := range r.Runs {
			run := &r.Runs[i]
			m := func(name string) float64 { return *run.Metrics[name] }
			if !run.Sound() || run.Invariants.LostFrames != 0 {
				t.Errorf("%s, %s: %+v", flow, run.Scheme, run.Invariants)
			}
			if flow == "credits" && m("pauses") != 0 {
				t.Errorf("%s: %v PAUSEs with credits", run.Scheme, m("pauses"))
			}
			for _, note := range run.Notes {
				if flow == "credits" && strings.Contains(note, "PAUSE") || run.Scheme != "none" && strings.Contains(note, "notified") {
					t.Errorf("%s, %s says %q", flow, run.Scheme, note)
				}
			}
			if run.Scheme == "none" {
				continue
			}
			acked := strings.Contains(run.Scheme, "ack")
			if m("root_ce") < 100 || m("queue") > uncontrolled/2 || acked != (m("cnps") == 0) {
				t.Errorf("%s, %s: the root marked %v, its queue is %.0f bytes, and %.0f without control, %v CNPs", flow, run.Scheme, m("root_ce"), m("queue"), uncontrolled, m("cnps"))
			}
		}
	}
}
