package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"photon/units"
)

// A short run of a case counts what it says, and what is made of it has the keys
// and the form that others read.
func TestMeasure(t *testing.T) {
	var runs []measured
	for range 2 {
		m, err := measure(&cases[0], false, 1, 2*units.Millisecond, "")
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, m)
	}
	m := runs[0]
	if m.Hash != runs[1].Hash || m.Hops != runs[1].Hops || m.Events != runs[1].Events || m.Frames != runs[1].Frames {
		t.Errorf("two runs: %+v, %+v", runs[0], runs[1])
	}
	// Three links; an arrival and a transmission each, and little else.
	if m.Hops == 0 || m.Hops%3 != 0 || m.Events < 2*m.Hops*9/10 || m.Events > 3*m.Hops || m.Frames == 0 || m.RSS < 1<<20 || m.Used <= 0 {
		t.Errorf("%+v", m)
	}
	b, err := json.Marshal(newLine(&cases[0], false, runs, runs[1:]))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"name", "packet_hops_per_second", "ns_per_event", "rss_bytes", "wall_seconds", "wall_seconds_2_cores"} {
		if !strings.Contains(string(b), `"`+key+`":`) {
			t.Errorf("no %s in %s", key, b)
		}
	}
	form := regexp.MustCompile(`^BenchmarkSim/\S+ 1( \d+(\.\d+)? \S+)+\n$`)
	if l := m.benchmark("compact-dcqcn", true); !form.MatchString(l) {
		t.Errorf("%q is not a benchmark's line", l)
	}
}

// Every case and every size of network can be built and run.
func TestCasesLoad(t *testing.T) {
	for _, c := range append(growing[:2:2], cases[1]) {
		if _, _, err := c.load(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
