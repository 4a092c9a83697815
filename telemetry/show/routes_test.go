package show

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"photon/dataplane"
	"photon/fabric"
	"photon/telemetry"
)

// The link of a next hop that may be behind any port of a VLAN is up as long as one of these has a link.
func TestLinkOfANextHopInAVLAN(t *testing.T) {
	vlans := []dataplane.VLAN{{ID: 10, Untagged: []uint16{0}}, {ID: 20, Untagged: []uint16{1}, Tagged: []uint16{2}}}
	via := []dataplane.NextHop{{Address: netip.MustParseAddr("10.2.0.2"), VLAN: 20, AnyPort: true}}
	for down, want := range map[string]string{
		"": "up", "0": "up", "1": "up", "2": "up", "1 2": "down", "0 1 2": "down",
	} {
		f := dataplane.Forwarding{Down: make([]bool, 3), VLANs: vlans}
		for port := range f.Down {
			f.Down[port] = strings.Contains(down, fmt.Sprint(port))
		}
		f.Router.MAC = 0x0200_0000_AAAA
		f.Router.Routes = []dataplane.Route{{Prefix: netip.MustParsePrefix("10.0.0.0/8"), Via: via}}
		s := telemetry.Snapshot{Ports: []string{"a", "b", "c"}}
		s.Stats.Ports = make([]fabric.PortStats, 3)
		of := &telemetry.Source{
			Snapshot:   func() telemetry.Snapshot { return s },
			Forwarding: func() dataplane.Forwarding { return f },
		}
		d := takeRoutes(of).(*Routes)
		var table strings.Builder
		d.Table(&table)
		row := strings.Fields(strings.Split(table.String(), "\n")[2])
		if is := row[len(row)-1]; is != want || d.Routes[0].Via[0].LinkUp != (want == "up") {
			t.Errorf("ports %q down: %s\n%s", down, is, &table)
		}
	}
}
