package show

import (
	"cmp"
	"io"

	"photon/telemetry"
)

// Neighbours is `show neighbours`.
type Neighbours struct {
	Node       string      `json:"node"`
	Neighbours []Neighbour `json:"neighbours"`
}

// Neighbour is a next hop of which the configuration says the address alone.
type Neighbour struct {
	Address  string `json:"address"`
	MAC      string `json:"mac"`   // empty: it is not known
	Port     string `json:"port"`  // empty: whichever of the VLAN's it is behind
	VLAN     int    `json:"vlan"`  // 0: the port's untagged one
	State    string `json:"state"` // reachable, probe (it is asked again), incomplete (it was asked) or failed
	Waiting  int    `json:"waiting_packets"`
	Requests uint64 `json:"requests"`
	Failures uint64 `json:"failures"` // how often it did not answer
}

func takeNeighbours(s *telemetry.Source) Document {
	snap := s.Snapshot()
	d := &Neighbours{Node: snap.Node, Neighbours: []Neighbour{}}
	for _, n := range s.Forwarding().Neighbours {
		x := Neighbour{
			Address: n.Address.String(), VLAN: int(n.VLAN), State: n.State, Waiting: n.Waiting, Requests: n.Requests, Failures: n.Failures,
		}
		if n.MAC != 0 {
			x.MAC = n.MAC.String()
		}
		if n.Port >= 0 {
			x.Port = snap.Port(uint16(n.Port))
		}
		d.Neighbours = append(d.Neighbours, x)
	}
	return d
}

// Table implements Document.
func (d *Neighbours) Table(w io.Writer) {
	t := newTable("Address", "MacAddress", "Port", "VLAN", "State", "Waiting", "Requests", "Failures")
	for _, n := range d.Neighbours {
		t.Row(n.Address, cmp.Or(n.MAC, "-"), cmp.Or(n.Port, "-"), shownVLAN(n.VLAN), n.State, n.Waiting, n.Requests, n.Failures)
	}
	t.Print(w)
}
