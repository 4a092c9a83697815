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

// A run whose code panics is one that failed, with what was said and where; it ends no other run. Nor does it matter in
// which of a world's parts that was.
func TestPanicFailsItsRun(t *testing.T) {
	e := read(t, `id: test/panic
title: panic
duration: 1ms
topology: {kind: leaf-spine, tors: 2, hosts: 1, spines: 1}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us,
  payload: 1000B, mtu: 1500B, priority: 3, xoff: 200KB, buffer: 12MB}
flows: [{name: f, from: H0, to: H1}, {name: g, from: H1, to: H0}]
schemes: [none]
measure: {sample: 10us}
`)
	plain := build.Wrap
	defer func() { build.Wrap = plain }()
	var names []string
	build.Wrap = func(is string, n fabric.Node, _ []*fabric.Env) fabric.Node {
		names = append(names, is)
		return n
	}
	if _, err := runSingle(e, Options{World: "sim", Cores: 2}, e.Schemes[0], 1); err != nil || len(names) != 5 {
		t.Fatalf("%v, nodes %v", err, names)
	}
	for _, cores := range []int{1, 2, 3} {
		for _, name := range names {
			build.Wrap = func(is string, n fabric.Node, _ []*fabric.Env) fabric.Node {
				if is == name {
					return broken{n}
				}
				return n
			}
			_, err := runSingle(e, Options{World: "sim", Cores: cores}, e.Schemes[0], 1)
			if err == nil {
				t.Fatalf("%s on %d cores: nothing was said", name, cores)
			}
			lines := strings.Split(err.Error(), "\n")
			if lines[0] != "its code panicked: the test broke it" || len(lines) < 3 ||
				strings.TrimSpace(lines[1]) != "photon/lab/run.broken.Receive" ||
				!strings.Contains(lines[2], "panic_test.go:") {
				t.Errorf("%s on %d cores: %s", name, cores, err)
			}
		}
	}
}
