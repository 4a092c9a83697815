package show

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"photon/telemetry"
)

// VLANs is `show vlan`.
type VLANs struct {
	Node  string `json:"node"`
	VLANs []VLAN `json:"vlans"` // none: tags are nothing to the switch
}

// VLAN is one VLAN.
type VLAN struct {
	ID      int          `json:"id"`
	Members []VLANMember `json:"members"`
}

// VLANMember is a port of it.
type VLANMember struct {
	Port      string `json:"port"`
	Tagged    bool   `json:"tagged"`
	Addresses int    `json:"addresses"` // known behind it, in this VLAN
}

func takeVLANs(s *telemetry.Source) Document {
	snap := s.Snapshot()
	forwarding := s.Forwarding()
	entries := s.FDB()
	type place struct{ vlan, port uint16 }
	known := map[place]int{}
	for _, e := range entries {
		for _, p := range e.Ports {
			known[place{e.VLAN, p}]++
		}
	}
	d := &VLANs{Node: snap.Node, VLANs: []VLAN{}}
	for _, v := range forwarding.VLANs {
		of := VLAN{ID: int(v.ID), Members: []VLANMember{}}
		for _, p := range slices.Sorted(slices.Values(slices.Concat(v.Untagged, v.Tagged))) {
			of.Members = append(of.Members, VLANMember{Port: snap.Port(p), Tagged: slices.Contains(v.Tagged, p), Addresses: known[place{v.ID, p}]})
		}
		d.VLANs = append(d.VLANs, of)
	}
	slices.SortFunc(d.VLANs, func(a, b VLAN) int { return cmp.Compare(a.ID, b.ID) })
	return d
}

// Table implements Document.
func (d *VLANs) Table(w io.Writer) {
	t := newTable("VLAN ID", "Ports", "Port Tagging", "Addresses")
	for _, v := range d.VLANs {
		id := strconv.Itoa(v.ID)
		for _, m := range v.Members {
			tagging := "untagged"
			if m.Tagged {
				tagging = "tagged"
			}
			t.Row(id, m.Port, tagging, m.Addresses)
			id = ""
		}
		if len(v.Members) == 0 {
			t.Row(id, "-", "-", 0)
		}
	}
	t.Print(w)
	if len(d.VLANs) == 0 {
		fmt.Fprintln(w, "No VLANs: tags are nothing to this switch")
	}
}
