package telemetry

import (
	"fmt"
	"io"
	"strings"
)

// FDB is `show fdb`.
type FDB struct {
	Node     string     `json:"node"`
	Capacity int        `json:"places"`
	Entries  []FDBEntry `json:"entries"`
}

// FDBEntry is an address that the switch knows.
type FDBEntry struct {
	MAC   string   `json:"mac"`
	Ports []string `json:"ports"` // several: of equal cost
	Type  string   `json:"type"`  // Dynamic or Static
	Age   float64  `json:"age_seconds"`
}

func takeFDB(s *Source) Document {
	snap := s.Snapshot()
	entries, capacity := s.FDB()
	d := &FDB{Node: snap.Node, Capacity: capacity, Entries: []FDBEntry{}}
	for _, e := range entries {
		entry := FDBEntry{MAC: e.MAC.String(), Type: "Dynamic", Age: e.Age.Seconds()}
		if e.Static {
			entry.Type = "Static"
		}
		for _, p := range e.Ports {
			entry.Ports = append(entry.Ports, snap.Ports[p])
		}
		d.Entries = append(d.Entries, entry)
	}
	return d
}

// Table implements Document.
func (d *FDB) Table(w io.Writer) {
	t := newTable("No.", "MacAddress", "Port", "Type", "Age")
	for i, e := range d.Entries {
		age := "-"
		if e.Type == "Dynamic" {
			age = fmt.Sprintf("%.0fs", e.Age)
		}
		t.row(i+1, e.MAC, strings.Join(e.Ports, ","), e.Type, age)
	}
	t.write(w)
	fmt.Fprintf(w, "Total number of entries %d\n", len(d.Entries))
}
