package main

import (
	"slices"
	"testing"
	"time"

	"photon/units"
)

// A short run of a case counts what it says, and what is made of it has the keys
// and the form that others read.
func TestMeasure(t *testing.T) {
	var runs []measured
	for range 2 {
		m, err := measure(&cases[0], false, 1, 2*units.Millisecond, "", func() error { return nil })
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
	if m.Wall <= 0 || m.Ended.IsZero() {
		t.Errorf("%s by the wall until %s", m.Wall, m.Ended)
	}
	if name, values := m.benchmark("compact-dcqcn", true); name != "Sim/compact-dcqcn/ack=packet" || values["ns/op"] != float64(m.Used.Nanoseconds()) || values["hops/s"] <= 0 {
		t.Errorf("%s: %v", name, values)
	}
}

// The bare loop has two events a hop, gives them back in the order of time, and is what
// ratios are scaled by.
func TestBareLoop(t *testing.T) {
	var h bareHeap
	var want []int64
	for i := range int64(500) {
		at := i * 7919 % 503
		h.push(bareEvent{at: at})
		want = append(want, at)
	}
	slices.Sort(want)
	for i, at := range want {
		if got := h.pop().at; got != at {
			t.Fatalf("event %d is at %d, want %d", i, got, at)
		}
	}
	// Every packet that is under way has left at most once more than it arrived.
	if events := bareLoop(100_000); events < 2*100_000-barePackets || events > 2*100_000+barePackets {
		t.Errorf("%d events for 100 000 hops", events)
	}
	m := measured{Hops: 8e6, Events: 16e6, Used: time.Second}
	here := newMachine([]measured{m})
	if here.Speed != 2 || here.PerEvent != 62.5 {
		t.Errorf("%+v", here)
	}
	if here = newMachine([]measured{m, m}); here.Speed != 2 || here.Spread != 0 {
		t.Errorf("%+v", here)
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
