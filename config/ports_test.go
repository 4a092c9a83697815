package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"photon/dataplane"
	"photon/lldp"
	"photon/marking"
	"photon/units"
	"photon/wire"
)

// What a port says of itself by LLDP is what it has of its own.
func TestPortsSayTheirOwn(t *testing.T) {
	c := parse(t, "ports:\n- {device: net_null0, lossless: [4], dscp_to_priority: {9: 4}}\n- {device: net_null1}\n- {device: net_null2, lossless: [], pause: true}\nlldp: {}\n")
	a := c.Announced()
	if a == nil || len(a.DCBX) != 3 {
		t.Fatalf("%+v", a)
	}
	for i, want := range []uint8{1 << 4, 1 << 3, 0} {
		if got := a.DCBX[i].PFC.Priority; got != want {
			t.Errorf("port %d says that %08b have PFC, and not %08b", i, got, want)
		}
	}
	found := false
	for _, app := range a.DCBX[0].Apps {
		found = found || app.Protocol == 9 && app.Priority == 4
	}
	if !found || len(a.DCBX[2].Apps) != 0 {
		t.Errorf("%+v, %+v", a.DCBX[0].Apps, a.DCBX[2].Apps)
	}
}

// A port that goes by nothing that frames say promises no priority to who sets a DSCP, and RoCEv2 only what all frames
// have.
func TestPortsThatTrustNothingSaySo(t *testing.T) {
	text := "ports:\n- {device: net_null0, trust: none}\n- {device: net_null1, trust: none, default_priority: 3}\n" +
		"- {device: net_null2}\n"
	a := parse(t, text+"lldp: {}\n").Announced()
	roce := lldp.App{Priority: 3, Selector: lldp.ByUDP, Protocol: 4791}
	if d := a.DCBX[0]; !d.HasApps || len(d.Apps) != 0 {
		t.Errorf("priority 0 for all frames: %+v", d.Apps)
	}
	if d := a.DCBX[1]; !slices.Equal(d.Apps, []lldp.App{roce}) {
		t.Errorf("priority 3 for all frames: %+v", d.Apps)
	}
	if d := a.DCBX[2]; len(d.Apps) != 9 || d.Apps[0] != roce {
		t.Errorf("priorities by DSCP: %+v", d.Apps)
	}
	a = parse(t, text+"lldp: {applications: [{tcp: 80, priority: 2}]}\n").Announced()
	if d := a.DCBX[0]; len(d.Apps) != 1 {
		t.Errorf("what the file lists: %+v", d.Apps)
	}
}

// A switch is a router if it has routes: bit 4 of the capabilities, beside bit 2 of a bridge (802.1AB, system
// capabilities).
func TestCapabilities(t *testing.T) {
	for routes, want := range map[string]uint16{
		"": 1 << 2, "routes: [{prefix: 10.1.0.0/16, via: [{port: 0, mac: \"02:00:00:00:00:09\"}]}]\n": 1<<2 | 1<<4,
	} {
		if got := uint16(parse(t, twoPorts+"lldp: {}\n"+routes).Announced().Info.Capabilities); got != want {
			t.Errorf("%q: capabilities %#x, not %#x", routes, got, want)
		}
	}
}

// A TLV has 511 bytes (802.1AB). That of application priorities begins with 5 (an OUI, a subtype, a reserved byte),
// and has 3 for each: as many as fit are taken, and one more is not.
func TestMostApplications(t *testing.T) {
	const most = (511 - 5) / 3
	for n, fits := range map[int]bool{most: true, most + 1: false} {
		text := twoPorts + "lldp:\n  applications:\n"
		for i := range n {
			text += fmt.Sprintf("  - {udp: %d, priority: 3}\n", i+1)
		}
		c := &Switch{}
		err := Decode("x.yaml", []byte(text), c)
		if err == nil {
			err = c.Check()
		}
		if (err == nil) != fits {
			t.Errorf("%d applications: %v", n, err)
		}
	}
}

// Neighbours choose differently among equal paths: of switches whose MACs follow each other no two have one salt.
func TestNeighboursHaveOtherSalts(t *testing.T) {
	c, of := parse(t, twoPorts), map[uint32]wire.MAC{}
	for i := range wire.MAC(1000) {
		c.running.Base = 0x02_00_00_00_10_00 + i
		n, err := c.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := of[n.Config.Salt]; twice || n.Config.Salt == 0 {
			t.Fatalf("%v and %v have one salt, %#x", c.running.Base, other, n.Config.Salt)
		}
		of[n.Config.Salt] = c.running.Base
	}
}

// Addresses stay for a second or more, or for ever.
func TestShortestAge(t *testing.T) {
	for age, fine := range map[string]bool{"0s": true, "1s": true, "999ms": false, "-1s": false} {
		c := &Switch{}
		err := Decode("x.yaml", []byte(twoPorts+"forwarding: {age: "+age+"}\n"), c)
		if err == nil {
			err = c.Check()
		}
		if (err == nil) != fine {
			t.Errorf("age %s: %v", age, err)
		}
	}
}

// Errors of a router may have any of the 64 code points, 0 as well.
func TestCodePointsOfErrors(t *testing.T) {
	for dscp, want := range map[string]uint8{"0": 0, "63": 63} {
		n, err := parse(t, twoPorts+"router: {addresses: [10.0.0.1], icmp: {dscp: "+dscp+"}}\n").Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Config.Router.ICMP; got.DSCP != want || got.Rate == 0 {
			t.Errorf("dscp %s: %+v", dscp, got)
		}
	}
}

// An admin socket is where the file says, nowhere, or where it is looked for by the node's name.
func TestAdminSockets(t *testing.T) {
	for text, want := range map[string]Admin{
		"": {}, "admin: off\n": {Off: true}, "admin: \"off\"\n": {Off: true},
		"admin: /run/x.sock\n": {Path: "/run/x.sock"}, "admin: on.sock\n": {Path: "on.sock"},
	} {
		if got := parse(t, twoPorts+text).AdminSocket(); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// Flows without a queue pair have that of their place in the list, from 1, each of several its own.
func TestPlacesOfFlows(t *testing.T) {
	_, c, err := readAgent(t, "port: {device: net_null0}\nip: 10.0.0.1\nscheme: {name: none}\nflows:\n"+
		"- {to: 10.0.0.2}\n- {to: 10.0.0.2, count: 3}\n- {to: 10.0.0.3}\n- {to: 10.0.0.3, qp: 9, count: 2}\n")
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, f := range n.Flows {
		got = append(got, int(f.QP))
	}
	if want := []int{1, 2, 3, 4, 5, 9, 10}; !slices.Equal(got, want) {
		t.Errorf("queue pairs %v, not %v", got, want)
	}
}

// A shaper without a burst lets at least the longest frame leave, however slow it is, and a millisecond of its rate.
func TestUsualBursts(t *testing.T) {
	const longest = 1500 + 14 + 4 + 4 + 20 // with a tag, FCS, preamble and gap
	for _, rate := range []units.Rate{100 * units.Kbps, 10 * units.Mbps, 50 * units.Gbps} {
		n, err := parse(t, fmt.Sprintf("%squeues: {3: {shaper: {rate: %v}}}\n", twoPorts, rate)).Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		least := max(longest, rate.Bytes(units.Millisecond))
		if got := n.Config.Ports[0].Queues[3].Shaper; got.Rate != rate || got.Burst < least {
			t.Errorf("%v: %+v", rate, got)
		}
	}
}

// A router says which addresses its ports and VLANs have, and nothing of those without.
func TestAddressesAreTold(t *testing.T) {
	n, err := parse(t, "ports:\n- {device: net_null0, addresses: [10.1.0.1/24]}\n- device: net_null1\n").Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(n.Describe(), "\n")
	if !strings.Contains(said, "port 0: addresses [10.1.0.1]") || strings.Contains(said, "port 1: addresses") {
		t.Error(said)
	}
}

// A subnet is told with its length, and an address alone as it is.
func TestSubnetsAreToldAsTheyAre(t *testing.T) {
	n := netip.MustParseAddr("10.1.0.9")
	for want, s := range map[string]Subnet{
		"10.1.0.9": {Host: n}, "10.1.0.9/24": {Host: n, Net: netip.MustParsePrefix("10.1.0.0/24")},
	} {
		if got := s.String(); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// What an agent does that its file does not say is what docs/operate.md says.
func TestUsualAcknowledgements(t *testing.T) {
	_, c, err := readAgent(t, "port: {device: net_null0}\nip: 10.0.0.1\nscheme: {name: none}\n")
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if a := n.Config; a.AckEvery != 32 || a.Retries != 7 || a.AckTimeout != 67*units.Millisecond {
		t.Errorf("one in %d, %d times, after %v", a.AckEvery, a.Retries, a.AckTimeout)
	}
}

// What may be flooded is told for each port: docs/operate.md's example, and its usual burst, 10 ms of 10 Mbit/s.
func TestStormControlIsTold(t *testing.T) {
	n, err := parse(t, twoPorts+"storm_control:\n  broadcast: {rate: 1000pps, burst: 100}\n"+
		"  multicast: {rate: 10Mbps, burst: 64KB}\n  unknown_unicast: {rate: 10Mbps}\n").Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for p := range 2 {
		for _, want := range []string{
			"broadcast at most 1000pps, burst 100", "multicast at most 10Mbps, burst 64KB",
			"unknown unicast at most 10Mbps, burst 12.5KB",
		} {
			if line := fmt.Sprintf("port %d: %s", p, want); !slices.Contains(n.Describe(), line) {
				t.Errorf("nobody says %q:\n%s", line, strings.Join(n.Describe(), "\n"))
			}
		}
	}
}

// A port may have no limit where the switch has one, as an uplink to many stations: a rate of 0 is none, as a shaper's
// is.
func TestPortWithoutStormControl(t *testing.T) {
	for _, none := range []string{"0pps", "0bps"} {
		text := "ports:\n- {device: net_null0, storm_control: {broadcast: {rate: " + none + "}}}\n" +
			"- device: net_null1\nstorm_control: {broadcast: {rate: 1000pps, burst: 100}, multicast: {rate: 1Mbps}}\n"
		n, err := parse(t, text).Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if f := n.Config.Ports[0].Flood; f.Broadcast != (dataplane.FloodLimit{}) || f.Multicast.Rate != units.Mbps {
			t.Errorf("%s: %+v", none, f)
		}
		if f := n.Config.Ports[1].Flood; f.Broadcast.Frames != 1000 {
			t.Errorf("the other port: %+v", f)
		}
		lines := strings.Join(n.Describe(), "\n")
		if strings.Contains(lines, "port 0: broadcast") || !strings.Contains(lines, "port 0: multicast at most 1Mbps") {
			t.Errorf("%s is described as\n%s", none, lines)
		}
		changes, err := parse(t, text).Changes(parse(t, strings.ReplaceAll(text, "rate: "+none, "rate: 5pps")))
		const change = "ports[0].storm_control.broadcast.rate: 0pps -> 5pps"
		if err != nil || len(changes) != 1 || changes[0].String() != change {
			t.Errorf("a reload says %v, %v", changes, err)
		}
	}
	c := &Switch{}
	err := Decode("x.yaml", []byte(twoPorts+"storm_control: {broadcast: {rate: 0pps, burst: 5}}\n"), c)
	if err == nil {
		err = c.Check()
	}
	if err == nil || !strings.Contains(err.Error(), "a burst needs a rate") {
		t.Error(err)
	}
}

// A port may have no WRED where the switch has it for all: `kmax: 0B`, and nothing else of it. So may one whose
// priority is lossless.
func TestPortWithoutWRED(t *testing.T) {
	const all = "queues: {0: {wred: {kmin: 30KB, kmax: 90KB}, shaper: {rate: 1Gbps}}}\n"
	for _, own := range []string{"", ", lossless: [0]"} {
		text := "ports:\n- {device: net_null0, queues: {0: {wred: {kmax: 0B}}}" + own + "}\n- device: net_null1\n" + all
		n, err := parse(t, text).Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if q := n.Config.Ports[0].Queues[0]; q.WRED != (marking.WREDParams{}) || q.Shaper.Rate != units.Gbps {
			t.Errorf("%+v", q)
		}
		if q := n.Config.Ports[1].Queues[0]; q.WRED.Kmax != 90*units.KB {
			t.Errorf("the other port: %+v", q)
		}
		if lines := strings.Join(n.Describe(), "\n"); !strings.Contains(lines, "ports 1, queue 0: wred from 30KB") {
			t.Errorf("nobody says which ports have it:\n%s", lines)
		}
	}
	for _, wrong := range []string{"{kmax: 0B, pmax: 0.5}", "{kmin: 0B, kmax: 0B}"} {
		c := &Switch{}
		text := "ports:\n- {device: net_null0, queues: {0: {wred: " + wrong + "}}}\n- device: net_null1\n" + all
		err := Decode("x.yaml", []byte(text), c)
		if err == nil {
			err = c.Check()
		}
		if err == nil || !strings.Contains(err.Error(), "kmax 0B") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
