package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"photon/units"
)

// The poll gap that a switch survives is its headroom's own part, or its receive ring's if that is full before.
func TestGap(t *testing.T) {
	read := func(lines string) *Switch {
		file := filepath.Join(t.TempDir(), "switch.yaml")
		text := "ports: [{device: net_null0}, {device: net_null1}]\nrate: 10Gbps\n" + lines
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := ReadSwitch(file)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	near := func(got, want units.Time) bool { return got > want*99/100 && got < want*101/100 }
	for _, cell := range []units.Size{64, 200, 400} {
		for _, response := range []units.Time{20 * units.Microsecond, 100 * units.Microsecond, units.Millisecond} {
			c := read("pfc: {response: " + response.String() + "}\n")
			_, headroom := c.LinkAt(0, 0, cell)
			if g := c.GapAt(0, 0, 0, headroom, cell); !near(g.Headroom, response) || g.Survived() != g.Headroom || strings.Contains(g.String(), "descriptors") {
				t.Errorf("cells of %v, response %v: %v, %v", cell, response, g.Headroom, g)
			}
			// 1024 frames of 84 bytes on a wire of 10 Gbit/s.
			g := c.GapAt(0, 0, 1024, headroom, cell)
			if !near(g.Ring, 68813*units.Nanosecond) || g.Survived() != min(g.Ring, g.Headroom) || !strings.Contains(g.String(), "1024 receive descriptors") {
				t.Errorf("cells of %v, response %v: %v", cell, response, g)
			}
		}
	}
	c := read("pfc: {headroom: 1KB}\n")
	if g := c.GapAt(0, 0, 1024, units.KB, 200); g.Survived() != 0 {
		t.Errorf("headroom of 1KB: %v", g)
	}
}

// A link whose device says its rate while the switch runs has the headroom that it would have from the start, also where a
// port takes shorter frames than others.
func TestLinkAtIsAsFromTheStart(t *testing.T) {
	c := parse(t, `ports: [{device: net_null0, mtu: 1500}, {device: net_null1}]
mtu: 9000
`)
	n, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range n.Config.Ports {
		if rate, headroom := c.LinkAt(i, 0, n.Config.Cell); rate != p.Link.Rate || headroom != p.Headroom {
			t.Errorf("port %d: %v, headroom %v; from the start %v, %v", i, rate, headroom, p.Link.Rate, p.Headroom)
		}
	}
}
