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

// A pause that is longer than 65535 times 512 bits at a port's rate cannot be asked for there, and whoever wrote it
// hears of it: 3.355392 ms at 10 Gbit/s.
func TestPausesThatAreTooLong(t *testing.T) {
	for pause, want := range map[string]string{
		"3355392ns": "",
		"3355393ns": "port 1 for 3.355392ms at most, not for 3.355393ms",
		"10s":       "at most, not for 10s",
	} {
		n, err := parse(t, "ports: [{device: net_null0, rate: 1Gbps}, {device: net_null1}]\nrate: 10Gbps\n"+
			"pfc: {pause: "+pause+"}\n").Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(n.Describe(), "\n")
		if warns := strings.Contains(said, "at most, not for"); warns != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s, want %q:\n%s", pause, want, said)
		}
	}
}

// An XOFF holds for 65535 times 512 bits at most, or for `pfc: pause`, and is sent again after half of that, behind a
// frame at worst. A peer that polls further apart than the other half let go on meets a headroom that is in use.
func TestPausesOutlastPolls(t *testing.T) {
	const us = units.Microsecond
	for _, c := range []struct {
		pfc, rate string
		pause     float64 // seconds
		response  units.Time
		warns     bool
	}{
		{"{}", "10Gbps", 65535 * 512 / 10e9, 100 * us, false},
		{"{}", "100Gbps", 65535 * 512 / 100e9, 100 * us, false},
		{"{}", "200Gbps", 65535 * 512 / 200e9, 100 * us, true},
		{"{}", "400Gbps", 65535 * 512 / 400e9, 100 * us, true},
		{"{response: 41us}", "400Gbps", 65535 * 512 / 400e9, 41 * us, false},
		{"{response: 42us}", "400Gbps", 65535 * 512 / 400e9, 42 * us, true},
		{"{pause: 10us}", "10Gbps", 10e-6, 100 * us, true},
		{"{pause: 10us, headroom: 1MB}", "10Gbps", 10e-6, 100 * us, true},
		{"{pause: 204us}", "10Gbps", 204e-6, 100 * us, false}, // a frame of 1542 bytes takes 1.2 us
		{"{pause: 202us}", "10Gbps", 202e-6, 100 * us, true},
		{"{pause: 10us, priorities: []}", "10Gbps", 10e-6, 100 * us, false},
	} {
		s := parse(t, "ports: [{device: net_null0}, {device: net_null1}]\nrate: "+c.rate+"\npfc: "+c.pfc+"\n")
		n, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(n.Describe(), "\n")
		if warns := strings.Contains(said, "warning: an XOFF pauses the peer of port 0 for "); warns != c.warns {
			t.Errorf("%s at %s warns: %v\n%s", c.pfc, c.rate, warns, said)
		}
		_, headroom := s.LinkAt(0, 0, n.Config.Cell)
		rate := float64(n.Config.Ports[0].Link.Rate)
		want := c.pause/2 - 1542*8/rate
		g := s.GapAt(0, 0, 0, headroom, n.Config.Cell)
		if got := g.Pause.Seconds(); got < want*0.99-60e-9 || got > want*1.01+60e-9 {
			t.Errorf("%s at %s: polls may be %v apart, not %v s", c.pfc, c.rate, g.Pause, want)
		}
		if short := g.Survived() < c.response; c.warns && (!short || !strings.Contains(g.String(), "may go on")) {
			t.Errorf("%s at %s: %v", c.pfc, c.rate, g)
		}
	}
}

// What comes through a port may be as long as any other port lets out: a port's own MTU is that of the frame behind
// which its XOFF waits, one of the three that headroom is for.
func TestHeadroomOfAPortWithShorterFrames(t *testing.T) {
	at := func(ports string) (parts []units.Size) {
		n, err := parse(t, "ports: "+ports+"\nmtu: 9000\nrate: 10Gbps\n").Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range n.Config.Ports {
			if p.Headroom != n.Headroom[i].Sum() {
				t.Errorf("%s: port %d has %v", ports, i, p.Headroom)
			}
			parts = append(parts, n.Headroom[i].Frames)
		}
		return parts
	}
	const short, long = 1500 + 18 + 24, 9000 + 18 + 24
	if got := at("[{device: net_null0, mtu: 1500}, {device: net_null1}]"); got[0] != short+2*long || got[1] != 3*long {
		t.Errorf("%v", got)
	}
}

// A buffer of which the reserved parts leave no room for a frame is accepted with a warning, if some priority is lossy.
func TestBuffersThatHaveRoomForLossyFrames(t *testing.T) {
	at := func(buffer units.Size, priorities string) (said string, reserved units.Size) {
		text := "ports: [{device: net_null0}, {device: net_null1}]\nrate: 10Gbps\npfc: {headroom: 200KB, xoff: " +
			"10KB, priorities: "
		n, err := parse(t, text+priorities+"}\nbuffer: "+buffer.String()+"\n").Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(n.Describe(), "\n"), n.Config.Reserved()
	}
	for _, c := range []struct {
		buffer     units.Size
		priorities string
		warns      bool
	}{
		{420 * units.KB, "[3]", true},
		{421517, "[3]", true},
		{421518, "[3]", false},
		{3360 * units.KB, "[0, 1, 2, 3, 4, 5, 6, 7]", false},
	} {
		said, reserved := at(c.buffer, c.priorities)
		if warns := strings.Contains(said, "warning: the buffer is "); warns != c.warns {
			t.Errorf("%v, reserved %v, warns: %v\n%s", c.buffer, reserved, warns, said)
		}
	}
}
