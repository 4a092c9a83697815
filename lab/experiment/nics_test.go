package experiment

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"photon/config"
)

const withNICs = `
id: test/nics
title: hosts of several NICs
duration: 10ms
topology: {%s}
parameters: {link_rate: 100Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 200KB, buffer: 32MB, start_phase: 0s}
schemes: [none]
flows: [{%s}]
measure: {sample: 1ms}
`

// Who sends to whom, by the names of NICs.
func TestFlowsTakeNICs(t *testing.T) {
	for _, c := range []struct{ topology, flows, want string }{
		// In turn, each on its rail.
		{"kind: rail, hosts: 3, nics: 2", "from: H0, to: H1, count: 3, size: 1KB", "H0>H1 H0.1>H1.1 H0>H1"},
		{"kind: rail, pods: 2, hosts: 2, nics: 2, spines: 1", "from: H0, to: H3, count: 2, size: 1KB", "H0>H3 H0.1>H3.1"},
		{"kind: planes, tors: 2, hosts: 1, nics: 2, spines: 1", "from: H0, to: H1, count: 2, size: 1KB", "H0>H1 H0.1>H1.1"},
		{"kind: rail, hosts: 3, nics: 2", "from: H0, to: H2, count: 2, repeat: 2, size: 1KB", "H0>H2 H0.1>H2.1 H0>H2 H0.1>H2.1"},
		// As the flow says.
		{"kind: rail, hosts: 3, nics: 2", "from: H0.1, to: H1.1, count: 2, size: 1KB", "H0.1>H1.1 H0.1>H1.1"},
		{"kind: rail, hosts: 3, nics: 2", "from: H0.0, to: H1, count: 2, size: 1KB", "H0>H1 H0>H1"}, // no other is on its rail
		{"kind: rail, pods: 2, hosts: 1, nics: 2, spines: 1", "from: H0.0, to: H1.1, size: 1KB", "H0>H1.1"},
		{"kind: rail, hosts: 3, nics: 2", "from: H0..H1.1, to: H2.1, size: 1KB", ""},
		{"kind: rail, hosts: 2, nics: 2, spines: 1", "from: '*.*', to: H1.1, size: 1KB", ""},
		// A host of a list of links: the nearest.
		{"kind: free, nodes: [{name: A}, {name: B}, {name: x, host: true}, {name: y, host: true}], links: [{a: A, b: B}, {a: x, b: A}, {a: x, b: B}, {a: y, b: B}]", "from: x, to: y, count: 2, size: 1KB", "x.1>y x.1>y"},
	} {
		e, err := Parse("x.yaml", []byte(fmt.Sprintf(withNICs, c.topology, c.flows)))
		if err != nil {
			t.Errorf("%s, %s: %v", c.topology, c.flows, err)
			continue
		}
		p, err := e.Plan()
		if err != nil {
			t.Fatal(err)
		}
		list, err := e.Sends(p, 1)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range list.All() {
			got = append(got, p.Nodes[f.From].Name+">"+p.Nodes[f.To].Name)
			if d := len(p.Path(f.From, f.To)); d == 0 {
				t.Errorf("%s: no way from %s to %s", c.topology, p.Nodes[f.From].Name, p.Nodes[f.To].Name)
			}
		}
		switch want := c.want; {
		case want != "" && want != strings.Join(got, " "):
			t.Errorf("%s, %s: %v, not %s", c.topology, c.flows, got, want)
		case strings.Contains(c.flows, "H0..H1.1") && !slices.Equal(got, []string{"H0.1>H2.1", "H1.1>H2.1"}):
			t.Errorf("%s: %v", c.flows, got)
		case strings.Contains(c.flows, "*.*") && !slices.Equal(got, []string{"H0>H1.1", "H0.1>H1.1", "H1>H1.1"}):
			t.Errorf("%s: %v", c.flows, got)
		}
	}
	for flows, want := range map[string]string{
		"from: H0.2, to: H1":   "host H0 has no NIC 2: it has 2, from 0 on",
		"from: H9.1, to: H1":   `there is no host "H9"`,
		"from: H0.x, to: H1":   `there is no host "H0.x"`,
		"from: '*.7', to: H1":  "has no NIC 7",
		"from: H0.1, to: H1.0": "nothing leads from H0.1 to H1",
	} {
		if _, err := Parse("x.yaml", []byte(fmt.Sprintf(withNICs, "kind: rail, hosts: 3, nics: 2", flows+", size: 1KB"))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %q", flows, err, want)
		}
	}
}

// Every node of a free topology can be named: what would mean something else where hosts are named is refused
// with its line, and what is accepted stands for that host alone.
func TestNodesCanBeNamed(t *testing.T) {
	for name, want := range map[string]string{
		"A": "", "A-1": "", "a b": "", "A.1": "", "1.2.3.4": "", "A.x": "",
		"*": "it means", "A*": "it means", "H0..H1": "it means", "A>B": "it means", "a,b": "it means",
		" A": "it means", "A ": "it means",
		"B.1": "the NICs of host B are called so", "": "every node needs a name",
	} {
		q := strconv.Quote(name)
		text := fmt.Sprintf(withNICs, "kind: free, nodes: [{name: S}, {name: B, host: true}, "+
			"{name: "+q+", host: true}], "+
			"links: [{a: S, b: B}, {a: S, b: B}, {a: S, b: "+q+"}]", "from: B, to: "+q+", size: 1KB")
		e, err := Parse("x.yaml", []byte(text))
		if want != "" {
			says := regexp.MustCompile(`^x\.yaml:[0-9]+: node "` + regexp.QuoteMeta(name) + `": .*` + want)
			if err == nil || !says.MatchString(err.Error()) {
				t.Errorf("%q: %v, want %s", name, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		plan, err := e.Plan()
		if err != nil {
			t.Fatal(err)
		}
		list, err := hosts(plan, config.Set(name))
		if err != nil || len(list) != 1 || plan.Nodes[list[0]].Name != name {
			t.Errorf("%q: %v %v", name, list, err)
		}
	}
}
