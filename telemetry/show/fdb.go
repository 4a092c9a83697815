package show

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"photon/telemetry"
)

// FDB is `show fdb`.
type FDB struct {
	Node      string     `json:"node"`
	Capacity  int        `json:"places"`
	Unlearned uint64     `json:"unlearned"` // how often an address was not learned for want of a place
	Entries   []FDBEntry `json:"entries"`
}

// FDBEntry is an address that the switch knows.
type FDBEntry struct {
	VLAN  int      `json:"vlan"` // 0: the switch has none
	MAC   string   `json:"mac"`
	Ports []string `json:"ports"` // several: of equal cost; none: the switch itself
	Type  string   `json:"type"`  // Dynamic, Static or Router
	Age   float64  `json:"age_seconds"`
}

func takeFDB(s *telemetry.Source) Document {
	snap := s.Snapshot()
	entries := s.FDB()
	_, capacity := s.Addresses()
	d := &FDB{Node: snap.Node, Capacity: capacity, Unlearned: snap.Stats.Unlearned, Entries: []FDBEntry{}}
	for _, e := range entries {
		entry := FDBEntry{VLAN: int(e.VLAN), MAC: e.MAC.String(), Ports: []string{}, Type: "Dynamic", Age: e.Age.Seconds()}
		switch {
		case e.Ports == nil:
			entry.Type = "Router"
		case e.Static:
			entry.Type = "Static"
		}
		for _, p := range e.Ports {
			entry.Ports = append(entry.Ports, snap.Port(p))
		}
		d.Entries = append(d.Entries, entry)
	}
	return d
}

// Table implements Document.
func (d *FDB) Table(w io.Writer) {
	t := newTable("No.", "Vlan", "MacAddress", "Port", "Type", "Age")
	for i, e := range d.Entries {
		age, vlan := "-", "-"
		if e.VLAN != 0 {
			vlan = strconv.Itoa(e.VLAN)
		}
		if e.Type == "Dynamic" {
			age = fmt.Sprintf("%.0fs", e.Age)
		}
		t.Row(i+1, vlan, e.MAC, cmp.Or(strings.Join(e.Ports, ","), "-"), e.Type, age)
	}
	t.Print(w)
	fmt.Fprintf(w, "Total number of entries %d\n", len(d.Entries))
	if d.Unlearned > 0 {
		const words = "Times an address was not learned for want of a place: %d (a larger `forwarding: size`)\n"
		fmt.Fprintf(w, words, d.Unlearned)
	}
}
