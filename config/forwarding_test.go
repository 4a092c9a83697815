package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"photon/dataplane"
	"photon/units"
)

// What the file says of VLANs, routes and limits is what the switch gets.
func TestForwardingConfiguration(t *testing.T) {
	c := parse(t, `ports:
- device: net_null0
- {device: net_null1, accept: all}
- device: net_null2
  addresses: [10.0.2.1]
  storm_control: {broadcast: {rate: 1Mbps}, multicast: {rate: 5pps}}
vlans:
- {id: 10, untagged: [0, 1], tagged: [2]}
- {id: 20, tagged: [2], addresses: ["fd00:2::1"]}
router: {addresses: [10.0.1.1, "fd00::1"]}
routes:
- {prefix: 10.0.2.0/24, via: [{port: 1, mac: "02:00:00:00:00:02"}, {port: 2, vlan: 20, mac: "02:00:00:00:00:03", mtu: 1400}]}
- {prefix: 10.0.3.0/24, action: prohibit}
- {prefix: 10.0.4.0/24, action: blackhole}
- {prefix: "::/0", via: [{port: 0, mac: "02:00:00:00:00:01"}]}
storm_control: {broadcast: {rate: 1000pps}, unknown_unicast: {rate: 1Gbps, burst: 64KB}}
forwarding: {flood: false, multicast: false, static: [{mac: "02:00:00:00:00:07", port: 2, vlan: 20}]}
`)
	n, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &n.Config
	if want := []dataplane.VLAN{{ID: 10, Untagged: []uint16{0, 1}, Tagged: []uint16{2}}, {ID: 20, Tagged: []uint16{2}, Addresses: []netip.Addr{netip.MustParseAddr("fd00:2::1")}}}; !reflect.DeepEqual(s.VLANs, want) {
		t.Errorf("%+v", s.VLANs)
	}
	want := dataplane.Router{MAC: s.Ports[0].MAC, Addresses: []netip.Addr{netip.MustParseAddr("10.0.1.1"), netip.MustParseAddr("fd00::1")}, Routes: []dataplane.Route{
		{Prefix: netip.MustParsePrefix("10.0.2.0/24"), Via: []dataplane.NextHop{{Port: 1, MAC: 0x020000000002}, {Port: 2, MAC: 0x020000000003, VLAN: 20, MTU: 1400}}},
		{Prefix: netip.MustParsePrefix("10.0.3.0/24"), Refuse: dataplane.Prohibit}, {Prefix: netip.MustParsePrefix("10.0.4.0/24"), Refuse: dataplane.Blackhole},
		{Prefix: netip.MustParsePrefix("::/0"), Via: []dataplane.NextHop{{Port: 0, MAC: 0x020000000001}}},
	}, ICMP: dataplane.ICMP{Rate: 1000, Burst: 50, DSCP: 48}}
	if !reflect.DeepEqual(s.Router, want) {
		t.Errorf("%+v", s.Router)
	}
	unknown := dataplane.FloodLimit{Rate: units.Gbps, Burst: 64 * units.KB}
	if f := s.Ports[0].Flood; f != (dataplane.FloodLimits{Broadcast: dataplane.FloodLimit{Frames: 1000, Burst: 10}, Unknown: unknown}) {
		t.Errorf("%+v", f)
	}
	if f := s.Ports[2].Flood; f != (dataplane.FloodLimits{
		Broadcast: dataplane.FloodLimit{Rate: units.Mbps, Burst: 1542}, Multicast: dataplane.FloodLimit{Frames: 5, Burst: 1}, Unknown: unknown,
	}) {
		t.Errorf("%+v", f)
	}
	if a := s.Ports[2].Addresses; len(a) != 1 || a[0] != netip.MustParseAddr("10.0.2.1") {
		t.Errorf("addresses %v", a)
	}
	if s.Ports[0].Accept != dataplane.AcceptUsual || s.Ports[1].Accept != dataplane.AcceptAll {
		t.Errorf("accepted: %v, %v", s.Ports[0].Accept, s.Ports[1].Accept)
	}
	if !s.NoUnknown || s.NoBroadcast || !s.NoMulticast || s.Static[0].VLAN != 20 || s.Salt == 0 {
		t.Errorf("%v %+v %d", s.NoUnknown, s.Static, s.Salt)
	}
	if lines := n.Describe(); !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "VLAN 20: ports [] untagged, [2] tagged") }) {
		t.Error(lines)
	}
}

// A next hop that is an address is where an address of a port or VLAN has it in its subnet, or where it says.
func TestNextHopsByAddress(t *testing.T) {
	c := parse(t, `ports:
- {device: net_null0, addresses: [10.1.0.1/16, "fd00:1::1/64"]}
- device: net_null1
- device: net_null2
vlans:
- {id: 10, untagged: [0, 1]}
- {id: 20, tagged: [1, 2], addresses: [10.1.2.1/24]}
routes:
- {prefix: 10.5.0.0/16, via: [{address: 10.1.1.2}, {address: 10.1.2.2, mtu: 1400}, {address: 10.7.0.1, vlan: 20}, {address: 10.7.0.1, port: 1}]}
- {prefix: "::/0", via: [{address: "fd00:1::2"}]}
`)
	n, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	a := netip.MustParseAddr
	want := [][]dataplane.NextHop{{
		{Address: a("10.1.1.2")}, {Address: a("10.1.2.2"), VLAN: 20, AnyPort: true, MTU: 1400}, {Address: a("10.7.0.1"), VLAN: 20, AnyPort: true},
		{Address: a("10.7.0.1"), Port: 1},
	}, {{Address: a("fd00:1::2")}}}
	for i, r := range n.Config.Router.Routes {
		if !reflect.DeepEqual(r.Via, want[i]) {
			t.Errorf("%v: %+v, want %+v", r.Prefix, r.Via, want[i])
		}
	}
}

// What cannot be of ICMP, addresses and routes is refused with its line, in words that mend it.
func TestRouterMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"router: {addresses: [10.0.0.1], icmp: {rate: 10Mbps}}":                                                                                   "x.yaml:2: icmp: rate 10Mbps: errors are counted (write it like 1000pps; `errors: false` for none)",
		"router: {addresses: [10.0.0.1], paths: {by: spray}}":                                                                                     `x.yaml:2: paths by "spray": there are flow, round_robin, random, flowlet, queue`,
		"router: {addresses: [10.0.0.1], paths: {by: flowlet}}":                                                                                   "x.yaml:2: paths by flowlet need a gap (write it like {by: flowlet, gap: 50us})",
		"router: {addresses: [10.0.0.1], paths: {by: random, gap: 1us}}":                                                                          "x.yaml:2: paths by random: a gap is of flowlets",
		"router: {addresses: [10.0.0.1], icmp: {burst: 0}}":                                                                                       "x.yaml:2: icmp: burst 0 must be from 1 error to 1000 seconds of the rate",
		"router: {addresses: [10.0.0.1], icmp: {dscp: 64}}":                                                                                       "x.yaml:2: icmp: dscp 64: there are 0 to 63",
		"vlans: [{id: 10, untagged: [0], addresses: [10.1.0.0/24]}]":                                                                              `x.yaml:2: address "10.1.0.0/24": that is the address of the subnet, and no host's (write it like 10.1.0.1/24 or fd00::1/64)`,
		"vlans: [{id: 10, untagged: [0], addresses: [10.1.0.255/24]}]":                                                                            `x.yaml:2: address "10.1.0.255/24": that is the broadcast address of the subnet, and no host's (write it like 10.1.0.1/24 or fd00::1/64)`,
		"vlans: [{id: 10, untagged: [0], addresses: [\"fd00::/64\"]}]":                                                                            `x.yaml:2: address "fd00::/64": that is the address of all routers of the subnet, and no host's (write it like 10.1.0.1/24 or fd00::1/64)`,
		"vlans: [{id: 10, untagged: [0], addresses: [10.1.0.3/30]}]":                                                                              `x.yaml:2: address "10.1.0.3/30": that is the broadcast address of the subnet, and no host's (write it like 10.1.0.1/24 or fd00::1/64)`,
		"vlans: [{id: 10, untagged: [0, 1], addresses: [10.1.0.1/24]}]\nroutes: [{prefix: 10.2.0.0/16, via: [{address: 10.1.0.255}]}]":            "x.yaml:3: next hop 10.1.0.255: that is the broadcast address of the subnet, and no neighbour's",
		"router: {mac: \"02:00:00:00:00:05\"}\nroutes: [{prefix: 10.2.0.0/16, via: [{port: 1, mac: \"02:00:00:00:00:05\"}]}]":                     "x.yaml:3: route 10.2.0.0/16: 02:00:00:00:00:05 is no neighbour's address",
		"vlans: [{id: 10, untagged: [0], addresses: [10.0.0.1]}]\nrouter:\n  addresses:\n  - 10.0.0.1":                                            "x.yaml:2: router address 10.0.0.1: it is no address of a host, or there twice",
		"routes: [{prefix: 10.0.0.0/8, action: drop}]":                                                                                            `x.yaml:2: route 10.0.0.0/8: action "drop": prohibit or blackhole`,
		"routes: [{prefix: 10.0.0.0/8, action: prohibit, via: [{port: 0, mac: '02:00:00:00:00:01'}]}]":                                            "x.yaml:2: route 10.0.0.0/8: it has an action or next hops, not both",
		"routes: [{prefix: 10.0.0.0/8, via: [{port: 0, mac: '02:00:00:00:00:01', mtu: 1501}]}]":                                                   "x.yaml:2: route 10.0.0.0/8: mtu 1501 of a next hop must be from 68 to the switch's, 1500",
		"routes: [{prefix: 'fd00::/8', via: [{port: 0, mac: '02:00:00:00:00:01', mtu: 1279}]}]":                                                   "x.yaml:2: route fd00::/8: mtu 1279 of a next hop must be from 1280 to the switch's, 1500",
		"routes: [{prefix: 10.0.0.0/8, via: [{port: 0, mac: '02:00:00:00:00:01', weight: 0}]}]":                                                   "x.yaml:2: weight 0 of a next hop: from 1 to 64",
		"routes: [{prefix: 10.0.0.0/8, via: [{port: 0, mac: '02:00:00:00:00:01', weight: 40}, {port: 1, mac: '02:00:00:00:00:02', weight: 25}]}]": "x.yaml:2: route 10.0.0.0/8: the weights of its next hops are more than 64 together",
		"routes: [{prefix: 10.0.0.0/8, via: [{mac: '02:00:00:00:00:01'}]}]":                                                                       "x.yaml:2: route 10.0.0.0/8: a next hop needs an address, or a port and a MAC address",
		"router: {addresses: [10.0.0.1]}\nroutes: [{prefix: 10.0.0.0/8, via: [{address: 10.1.0.2}]}]":                                             "x.yaml:3: next hop 10.1.0.2: it is in the subnet of no port or VLAN (write their `addresses` like 10.1.0.1/24, or say its port)",
		"routes: [{prefix: 10.0.0.0/8, via: [{address: 10.1.0.2, mac: '02:00:00:00:00:01'}]}]":                                                    "x.yaml:2: route 10.0.0.0/8: a next hop has an address, for which the switch asks, or a MAC, not both",
		"routes: [{prefix: 10.0.0.0/8, via: [{address: 10.1.0.2, port: 1}]}]":                                                                     "x.yaml:2: route 10.0.0.0/8: next hop 10.1.0.2: the router has no address of that version of IP from which it could ask",
		"router: {addresses: [10.0.0.1]}\nroutes: [{prefix: 'fd00::/8', via: [{address: 10.1.0.2, port: 1}]}]":                                    "x.yaml:3: route fd00::/8: next hop 10.1.0.2: a route has next hops of its own version of IP",
		"router: {addresses: [10.0.0.1]}\nroutes: [{prefix: 10.0.0.0/8, via: [{address: 10.0.0.1, port: 1}]}]":                                    "x.yaml:3: route 10.0.0.0/8: next hop 10.0.0.1: that is no neighbour's address",
		"vlans: [{id: 10, untagged: [0], addresses: [10.0.0.1/33]}]":                                                                              "x.yaml:2: address \"10.0.0.1/33\": neither IPv4 nor IPv6 (write it like 10.1.0.1/24 or fd00::1/64)",
	} {
		c := &Switch{}
		err := Decode("x.yaml", []byte("ports: [{device: net_null0}, {device: net_null1}]\n"+text+"\n"), c)
		if err == nil {
			c.file = "x.yaml"
			err = c.Check()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// In a subnet of two addresses or one, all are hosts'.
func TestSubnetsOfTwo(t *testing.T) {
	for _, text := range []string{"10.1.0.0/31", "10.1.0.1/31", "10.1.0.0/32", "fd00::/127", "fd00::/128", "fd00::ffff:ffff:ffff:ffff/64", "255.255.255.254/31"} {
		var s Subnet
		if err := s.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A next hop that two subnets have is not guessed at: the longer prefix has it, or the file says where it is. Several
// addresses of one subnet in one VLAN are no doubt.
func TestSubnetsThatOverlap(t *testing.T) {
	for text, want := range map[string]string{
		"{device: net_null0, addresses: [10.1.0.1/24]}, {device: net_null1, addresses: [10.1.0.2/24]}": "x.yaml:2: next hop 10.1.0.9: its subnet is at port 0 and at port 1 (say its port or VLAN)",
		"{device: net_null0, addresses: [10.1.0.1/24]}, {device: net_null1, addresses: [10.1.0.2/25]}": "",
		"{device: net_null0, addresses: [10.1.0.1/25]}, {device: net_null1, addresses: [10.1.0.2/24]}": "",
		"{device: net_null0, addresses: [10.1.0.1/24, 10.1.0.2/24]}, {device: net_null1}":              "",
	} {
		for via, want := range map[string]string{"{address: 10.1.0.9}": want, "{address: 10.1.0.9, port: 1}": ""} {
			said := ""
			c := &Switch{}
			err := Decode("x.yaml", []byte("ports: ["+text+"]\nroutes: [{prefix: 10.0.0.0/8, via: ["+via+"]}]\n"), c)
			if err == nil {
				c.file = "x.yaml"
				err = c.Check()
			}
			if err != nil {
				said = err.Error()
			}
			if said != want {
				t.Errorf("%s, %s:\ngot  %s\nwant %s", text, via, said, want)
			}
		}
	}
}

// A link with IPv6 has an MTU of 1280 at least (RFC 8200 section 5): of a port that a route leads to, be it one of a VLAN's.
func TestLinksTooNarrowForIPv6(t *testing.T) {
	const ports = "ports: [{device: net_null0}, {device: net_null1, mtu: %d}]\nvlans: [{id: 10, untagged: [0], tagged: [1], addresses: [10.1.0.1/24, 'fd00:1::1/64']}]\nroutes: [{prefix: '%s', via: [%s]}]\n"
	for _, x := range []struct {
		mtu         int
		prefix, via string
		narrow      bool
	}{
		{1279, "fd00:2::/64", "{address: 'fd00:1::2'}", true},
		{1279, "fd00:2::/64", "{address: 'fd00:1::2', port: 0, vlan: 10}", false},
		{1279, "fd00:2::/64", "{mac: '02:00:00:00:00:09', port: 1, vlan: 10}", true},
		{1280, "fd00:2::/64", "{address: 'fd00:1::2'}", false},
		{1279, "10.2.0.0/16", "{address: 10.1.0.2}", false},
	} {
		c := &Switch{}
		err := Decode("x.yaml", fmt.Appendf(nil, ports, x.mtu, x.prefix, x.via), c)
		if err == nil {
			c.file = "x.yaml"
			err = c.Check()
		}
		if said := fmt.Sprint(err); (err != nil) != x.narrow || x.narrow && said != "x.yaml:1: route fd00:2::/64: port 1 has an mtu of 1279, and IPv6 needs 1280" {
			t.Errorf("%+v: %s", x, said)
		}
	}
}
