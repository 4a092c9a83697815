package run

import (
	"strings"
	"testing"

	"photon/fabric"
	"photon/lab/build"
	"photon/units"
)

// broken is a node that panics when the first frame arrives.
type broken struct{ fabric.Node }

func (broken) Receive(units.Time, int, []fabric.Frame) { panic("the test broke it") }

// A run whose code panics is one that failed, with what was said and where; it ends no other run.
func TestPanicFailsItsRun(t *testing.T) {
	e := read(t, `id: test/panic
title: panic
duration: 1ms
topology: {kind: star, hosts: 2}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us,
  payload: 1000B, mtu: 1500B, priority: 3, xoff: 200KB, buffer: 12MB}
flows: [{name: f, from: H0, to: H1}]
schemes: [none]
measure: {sample: 10us}
`)
	before := build.Wrap
	build.Wrap = func(name string, n fabric.Node, _ []*fabric.Env) fabric.Node {
		if name == "H1" {
			return broken{n}
		}
		return n
	}
	defer func() { build.Wrap = before }()
	_, err := runSingle(e, Options{World: "sim"}, e.Schemes[0], 1)
	if err == nil {
		t.Fatal("nothing was said")
	}
	lines := strings.Split(err.Error(), "\n")
	if lines[0] != "its code panicked: the test broke it" || len(lines) < 3 ||
		strings.TrimSpace(lines[1]) != "photon/lab/run.broken.Receive" ||
		!strings.Contains(lines[2], "panic_test.go:") {
		t.Errorf("%s", err)
	}
	build.Wrap = before
	if _, err := runSingle(e, Options{World: "sim"}, e.Schemes[0], 1); err != nil {
		t.Errorf("the next run: %v", err)
	}
}
