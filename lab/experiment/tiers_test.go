package experiment

import (
	"fmt"
	"strings"
	"testing"
)

// Topologies of several tiers, and what is wrong with them.
func TestTiers(t *testing.T) {
	const text = `
id: test/tiers
title: tiers
duration: 1ms
topology: {%s}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 20KB, buffer: 12MB%s}
flows: [{name: a, from: H0, to: H1, size: 1KB}]
schemes: [none]
measure: {sample: 10us}
`
	for _, c := range []struct {
		topology, more, want string
		hosts                int
	}{
		{"kind: fat-tree, k: 8", ", trunk_rate: 40Gbps, core_rate: 100Gbps, core_delay: 5us", "", 128},
		{"kind: dragonfly, switches: 4, hosts: 2, global: 2", ", core_rate: 100Gbps", "", 72},
		{"kind: clos, pods: 2, tors: 2, leafs: 2, hosts: 4, spines: 2", ", core_rate: 40Gbps", "", 16},
		{"kind: rail, pods: 2, hosts: 8, nics: 4, spines: 2", "", "", 16},
		{"kind: planes, tors: 2, hosts: 4, nics: 2, spines: 2", "", "", 8},
		{"kind: rail, pods: 2, hosts: 8, nics: 4", "", "a rail of 2 pods needs spines", 0},
		{"kind: rail, hosts: 8", "", "nics of a rail: 1 to", 0},
		{"kind: planes, tors: 2, hosts: 4, nics: 2", "", "planes of 2 ToRs need spines", 0},
		{"kind: rail, hosts: 4000, nics: 400", "", "more than", 0},
		{"kind: star, hosts: 4, nics: 2", "", "a star has no nics", 0},
		{"kind: fat-tree, k: 7", "", "x.yaml:5: k of a fat-tree: an even number", 0},
		{"kind: fat-tree", "", "k of a fat-tree: 2 to", 0},
		{"kind: fat-tree, k: 4, hosts: 3", "", "a fat-tree has no hosts", 0},
		{"kind: star, hosts: 4, k: 4", "", "a star has no k", 0},
		{"kind: star, hosts: 4", ", core_rate: 40Gbps", "a star has no core", 0},
		{"kind: dragonfly, switches: 400, hosts: 40, global: 40", "", "more than", 0},
		{"kind: clos, pods: 2, tors: 2, leafs: 2, hosts: 4, spines: 2", ", core_rate: 0bps", "core_rate must be positive", 0},
	} {
		e, err := Parse("x.yaml", []byte(fmt.Sprintf(text, c.topology, c.more)))
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s%s: %v, not %q", c.topology, c.more, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Plan()
		if err != nil || len(p.Hosts()) != c.hosts {
			t.Errorf("%s: %v, %d hosts", c.topology, err, len(p.Hosts()))
		}
	}
}
