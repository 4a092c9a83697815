package experiment

import (
	"slices"
	"testing"

	"photon/units"
)

// Groups may share a name, by which metrics and others that wait know them together. What each waits for is its own.
func TestGroupsThatShareAName(t *testing.T) {
	e, err := Parse("x.yaml", []byte(`
id: test/shared
title: one name
duration: 1ms
topology: {kind: star, hosts: 6}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 20KB, buffer: 12MB, start_phase: 0s}
flows:
  - {name: first, from: H0, to: H1, size: 1KB}
  - {name: both, from: H1, to: H2, size: 1KB, after: first}
  - {name: both, from: H3, to: H4, size: 1KB}
  - {name: last, from: H5, to: H0, size: 1KB, after: both}
schemes: [none]
measure: {sample: 10us}
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Plan()
	if err != nil {
		t.Fatal(err)
	}
	all, err := e.Sends(p, 1)
	if err != nil || all.Len() != 4 {
		t.Fatal(err)
	}
	list := all.List()
	if list[1].Wait == nil || list[1].Start != units.Never || list[2].Wait != nil || list[2].Start != 0 {
		t.Errorf("the first of both waits: %v, and the second: %v", list[1].Wait, list[2].Wait)
	}
	var causes []int32
	for _, c := range list[3].Wait.After {
		causes = append(causes, c.Flow)
	}
	if !slices.Equal(causes, []int32{1, 2}) {
		t.Errorf("the last waits for flows %v", causes)
	}
}
