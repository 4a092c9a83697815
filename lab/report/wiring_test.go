package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"photon/lab/experiment"
	"photon/lab/web"
)

// wired is an experiment on a topology.
func wired(t testing.TB, topology string) *experiment.Experiment {
	t.Helper()
	from, to := "H0", "H1"
	if strings.Contains(topology, "chain") || strings.Contains(topology, "ring") {
		from, to = "H0-0", "H1-0"
	}
	text := strings.Replace(swept, "{kind: star, hosts: 3}", topology, 1)
	text = strings.Replace(text, "{from: H0, to: H1}", fmt.Sprintf("{from: %s, to: %s}", from, to), 1)
	text = strings.Replace(text, "S0", map[bool]string{true: "T0", false: "S0"}[strings.Contains(topology, "tors") || strings.Contains(topology, "k:") || strings.Contains(topology, "nics")], 1)
	e, err := experiment.Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", topology, err)
	}
	return e
}

// rightly fails if a drawing lacks a node, or has one beyond its edge or on another.
func rightly(t *testing.T, name string, e *experiment.Experiment) *web.Wiring {
	t.Helper()
	w, err := wiringOf(e)
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Plan()
	if err != nil {
		t.Fatal(err)
	}
	nodes := 0
	for i, a := range w.Spots {
		nodes += a.Nodes
		if a.X-a.W/2 < 0 || a.X+a.W/2 > w.Width || a.Y-a.H/2 < 0 || a.Y+a.H/2 > w.Height {
			t.Errorf("%s: %s is beyond the edge", name, a.Name)
		}
		for _, b := range w.Spots[:i] {
			if max(a.X-b.X, b.X-a.X) < (a.W+b.W)/2 && max(a.Y-b.Y, b.Y-a.Y) < (a.H+b.H)/2 {
				t.Errorf("%s: %s is on %s", name, a.Name, b.Name)
			}
		}
	}
	if nodes != len(p.Nodes) {
		t.Errorf("%s: %d nodes are drawn, of %d", name, nodes, len(p.Nodes))
	}
	if len(w.Wires) == 0 || w.Height > 700 || len(w.Facts) < 3 {
		t.Errorf("%s: %d wires in a height of %d, %q", name, len(w.Wires), w.Height, w.Facts)
	}
	return w
}

// Every experiment's network is drawn whole.
func TestWiringOfAll(t *testing.T) {
	all, err := experiment.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		rightly(t, e.ID, e)
	}
}

// So is every kind of topology; small ones with a box for each switch, large ones by layers.
func TestWiringOfKinds(t *testing.T) {
	for topology, boxes := range map[string]bool{
		"{kind: star, hosts: 3}": true, "{kind: star, hosts: 40}": true, "{kind: ring, switches: 5, hosts: 2}": true, "{kind: chain, switches: 8, hosts: 17}": true,
		"{kind: chain, switches: 20, hosts: 1}": false, "{kind: fat-tree, k: 4}": true, "{kind: fat-tree, k: 6}": false, "{kind: fat-tree, k: 16}": false,
		"{kind: dragonfly, switches: 2, hosts: 2, global: 1}": true, "{kind: dragonfly, switches: 4, hosts: 2, global: 2}": false,
		"{kind: rail, hosts: 4, nics: 4, spines: 2}": true, "{kind: planes, nics: 4, tors: 4, hosts: 4, spines: 2}": false,
		"{kind: star, hosts: 300}": false,
	} {
		w := rightly(t, topology, wired(t, topology))
		named := 0
		for _, s := range w.Spots {
			if s.Kind == "switch" && s.Text != "" {
				named++
			}
		}
		if (named > 0) != boxes {
			t.Errorf("%s: %d switches are named in their boxes", topology, named)
		}
	}
}

// Names in a row are told as ranges, and what is too long for its place as a number.
func TestLabels(t *testing.T) {
	for _, c := range []struct {
		names string
		room  int
		want  string
	}{
		{"H0 H1 H2 H3", 200, "H0–H3"}, {"R0 R1 H2 H3 H5", 200, "R0–R1, H2–H3, H5"}, {"R0 R1 H2 H3", 50, "R0–R1|H2–H3"},
		{"a b", 200, "a, b"}, {"a-very-long-name another-one", 60, "2 in all"},
	} {
		if got := strings.Join(labels(strings.Fields(c.names), c.room), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.names, got, c.want)
		}
	}
}

// What a sweep makes of the network is said beside the drawing.
func TestWiringOfASweep(t *testing.T) {
	e, err := experiment.Get("pcn/fig19")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"with lots = 2, as drawn: 6 hosts, 3 switches and 8 links", "with lots = 10: 22 hosts, 11 switches and 32 links"}
	if w := rightly(t, e.ID, e); !slices.Equal(w.Facts[:2], want) {
		t.Errorf("%q", w.Facts)
	}
	for hosts, want := range map[string]string{"*": "all hosts", "H2..H2": "H2", "H2..H4,H7": "H2–H4, H7", "R0": "R0"} {
		if got := whose(hosts); got != want {
			t.Errorf("%s: %s", hosts, got)
		}
	}
}

// One node of a layer is one, and not "1 switches".
func TestWiringCountsNodes(t *testing.T) {
	w := rightly(t, "star", wired(t, "{kind: star, hosts: 201}"))
	var said []string
	for _, x := range w.Texts {
		said = append(said, x.Text)
	}
	if !slices.Contains(said, "1 switch") || !slices.Contains(said, "201 hosts") {
		t.Errorf("%q", said)
	}
}
