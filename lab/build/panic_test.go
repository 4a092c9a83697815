package build

import (
	"strings"
	"testing"

	"photon/fabric"
	"photon/lab/experiment"
)

// Code of a scheme may panic while a file is only looked at: what is said is the file's error, with the scheme, and the
// place in that code.
func TestPanicRefusesTheFile(t *testing.T) {
	e, err := experiment.Parse("broken.yaml", []byte(`id: test/panic
title: panic
duration: 1ms
topology: {kind: leaf-spine, tors: 2, hosts: 1, spines: 1}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us,
  payload: 1000B, mtu: 1500B, priority: 3, xoff: 200KB, buffer: 12MB}
flows: [{name: f, from: H0, to: H1}]
schemes: [dcqcn]
measure: {sample: 10us}
`))
	if err != nil {
		t.Fatal(err)
	}
	plain := Wrap
	defer func() { Wrap = plain }()
	Wrap = func(string, fabric.Node, []*fabric.Env) fabric.Node { panic("the test broke it") }
	err = Check(e)
	if err == nil {
		t.Fatal("nothing was said")
	}
	lines := strings.Split(err.Error(), "\n")
	if lines[0] != "broken.yaml: scheme dcqcn: its code panicked: the test broke it" || len(lines) < 3 ||
		!strings.HasPrefix(strings.TrimSpace(lines[1]), "photon/lab/build.TestPanicRefusesTheFile") ||
		!strings.Contains(lines[2], "panic_test.go:") || strings.Contains(err.Error(), "tryBuild") {
		t.Error(err)
	}
}
