package hpccfiles

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"photon/units"
)

// What docs/hpcc-files.md says of switches holds: XOFF is 4 KB and 1/8 of the free buffer, XON 3 KB below, links count
// 10 bytes less than a frame without preamble and gap, and the line rate is that of the first host.
func TestNetworkIsThatOfTheDocs(t *testing.T) {
	const mixed = "5 2 4\n0 4\n4 0 100Gbps 1us 0\n2 4 40Gbps 1us 0\n0 1 25Gbps 1us 0\n3 4 10Gbps 1us 0\n"
	top := mustTopology(t, mixed) // hosts 1, 2 and 3
	flows, err := ReadFlows("flow.txt", []byte("1\n1 2 3 100 5000 0\n"), top)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Prepare(Files{Topology: top, Flows: flows, FlowFile: "flow.txt"}, "")
	if err != nil {
		t.Fatal(err)
	}
	q := p.Experiment.Parameters
	if q.LinkRate.Value.V != 25*units.Gbps {
		t.Errorf("the line rate is %v", q.LinkRate.Value.V)
	}
	if q.XOFF.Value.V != 4000 || q.XON.Value.V != 1000 || q.Alpha.Value.V != 0.125 || !q.AlphaByRate.Value.V {
		t.Errorf("XOFF %v, XON %v, alpha %v, by rate %v",
			q.XOFF.Value.V, q.XON.Value.V, q.Alpha.Value.V, q.AlphaByRate.Value.V)
	}
	if q.Overhead.Value.V != -10 || !q.AckEach.Value.V || q.Buffer.Value.V != 16<<20 || q.Payload.Value.V != 1000 {
		t.Errorf("overhead %v, buffer %v, payload %v", q.Overhead.Value.V, q.Buffer.Value.V, q.Payload.Value.V)
	}
}

// Priority groups are 1 to 5; several are all lossless, with acknowledgements in the first.
func TestPriorityGroups(t *testing.T) {
	top := mustTopology(t, four)
	for groups, want := range map[string]string{
		"0":  "flow.txt:2: priority group 0: data has 1 to 5 here",
		"6":  "flow.txt:2: priority group 6: data has 1 to 5 here",
		"37": "flow.txt:3: priority group 7: data has 1 to 5 here", "1": "", "5": "", "42": "", "53124": "",
	} {
		var text strings.Builder
		fmt.Fprintln(&text, len(groups))
		var sorted []int
		for _, g := range groups {
			fmt.Fprintf(&text, "0 2 %c 100 5000 0\n", g)
			sorted = append(sorted, int(g-'0'))
		}
		slices.Sort(sorted)
		flows, err := ReadFlows("flow.txt", []byte(text.String()), top)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Prepare(Files{Topology: top, Flows: flows, FlowFile: "flow.txt"}, "")
		if want != "" {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("groups %s: %v; want %s", groups, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("groups %s: %v", groups, err)
			continue
		}
		q := p.Experiment.Parameters
		if lossless := q.Lossless.Value.V; len(groups) > 1 && !slices.Equal(lossless, sorted) ||
			q.Priority.Value.V != sorted[0] || q.AckPriority.Value.V != sorted[0] ||
			(len(p.Warnings) > 0) != (len(groups) > 1) {
			t.Errorf("groups %s: lossless %v, acknowledgements %d: %q",
				groups, lossless, q.AckPriority.Value.V, p.Warnings)
		}
	}
}
