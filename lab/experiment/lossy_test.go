package experiment

import (
	"fmt"
	"strings"
	"testing"

	"photon/scheme"
	"photon/units"
)

const lossy = `id: test/lossy
title: lossy
duration: 2ms
topology: {kind: star, hosts: 5}
parameters:
  {link_rate: 25Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, buffer: 16MB,
  lossless: [], recovery: selective, ack_timeout: 320us, low_timeout: 100us}
workloads:
- {name: W, cdf: {1KB: 0, 10KB: 0.5, 1MB: 1}, from: "*", to: "*", load: 0.1, capacity: 10Gbps}
schemes: [pcn]
measure: {sample: 10us}
`

func TestLossyNeedsNoXOFF(t *testing.T) {
	e, err := Parse("x.yaml", []byte(lossy))
	if err != nil {
		t.Fatal(err)
	}
	p := &e.Parameters
	if p.LosslessMask() != 0 || e.DataMask() != 1<<3 || p.Patience() != 320*units.Microsecond {
		t.Errorf("lossless %08b, data %08b, timeout %v", p.LosslessMask(), e.DataMask(), p.Patience())
	}
	if s := p.Repeats(scheme.Network{Line: 25 * units.Gbps, PathRTT: 8 * units.Microsecond, Packet: 1000}); s.LowTimeout != 100*units.Microsecond || s.LowPackets != 3 {
		t.Errorf("%+v", s)
	}
	for _, s := range p.Settings() {
		if s.Name == "lossless" && s.Value != "none" || s.Name == "xoff" || s.Name == "xon" {
			t.Errorf("%s: %s", s.Name, s.Value)
		}
	}
}

func TestBadLossy(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"lossless: [], ", "", "x.yaml:6: parameter xoff has no value or no source"},
		{"lossless: [], ", "lossless: [], lossy_queue: 0B, ", "x.yaml:7: lossy_queue 0B must be positive"},
		{"lossless: [], ", "lossless: [], lossy_ingress: 0B, ", "x.yaml:7: lossy_ingress 0B must be positive"},
		{"lossless: [], ", "lossless: [], lossy_alpha: 0, ", "x.yaml:7: lossy_alpha 0 must be above 0, and at most 1024"},
		{"lossless: [], ", "lossless: [], flow_control: credits, ", "x.yaml:7: flow_control: credits are for lossless priorities, and there are none (lossless: [])"},
		{"ack_timeout: 320us", "ack_timeout: 0s", "x.yaml:7: ack_timeout 0ps: more than 0s, at most"},
		{"low_timeout: 100us", "low_timeout: 321us", "x.yaml:7: low_timeout 321us: more than 0s, at most ack_timeout, 320us"},
		{"low_timeout: 100us", "low_packets: 1", "x.yaml:7: low_packets: for so many there is a low_timeout (write it like low_timeout: 100us)"},
		{"low_timeout: 100us", "low_timeout: 100us, low_packets: 0", "x.yaml:7: low_packets 0: from 1 to the window"},
		{"low_timeout: 100us", "entropy: port", `x.yaml:7: entropy "port": one of flow, packet, flowlet`},
		{"low_timeout: 100us", "entropy: flowlet", "x.yaml:7: entropy: flowlet needs a flowlet_gap (write it like flowlet_gap: 50us)"},
		{"low_timeout: 100us", "flowlet_gap: 5us", "x.yaml:7: flowlet_gap: that is of paths by flowlet (paths: flowlet), or of entropy by flowlet"},
		{"low_timeout: 100us", "path_weights: even", `x.yaml:7: path_weights "even": equal or capacity`},
		{"recovery: selective, ", "", "x.yaml:7: low_timeout: that is of selective repeat (recovery: selective)"},
		{"1MB: 1}", "1MB: 0.9}", "x.yaml:9: cdf: 0.9 of the flows are no larger than 1MB: parts are from 0 to 1, and the last one is 1"},
		{"10KB: 0.5", "10KB: 1.5", "x.yaml:9: cdf: 1.5 of the flows are no larger than 10KB: parts are from 0 to 1, and the last one is 1"},
		{"1KB: 0,", "1KB: 0.6,", "x.yaml:9: cdf: fewer flows are no larger than 10KB than no larger than 1KB"},
		{"1KB: 0,", "10000B: 0,", "x.yaml:9: cdf: 10KB is there twice"},
		{"1KB: 0,", "ten: 0,", `x.yaml:9: cdf: size "ten"`},
		{"1KB: 0,", "0B: 0.1,", "x.yaml:9: cdf: flows of 0 bytes"},
		{"cdf: {", "sizes: pcn-w1, cdf: {", "x.yaml:9: workload W: sizes is for nothing here"},
	} {
		text := strings.Replace(lossy, c.from, c.to, 1)
		if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", c.to, err, c.want)
		}
	}
}

// A value of a sweep stands for several names; one that is the beginning of another's is no part of it.
func TestSweepSets(t *testing.T) {
	const sweep = "sweep: {name: case, values: [a, b], sets: {a: {flow: 1MB, flows: \"2\"}, b: {flow: 2MB, flows: \"3\"}}}\n"
	text := strings.Replace(lossy, "workloads:", sweep+"flows: [{name: f, from: H0, to: H1, size: $flow, count: $flows}]\nworkloads:", 1)
	e, err := Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, v := range e.Variants() {
		got += fmt.Sprintf("%s: %d of %v; ", v.Value, v.Flows[0].Count.V, v.Flows[0].Size.V)
	}
	if got != "a: 2 of 1MB; b: 3 of 2MB; " {
		t.Error(got)
	}
	for _, c := range []struct{ from, to, want string }{
		{"b: {flow: 2MB", "c: {flow: 2MB", `x.yaml:8: sets: the sweep has no value "c" (a, b)`},
		{`, flows: "3"`, "", "x.yaml:8: sets: b says nothing of flows, which a does"},
		{`, flows: "2"`, "", "x.yaml:8: sets: a says nothing of flows, which b does"},
		{`flows: "2"}, b: {flow: 2MB, flows: "3"`, `case: "2"}, b: {flow: 2MB, case: "3"`, "x.yaml:8: sets: $case is the value itself"},
		{", count: $flows", "", "x.yaml:8: sets: nothing in the file is $flows"},
		{`flow: 1MB, flows: "2"}`, `flow: 1MB, flows: "0"}`, "x.yaml"},
	} {
		if _, err := Parse("x.yaml", []byte(strings.Replace(text, c.from, c.to, 1))); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", c.to, err, c.want)
		}
	}
}
