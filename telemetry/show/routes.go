package show

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"photon/dataplane"
	"photon/telemetry"
)

// Routes is `show routes`.
type Routes struct {
	Node      string   `json:"node"`
	MAC       string   `json:"mac"` // of the router; empty: the switch does not route
	Addresses []string `json:"addresses"`
	Routed    uint64   `json:"routed_packets"` // since the start
	Routes    []Route  `json:"routes"`
}

// Route is one prefix.
type Route struct {
	Prefix string     `json:"prefix"`
	Via    []RouteVia `json:"via"`
	Action string     `json:"action,omitempty"` // in place of next hops: prohibit or blackhole
}

// RouteVia is a next hop.
type RouteVia struct {
	Address string `json:"address,omitempty"` // that the switch asks for; `show neighbours` tells where it is
	MAC     string `json:"mac"`               // empty: it is asked for
	Port    string `json:"port"`              // empty: whichever of the VLAN's it is behind
	VLAN    int    `json:"vlan"`              // 0: the port's untagged one
	MTU     int    `json:"mtu,omitempty"`     // 0: the switch's
	LinkUp  bool   `json:"link_up"`           // of whichever port: one of the VLAN's has a link
	Weight  int    `json:"weight"`            // how often it is chosen, relative to the route's others
}

func takeRoutes(s *telemetry.Source) Document {
	snap := s.Snapshot()
	forwarding := s.Forwarding()
	r := &forwarding.Router
	d := &Routes{Node: snap.Node, Addresses: []string{}, Routes: []Route{}}
	if r.MAC != 0 {
		d.MAC = r.MAC.String()
	}
	for _, a := range forwarding.Addresses {
		d.Addresses = append(d.Addresses, a.String())
	}
	d.Routed = snap.Stats.RemovedRouted
	for i := range snap.Numbers() {
		d.Routed += snap.Stats.Ports[i].Routed
	}
	sorted := slices.SortedFunc(slices.Values(r.Routes), func(a, b dataplane.Route) int {
		return cmp.Or(a.Prefix.Addr().Compare(b.Prefix.Addr()), cmp.Compare(a.Prefix.Bits(), b.Prefix.Bits()))
	})
	for _, route := range sorted {
		var weights []int
		one := Route{Prefix: route.Prefix.String(), Via: []RouteVia{}, Action: route.Refuse.String()}
		for _, v := range route.Via {
			via := RouteVia{MAC: v.MAC.String(), Port: snap.Port(v.Port), VLAN: int(v.VLAN), MTU: v.MTU, LinkUp: !forwarding.Down[v.Port]}
			if v.MAC == 0 {
				via.Address, via.MAC = v.Address.String(), ""
			}
			if v.AnyPort {
				via.Port, via.LinkUp = "", anyUp(&forwarding, v.VLAN)
			}
			if i := slices.Index(one.Via, via); i >= 0 { // it has as many places as its weight
				weights[i]++
				continue
			}
			one.Via, weights = append(one.Via, via), append(weights, 1)
		}
		for i, n := range weights {
			one.Via[i].Weight = n
		}
		d.Routes = append(d.Routes, one)
	}
	return d
}

// anyUp reports whether a port of a VLAN has a link.
func anyUp(f *dataplane.Forwarding, vlan uint16) bool {
	i := slices.IndexFunc(f.VLANs, func(v dataplane.VLAN) bool { return v.ID == vlan })
	if i < 0 {
		return false
	}
	v := &f.VLANs[i]
	return slices.ContainsFunc(slices.Concat(v.Untagged, v.Tagged), func(p uint16) bool { return !f.Down[p] })
}

// Table implements Document.
func (d *Routes) Table(w io.Writer) {
	t := newTable("Prefix", "NextHop", "Port", "VLAN", "Weight", "Link")
	for _, r := range d.Routes {
		prefix := r.Prefix
		if r.Action != "" {
			t.Row(prefix, r.Action, "-", "-", "-", "-")
		}
		for _, v := range r.Via {
			link := "down"
			if v.LinkUp {
				link = "up"
			}
			t.Row(prefix, cmp.Or(v.MAC, v.Address), cmp.Or(v.Port, "-"), shownVLAN(v.VLAN), v.Weight, link)
			prefix = ""
		}
	}
	t.Print(w)
	if d.MAC == "" {
		fmt.Fprintln(w, "This switch does not route")
		return
	}
	fmt.Fprintf(w, "Router %s, addresses %s\n", d.MAC, cmp.Or(strings.Join(d.Addresses, ", "), "none"))
	fmt.Fprintf(w, "Total number of routes %d, packets routed %d\n", len(d.Routes), d.Routed)
}

// shownVLAN is a VLAN's number; - where frames have no tag.
func shownVLAN(vlan int) string {
	if vlan == 0 {
		return "-"
	}
	return strconv.Itoa(vlan)
}
