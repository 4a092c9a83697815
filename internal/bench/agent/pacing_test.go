package main

import (
	"strings"
	"testing"
	"time"

	"photon/ratelimit"
	"photon/units"
)

// Before contention frames leave when they are due, within a slot of the wheel,
// however many flows there are; after it within what the others take.
func TestPacingErrors(t *testing.T) {
	lines, err := measurePacing([]int{10, 2000, 100_000}, 20_000, 1, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if slot := float64(ratelimit.Slot) / float64(units.Nanosecond); l.Before.P50 < 0 || l.Before.P999 > slot {
			t.Errorf("%d flows: before contention %+v ns", l.Flows, l.Before)
		}
		if l.After.P999 <= 0 || l.After.P999 > 50_000 {
			t.Errorf("%d flows: after contention %+v ns", l.Flows, l.After)
		}
		if l.PerFrame <= 0 || l.Bytes < 300 || l.Bytes > 1000 {
			t.Errorf("%d flows: %v ns a frame, %v bytes a flow", l.Flows, l.PerFrame, l.Bytes)
		}
	}
	if text := (&report{Pacing: lines}).turns().String(); strings.Count(text, "\nBenchmarkPacing/flows=2000") != 5 { // a turn, bytes, three kinds of errors
		t.Errorf("for benchstat: %s", text)
	}
}

// The tables find what was put in.
func TestTables(t *testing.T) {
	stop, err := startDPDK()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := measureTables([]int{100, 5000}, 1)
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err != nil || len(lines) != 4 {
		t.Fatal(err, lines)
	}
	for _, l := range lines {
		if l.Photon <= 0 || l.Map <= 0 {
			t.Errorf("%+v", l)
		}
	}
	text := (&report{Tables: lines}).turns().String()
	for _, line := range []string{"\nBenchmarkTable/op=insert/entries=100/of=photon ", "\nBenchmarkTable/op=lookup/entries=5000/of=map ", "\nBenchmarkTable/op=lookup/entries=100/of=photon-64 "} {
		if strings.Count(strings.ReplaceAll(text, "\t", " "), line) != 1 {
			t.Errorf("for benchstat %q, in\n%s", line, text)
		}
	}
}
