package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/units"
)

// Ports come and go, by files in any order and by orders. Each keeps its place and its worker for as long as it is
// there, no two share one, and VLANs, routes and static addresses, which name ports by number, mean the same devices in the
// switch as in the file.
func TestPortsKeepTheirPlaces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const workers = 2
		list := func() []int {
			all := rapid.SliceOfNDistinct(rapid.IntRange(0, 9), 2, 6, rapid.ID[int]).Draw(rt, "ports")
			return all
		}
		file := func(ports []int) *Switch {
			var text strings.Builder
			text.WriteString("dpdk: {workers: 2, frames: 1000000}\nports:\n")
			for _, p := range ports {
				fmt.Fprintf(&text, "- device: net_null%d\n", p)
			}
			of := make([]string, 2) // a port is untagged in one VLAN, or in none
			for i := range ports {
				if v := rapid.IntRange(0, 2).Draw(rt, "vlan"); v < 2 {
					of[v] += fmt.Sprintf("%d, ", i)
				}
			}
			fmt.Fprintf(&text, "vlans: [{id: 1, untagged: [%s]}, {id: 2, untagged: [%s]}]\n", strings.TrimSuffix(of[0], ", "), strings.TrimSuffix(of[1], ", "))
			return parse(t, text.String())
		}
		// members are the devices of each VLAN, as the file has them.
		members := func(c *Switch) string {
			all := map[int][]string{}
			for _, v := range c.VLANs {
				for _, p := range v.Untagged {
					all[v.ID.V] = append(all[v.ID.V], c.Ports[p.V].Device.V)
				}
				slices.Sort(all[v.ID.V])
			}
			return fmt.Sprint(all)
		}
		now := file(list())
		now.Start(now.Options().Frames, 1)
		vacant := func() (all []int) {
			for i := range dpdk.MaxPorts {
				if now.At(i) == nil {
					all = append(all, i)
				}
			}
			return all
		}
		places := func(c *Switch) map[string]Place {
			all := map[string]Place{}
			for i, p := range c.Ports {
				all[p.Device.V] = c.running.At[i]
			}
			return all
		}
		for range rapid.IntRange(1, 6).Draw(rt, "changes") {
			var next *Switch
			var err error
			switch rapid.IntRange(0, 2).Draw(rt, "what") {
			case 0:
				next = file(list())
			case 1:
				next, err = now.With(fmt.Sprintf("net_null%d", rapid.IntRange(0, 9).Draw(rt, "device")), units.Gbps)
			case 2:
				before := members(now)
				if next, err = now.Without(rapid.SampledFrom(now.running.At).Draw(rt, "place").Number); err == nil && members(next) != before {
					rt.Fatalf("VLANs had %s, and have %s when a port of none has gone", before, members(next))
				}
			}
			if err != nil {
				continue // it is there already, or in a VLAN
			}
			running, added, removed, err := next.AssignPlaces(now, vacant())
			if err != nil {
				rt.Fatal(err)
			}
			running.Cell = 200
			if err := next.For(running); err != nil {
				rt.Fatal(err)
			}
			was, is := places(now), places(next)
			seen := map[int]bool{}
			for device, at := range is {
				old, stays := was[device]
				if stays && old != at || seen[at.Number] || at.Worker < 0 || at.Worker >= workers {
					rt.Fatalf("%s was at %+v and is at %+v", device, old, at)
				}
				if stays == slices.Contains(added, at.Number) {
					rt.Fatalf("%s: added are %v", device, added)
				}
				seen[at.Number] = true
			}
			for device, at := range was {
				if _, stays := is[device]; !stays && !slices.Contains(removed, at.Number) {
					rt.Fatalf("%s has gone, and removed are %v", device, removed)
				}
			}
			if len(is)-len(was) != len(added)-len(removed) {
				rt.Fatalf("%d ports, then %d; added %v, removed %v", len(was), len(is), added, removed)
			}
			n, err := next.Resolve(nil)
			if err != nil {
				rt.Fatal(err)
			}
			got := map[int][]string{}
			for _, v := range n.Config.VLANs {
				for _, p := range v.Untagged {
					got[int(v.ID)] = append(got[int(v.ID)], next.At(int(p)).Device.V)
				}
				slices.Sort(got[int(v.ID)])
			}
			if fmt.Sprint(got) != members(next) {
				rt.Fatalf("VLANs have %v, the file %s", got, members(next))
			}
			if there := slices.DeleteFunc(slices.Clone(n.Config.Ports), func(p dataplane.PortConfig) bool { return p.Vacant }); len(there) != len(next.Ports) {
				rt.Fatalf("%d ports of %d", len(there), len(next.Ports))
			}
			now = next
		}
	})
}

// The buffer of a running switch has room for two more ports like the others, in any size of switch.
func TestTwoMorePortsHaveRoom(t *testing.T) {
	for ports := 2; ports <= 28; ports++ {
		text := "rate: 10Gbps\nports:\n"
		for i := range ports {
			text += fmt.Sprintf("- device: net_null%d\n", i)
		}
		now := parse(t, text)
		now.Start(now.Options().Frames, 1)
		n, err := now.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for more := 1; ; more++ {
			next, err := now.With(fmt.Sprintf("net_null%d", ports+more), 0)
			if err != nil {
				t.Fatal(err)
			}
			running, _, _, err := next.AssignPlaces(now, []int{ports + more - 1})
			if err != nil {
				t.Fatal(err)
			}
			running.Cell = n.Config.Cell
			if err := next.For(running); err != nil {
				if more <= 2 {
					t.Errorf("%d ports: the %dth more: %v", ports, more, err)
				}
				break
			}
			if now = next; ports+more == dpdk.MaxPorts {
				break
			}
		}
	}
}

// Without `buffer:` a running switch that is to reserve more may not have the frame buffers for what it shares by
// default. The refusal says which buffer would do, and that one does.
func TestBufferThatWouldDo(t *testing.T) {
	text := func(xoff, rest string) string {
		return "rate: 10Gbps\nports: [{device: net_null0}, {device: net_null1}]\npfc:\n  xoff: " + xoff + "\n" + rest
	}
	now := parse(t, text("512KB", ""))
	now.Start(now.Options().Frames, 1)
	n, err := now.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	take := func(next *Switch) error {
		running, _, _, err := next.AssignPlaces(now, nil)
		if err != nil {
			t.Fatal(err)
		}
		running.Cell = n.Config.Cell
		return next.For(running)
	}
	err = take(parse(t, text("2MB", "")))
	if err == nil || !strings.Contains(err.Error(), "4: buffer ") {
		t.Fatalf("four times the XOFF: %v", err)
	}
	_, hint, _ := strings.Cut(err.Error(), "(`")
	hint, _, _ = strings.Cut(hint, "`")
	if err := take(parse(t, text("2MB", hint+"\n"))); err != nil {
		t.Errorf("%q: %v", hint, err)
	}
}

// Cards keep their rings while a switch runs: how much buffer it can have does not depend on whether the file that is
// loaded still has lossless frames, for which rings are longer.
func TestRingsStayWhatTheyAre(t *testing.T) {
	const cards = "rate: 10Gbps\nports: [{device: '0000:03:00.0'}, {device: '0000:03:00.1'}]\n"
	for _, first := range []string{"", "pfc: {priorities: []}\n"} {
		most := map[string]int{}
		for _, then := range []string{"", "pfc: {priorities: []}\n"} {
			now := parse(t, cards+first)
			now.Start(40_000, 1)
			n, err := now.Resolve(nil)
			if err != nil {
				t.Fatal(err)
			}
			for kb := 4000; ; kb += 50 {
				next := parse(t, fmt.Sprintf("%s%sbuffer: %dKB\n", cards, then, kb))
				running, _, _, err := next.AssignPlaces(now, nil)
				if err != nil {
					t.Fatal(err)
				}
				running.Cell = n.Config.Cell
				if next.For(running) != nil {
					break
				}
				most[then] = kb
			}
		}
		if a, b := most[""], most["pfc: {priorities: []}\n"]; a != b || a == 0 {
			t.Errorf("started with %q: %d KB of buffer with lossless frames, %d KB without", first, a, b)
		}
	}
}

// A port whose number something names is not removed behind its back.
func TestNamedPortStays(t *testing.T) {
	const three = "ports: [{device: net_null0}, {device: net_null1}, {device: net_null2}]\n"
	for lines, want := range map[string]string{
		"vlans: [{id: 7, untagged: [0], tagged: [1]}]\n":                                            "VLAN 7",
		"forwarding: {static: [{mac: '02:00:00:00:00:01', port: 1}]}\n":                             "static address 02:00:00:00:00:01",
		"routes: [{prefix: 10.0.0.0/8, via: [{port: 1, mac: '02:00:00:00:00:01'}]}]\n":              "the route to 10.0.0.0/8",
		"routes: [{prefix: 10.0.0.0/8, via: [{port: 2, mac: '02:00:00:00:00:01'}]}]\nrate: 1Gbps\n": "",
	} {
		c := parse(t, three+lines)
		c.Start(c.Options().Frames, 1)
		to, err := c.Without(1)
		if want == "" {
			if err != nil || to.Routes[0].Via[0].Port.V != 1 || c.Routes[0].Via[0].Port.V != 2 {
				t.Errorf("%s%v, %+v", lines, err, to)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want+" names it") {
			t.Errorf("%s: %v", lines, err)
		}
	}
}
