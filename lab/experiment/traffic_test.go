package experiment

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"photon/units"
	"photon/wire"
)

// The file of docs/operate.md: the agents that read it send each flow of the
// workload exactly once between them, and each its own groups.
func TestTrafficOfSeveralAgents(t *testing.T) {
	page, err := os.ReadFile("../../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```yaml\n(?:#[^\n]*\n)?(hosts:.*?)```").FindSubmatch(page)
	if m == nil {
		t.Fatal("there is no example")
	}
	traffic, err := ParseTraffic("flows.yaml", m[1])
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string]int{}
	for host := range 3 {
		self := wire.IPv4(10, 9, 0, byte(host+1))
		flows, err := traffic.Of(self)
		if host == 2 && err != nil { // it cannot send to itself, and the file has it do so
			if !strings.Contains(err.Error(), "to itself") {
				t.Error(err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := traffic.Of(self)
		if err != nil || len(again) != len(flows) {
			t.Errorf("another time %d flows, %v", len(again), err)
		}
		last := units.Time(0)
		for i, f := range flows {
			groups[f.Group]++
			if f.Start < last || f.To == self || f.Weight != 1 || f != again[i] {
				t.Fatalf("%+v", f)
			}
			last = f.Start
		}
	}
	if groups["long"] != 4 || groups["bursts"] != 1000 || groups["web"] < 500 || groups["web"] > 800 {
		t.Errorf("%v", groups)
	}
}

// What is wrong is said with its line.
func TestBadTraffic(t *testing.T) {
	self := wire.IPv4(10, 0, 0, 1)
	for text, want := range map[string]string{
		"flows: [{to: 10.0.0.2,\n size: 0B}]":                          "x.yaml:2: size 0B: a flow has something to send (leave it out for an endless flow)",
		"flows: [{to: 224.0.0.1, size: 1KB}]":                          ":1: 224.0.0.1: that is no address of a host",
		"hosts: [10.0.0.1, 10.0.0.2,\n 0.0.0.0]\nflows: [{to: \"*\"}]": ":2: 0.0.0.0: that is no address of a host",
		"seed: 2":              "neither flows nor workloads",
		"flows: [{size: 1KB}]": "where to",
		"flows:\n  - {to: 10.0.0.2, every: 1ms, size: 1KB}":                            "x.yaml:2",
		"flows:\n  - {to: 10.0.0.9..10.0.0.12}":                                        "no host",
		"flows: [{from: 10.0.0.7, to: 10.0.0.2}]":                                      "no flow is from this agent",
		"flows: [{to: 10.0.0.2, weight: 0.5}]":                                         "weight 0.5",
		"workloads:\n  - {to: 10.0.0.2, sizes: websearch, load: 0.1, capacity: 1Gbps}": "needs an end",
		"flows: [{to: 10.0.0.2, hue: 3}]":                                              "unknown key",
	} {
		traffic, err := ParseTraffic("x.yaml", []byte(text))
		if err == nil {
			_, err = traffic.Of(self)
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "x.yaml") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
