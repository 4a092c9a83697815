package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"photon/lab/experiment"
	"photon/lab/hpccfiles"
)

// All files can be read, and what they describe can be prepared, under every scheme.
func TestForeignFiles(t *testing.T) {
	folder := t.TempDir()
	for _, c := range commands() {
		to, err := c.files.write(folder)
		if err != nil {
			t.Fatal(err)
		}
		var f hpccfiles.Files
		read := func(name string) (string, []byte) {
			b, err := os.ReadFile(filepath.Join(to, name))
			if err != nil {
				t.Fatal(err)
			}
			return name, b
		}
		if f.Topology, err = hpccfiles.ReadTopology(read("topology.txt")); err != nil {
			t.Fatal(err)
		}
		name, b := read("flow.txt")
		f.FlowFile = name
		if f.Flows, err = hpccfiles.ReadFlows(name, b, f.Topology); err != nil {
			t.Fatal(err)
		}
		if f.Config, err = hpccfiles.ReadConfig(read("config.txt")); err != nil {
			t.Fatal(err)
		}
		p, err := hpccfiles.Prepare(f, c.scheme)
		if err != nil {
			t.Fatalf("%s: %v", c.name(), err)
		}
		if len(p.Warnings) > 0 {
			t.Errorf("%s: %q", c.name(), p.Warnings)
		}
	}
}

// The fat tree has the nodes and links of its rule, and ways of two, four and six links.
func TestFatTree(t *testing.T) {
	b, err := fatTree()
	if err != nil {
		t.Fatal(err)
	}
	topology, err := hpccfiles.ReadTopology("topology.txt", b)
	if err != nil {
		t.Fatal(err)
	}
	next := make([][]int, len(topology.Switch))
	for _, l := range topology.Links {
		next[l.A], next[l.B] = append(next[l.A], l.B), append(next[l.B], l.A)
	}
	if len(next) != 320+20+20+16 || len(topology.Links) != 320+20*4+20*4 {
		t.Errorf("%d nodes and %d links", len(next), len(topology.Links))
	}
	for i, n := range next {
		want := 5 // of a core: one aggregation switch of each pod
		switch {
		case i < 320:
			want = 1
		case i < 340:
			want = 16 + 4
		case i < 360:
			want = 4 + 4
		}
		if len(n) != want {
			t.Errorf("node %d has %d links, not %d", i, len(n), want)
		}
	}
	count := map[int]int{}
	for _, far := range links(next, 0)[:320] {
		count[far]++
	}
	if count[0] != 1 || count[2] != 15 || count[4] != 48 || count[6] != 256 {
		t.Errorf("hosts so far away: %v", count)
	}
}

// Hops are packets times links; a line that is no flow is said to be none.
func TestHopsOf(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	topology := write("topology.txt", "5 2 4\n3 4\n0 3 25Gbps 1us 0\n1 3 25Gbps 1us 0\n2 4 25Gbps 1us 0\n3 4 25Gbps 1us 0\n")
	fct := write("fct.txt", "0b000001 0b000101 10000 100 1000 0 1 1\nb000001 b000201 10000 100 1001 0 1 1\n")
	if hops, err := hopsOf(topology, fct); err != nil || hops != 1*2+2*3 {
		t.Errorf("%d hops, %v", hops, err)
	}
	if _, err := hopsOf(topology, write("fct.txt", "0b000001 x\n")); err == nil {
		t.Error("no error")
	}
}

// Of several runs the row has medians; the ratio is of what the machine did at that moment.
func TestMedians(t *testing.T) {
	runs := []ran{{Rate: 5e6, Loop: 4e6, RSS: 1}, {Rate: 5e6, Loop: 8e6, RSS: 5}, {Rate: 9e6, Loop: 8e6, RSS: 3}}
	for i := range runs {
		runs[i].XNS3 = runs[i].timesNS3(0.5e6)
	}
	if r := medians(runs); r.Rate != 5e6 || r.XNS3 != 9 || r.RSS != 3 {
		t.Errorf("%+v", r)
	}
	if x := runs[0].timesNS3(0); x != 0 {
		t.Errorf("%v times what is not known", x)
	}
}

// The experiment of 10 000 hosts can be checked. All its flows would take seconds to count.
func TestLargeExperiment(t *testing.T) {
	b, err := files.ReadFile(largeName + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.ReplaceAll(b, []byte("end: 1ms"), []byte("end: 1us"))
	e, err := experiment.Parse(largeName, b)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := e.Plan()
	if err != nil || len(plan.Hosts()) != 10_000 {
		t.Error(len(plan.Hosts()), err)
	}
	if e.ID != "bench/"+largeName {
		t.Errorf("%s is not where its hops are looked for", e.ID)
	}
}
