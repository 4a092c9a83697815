package config

import (
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
  storm_control: {broadcast: {rate: 1Mbps}, multicast: {rate: 5pps}}
vlans:
- {id: 10, untagged: [0, 1], tagged: [2]}
- {id: 20, tagged: [2]}
router: {addresses: [10.0.1.1, "fd00::1"]}
routes:
- {prefix: 10.0.2.0/24, via: [{port: 1, mac: "02:00:00:00:00:02"}, {port: 2, vlan: 20, mac: "02:00:00:00:00:03"}]}
- {prefix: "::/0", via: [{port: 0, mac: "02:00:00:00:00:01"}]}
storm_control: {broadcast: {rate: 1000pps}, unknown_unicast: {rate: 1Gbps, burst: 64KB}}
forwarding: {flood: false, static: [{mac: "02:00:00:00:00:07", port: 2, vlan: 20}]}
`)
	n, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &n.Config
	if want := []dataplane.VLAN{{ID: 10, Untagged: []uint16{0, 1}, Tagged: []uint16{2}}, {ID: 20, Tagged: []uint16{2}}}; !reflect.DeepEqual(s.VLANs, want) {
		t.Errorf("%+v", s.VLANs)
	}
	want := dataplane.Router{MAC: s.Ports[0].MAC, Addresses: []netip.Addr{netip.MustParseAddr("10.0.1.1"), netip.MustParseAddr("fd00::1")}, Routes: []dataplane.Route{
		{Prefix: netip.MustParsePrefix("10.0.2.0/24"), Via: []dataplane.NextHop{{Port: 1, MAC: 0x020000000002}, {Port: 2, MAC: 0x020000000003, VLAN: 20}}},
		{Prefix: netip.MustParsePrefix("::/0"), Via: []dataplane.NextHop{{Port: 0, MAC: 0x020000000001}}},
	}}
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
	if s.Ports[0].Accept != dataplane.AcceptUsual || s.Ports[1].Accept != dataplane.AcceptAll {
		t.Errorf("accepted: %v, %v", s.Ports[0].Accept, s.Ports[1].Accept)
	}
	if !s.NoUnknown || s.Static[0].VLAN != 20 || s.Salt == 0 {
		t.Errorf("%v %+v %d", s.NoUnknown, s.Static, s.Salt)
	}
	if lines := n.Describe(); !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "VLAN 20: ports [] untagged, [2] tagged") }) {
		t.Error(lines)
	}
}
