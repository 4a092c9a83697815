package hpccfiles

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"photon/lab/htsim"
	"photon/lab/run"
	"photon/units"
)

// Hosts with two links, each to a switch of its own, as in dual-homed racks: eight senders at one receiver take both of
// its links, all flows end, and pfc.txt names the second interface of hosts as well as the first.
func TestHostsWithTwoLinks(t *testing.T) {
	const senders, each = 8, 4
	var top, flows bytes.Buffer
	fmt.Fprintf(&top, "%d 2 %d\n%d %d\n", senders+3, 2*senders+3, senders+1, senders+2)
	fmt.Fprintf(&top, "%d %d 400Gbps 1us 0\n", senders+1, senders+2)
	for i := range senders + 1 {
		fmt.Fprintf(&top, "%d %d 100Gbps 1us 0\n%d %d 100Gbps 1us 0\n", i, senders+1, i, senders+2)
	}
	fmt.Fprintln(&flows, senders*each)
	for i := range senders * each {
		fmt.Fprintf(&flows, "%d %d 3 100 1000000 0.000100000\n", i/each, senders)
	}
	f := Files{Topology: mustTopology(t, top.String()), FlowFile: "flow.txt"}
	var err error
	if f.Flows, err = ReadFlows("flow.txt", flows.Bytes(), f.Topology); err != nil {
		t.Fatal(err)
	}
	if f.Config, err = ReadConfig("config.txt", []byte("BUFFER_SIZE 2\nQLEN_MON_FILE q.txt\nQLEN_MON_START 0\nQLEN_MON_END 4000000\nSIMULATOR_STOP_TIME 0.004")); err != nil {
		t.Fatal(err)
	}
	p, err := Prepare(f, "none")
	if err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	for _, cores := range []int{1, 2} {
		out := t.TempDir()
		r, err := p.Run(t.Context(), run.Options{World: "sim", Cores: cores}, out)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Finished) != senders*each || r.Pauses == 0 {
			t.Fatalf("%d flows ended, %d pauses", len(r.Finished), r.Pauses)
		}
		for i := range r.Finished {
			last = max(last, r.Finished[i].FCT)
		}
		b, err := os.ReadFile(filepath.Join(out, "pfc.txt"))
		if err != nil {
			t.Fatal(err)
		}
		interfaces := map[string]bool{}
		for l := range strings.Lines(string(b)) {
			var at, node, kind, number, paused int
			if _, err := fmt.Sscan(l, &at, &node, &kind, &number, &paused); err != nil || node > senders+2 || (kind == 1) != (node > senders) {
				t.Fatalf("%q: %v", l, err)
			}
			if kind == 0 {
				interfaces[fmt.Sprint(number)] = true
			}
		}
		if len(interfaces) != 2 || !interfaces["1"] || !interfaces["2"] {
			t.Errorf("interfaces of hosts that are paused: %v", interfaces)
		}
	}
	// 32 MB over two links of 100 Gbit/s take 1.3 ms, and over one 2.6.
	if last < 1_300_000 || last > 1_700_000 {
		t.Errorf("the last flow took %d ns", last)
	}
}

// Source ports count for each pair of hosts, whichever of their NICs a trace's flows take: no two flows have the same.
func TestPortsOfATraceBetweenHostsWithTwoLinks(t *testing.T) {
	f := Files{Topology: mustTopology(t, "3 1 4\n2\n0 2 100Gbps 1us 0\n0 2 100Gbps 1us 0\n"+
		"1 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n")}
	const flows = 4
	m, err := htsim.Read("x.cm", []byte("Nodes 2\nConnections 4\n"+strings.Repeat("0->1 start 0 size 1000\n", flows)))
	if err != nil {
		t.Fatal(err)
	}
	f.Trace = &Trace{File: "x.cm", Hosts: 2, Flows: m.Flows, Until: units.Millisecond}
	p, err := Prepare(f, "none")
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context(), run.Options{World: "sim"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ports := map[int]bool{}
	for _, f := range r.Finished {
		if f.From != 0 || f.To != 1 || f.SrcPort < firstPort || f.SrcPort >= firstPort+flows || ports[f.SrcPort] {
			t.Errorf("%+v", f)
		}
		ports[f.SrcPort] = true
	}
	if len(ports) != flows {
		t.Errorf("%d flows of %d ended", len(ports), flows)
	}
}

// Flows of a trace are of the priority that is lossless and measured as data.
func TestTracesAreLossless(t *testing.T) {
	f := Files{Topology: mustTopology(t, four)}
	m, err := htsim.Read("x.cm", []byte("Nodes 3\nConnections 2\n0->1 start 0 size 1000\n1->2 start 5 size 1000\n"))
	if err != nil {
		t.Fatal(err)
	}
	f.Trace = &Trace{File: "x.cm", Hosts: 3, Flows: m.Flows, Until: units.Millisecond}
	p, err := Prepare(f, "none")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Experiment.Plan()
	if err != nil {
		t.Fatal(err)
	}
	flows, err := p.Experiment.Sends(plan, 1)
	if err != nil || flows.Len() != 2 {
		t.Fatalf("%+v, %v", flows, err)
	}
	for _, f := range flows.All() {
		prio := f.DSCP / 8 // as every node takes code points
		if q := &p.Experiment.Parameters; q.LosslessMask()>>prio&1 == 0 || q.Priority.Value.V != int(prio) {
			t.Errorf("DSCP %d is of priority %d, lossless are %08b", f.DSCP, prio, q.LosslessMask())
		}
	}
}
