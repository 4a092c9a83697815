package experiment

import (
	"fmt"
	"strings"
	"testing"
)

// A network that is too large is refused with what it would have, counted by hand: switches and cards of hosts are
// nodes, and a host of many cards is as many.
func TestLayoutsCountTheirNodes(t *testing.T) {
	for _, c := range []struct {
		topology     string
		nodes, links int
	}{
		// 1 leaf for each rail of each pod; every card has a link to its leaf, every leaf one to each spine.
		{"kind: rail, pods: 1, hosts: 4096, nics: 32", 32 + 131072, 131072},
		{"kind: rail, pods: 16, hosts: 4096, nics: 2, spines: 3", 3 + 32 + 131072, 131072 + 96},
		// Each plane has its ToRs and its spines, and each host a card in it.
		{"kind: planes, nics: 2, tors: 16, hosts: 4096, spines: 3", 2*3 + 32 + 131072, 131072 + 96},
		{"kind: chain, switches: 32, hosts: 4096", 32 + 131072, 32 + 131072},
	} {
		text := fmt.Sprintf(`id: x
duration: 1ms
topology: {%s}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
flows: [{from: H0, to: H1, size: 1KB}]
schemes: [none]
measure: {sample: 1us, metrics: [{name: x, do: fct}]}
`, c.topology)
		_, err := Parse("x.yaml", []byte(text))
		want := fmt.Sprintf(" of %d nodes and %d links: ", c.nodes, c.links)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want%s", c.topology, err, want)
		}
	}
	// As many as there may be fit.
	if !new(layout).fits(mostNodes, mostLinks) {
		t.Error("the largest network does not fit")
	}
}

// An experiment that does not exist is looked for where it may be: of a paper with one figure that one is named, and no
// figure with another number is taken for it.
func TestExperimentsOfAPaperWithOneFigure(t *testing.T) {
	for _, c := range []struct{ id, want string }{
		{"irn/fig1", ""},
		{"irn/fig2", "of irn there are fig1"},
		{"irn/fig11", "of irn there are fig1"},
		{"irn/fi1", `is "irn/fig1" meant?`},
		{"irn/figure", "of irn there are fig1"},
	} {
		_, err := Get(c.id)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.id, err, c.want)
		}
	}
}
