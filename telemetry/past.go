package telemetry

import (
	"cmp"

	"photon/dataplane"
	"photon/lldp"
	"photon/pfc"
)

// Past is what a switch has kept of what happened, by port.
type Past struct {
	Snapshot Snapshot // of an instant after it
	Capacity dataplane.History
	Pauses   [][]pfc.Pause
	Ended    []uint64 // pauses, ever
	Events   [][]dataplane.Event
	Ever     []uint64 // events
}

// LLDPPort is what is known of a port that says who it is.
type LLDPPort struct {
	On         bool // it does
	Counts     dataplane.Announced
	Malformed  uint64    // frames received that could not be read
	Own        lldp.DCBX // what it says
	Neighbours []lldp.Neighbour
}

// Mismatches are where the port and those behind it disagree, by feature.
func (p *LLDPPort) Mismatches() (all [lldp.Features]int) {
	for i := range p.Neighbours {
		for _, m := range lldp.Compare(&p.Own, &p.Neighbours[i].DCBX) {
			all[m.Feature]++
		}
	}
	return all
}

// Peer is who is behind a port, by LLDP; empty: it is not known.
func (s *Snapshot) Peer(port int) string {
	if port < len(s.LLDP) && len(s.LLDP[port].Neighbours) == 1 {
		n := &s.LLDP[port].Neighbours[0]
		return cmp.Or(n.SystemName, n.Chassis) + ":" + n.Port
	}
	return ""
}

// SFlow is what a switch sends to a collector of samples.
type SFlow struct {
	On        bool   `json:"on"`
	Collector string `json:"collector"`
	Every     int    `json:"sampling"`     // one frame in so many
	Samples   uint64 `json:"samples"`      // by the ports
	Lost      uint64 `json:"samples_lost"` // they came too fast
	Datagrams uint64 `json:"datagrams"`
	Failed    uint64 `json:"datagrams_failed"` // could not be sent
}
