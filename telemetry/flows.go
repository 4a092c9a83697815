package telemetry

import (
	"fmt"
	"slices"

	"photon/units"
)

// Flow is a flow that an agent sends.
type Flow struct {
	Peer     string `json:"peer"` // of a NIC's, with its port
	QP       uint32 `json:"qp"`
	From     string `json:"from,omitempty"`     // of a NIC's only: the program's address and port
	Protocol string `json:"protocol,omitempty"` // of a NIC's only: tcp, udp, roce (of which QP tells), or its number
	Waiting  int    `json:"queued_packets,omitempty"`
	Priority int    `json:"priority"`
	Rate     int64  `json:"rate_bps"` // that its reaction point and its limit allow, on the wire
	Packets  uint64 `json:"tx_packets"`
	Bytes    uint64 `json:"tx_bytes"`         // on the wire
	Notified uint64 `json:"cnp_handled"`      // CNPs and CNMs that came for it
	Limited  bool   `json:"limited"`          // held below the line's rate by its reaction point
	Silent   bool   `json:"silent,omitempty"` // of a NIC's only: it is known, and sends nothing
}

// Kind is the protocol of a NIC's flow, with what distinguishes it from others to the same address.
func (f *Flow) Kind() string {
	if f.QP != 0 {
		return fmt.Sprintf("%s, queue pair %d", f.Protocol, f.QP)
	}
	return f.Protocol
}

// Name distinguishes a flow from all others of its agent.
func (f *Flow) Name() string {
	if f.From != "" {
		return fmt.Sprint(f.From, " ", f.Peer, " ", f.Kind(), " ", f.Priority)
	}
	return fmt.Sprint(f.Peer, " ", f.QP)
}

// Survey is what an agent's flows are allowed, seen one after the other: the
// counts and the list are not of one instant, so that the worker never waits
// for all of them.
type Survey struct {
	Active  int                         // flows being sent
	Silent  int                         // flows that a NIC knows and that send nothing; nothing but Top counts them
	Rates   [len(RateBounds) + 1]uint64 // of them, those allowed at most RateBounds[i]; the last: more
	Sum     units.Rate                  // of what they are allowed
	Limited int                         // flows that are held below the line's rate
	Top     []Flow                      // the fastest, by what they are allowed
	mostTop int
}

// RateBounds are the upper bounds of the histogram of allowed rates.
var RateBounds = [...]units.Rate{
	units.Mbps, 10 * units.Mbps, 100 * units.Mbps, 250 * units.Mbps, 500 * units.Mbps, units.Gbps, 2500 * units.Mbps, 5 * units.Gbps,
	10 * units.Gbps, 25 * units.Gbps, 40 * units.Gbps, 100 * units.Gbps,
}

// NewSurvey returns an empty survey that lists up to top flows.
func NewSurvey(top int) *Survey { return &Survey{mostTop: top} }

// Add takes in a flow that is known. Of flows with the same rate those that were added first are listed, so that the
// list is steady, and silent ones only where others leave room.
func (s *Survey) Add(f Flow) {
	if f.Silent {
		s.Silent++
	} else {
		s.count(&f)
	}
	if len(s.Top) == s.mostTop && (s.mostTop == 0 || !before(&f, &s.Top[s.mostTop-1])) {
		return
	}
	at, _ := slices.BinarySearchFunc(s.Top, f, func(g, f Flow) int {
		if !before(&f, &g) {
			return -1
		}
		return 1
	})
	if len(s.Top) == s.mostTop {
		s.Top = s.Top[:s.mostTop-1]
	}
	s.Top = slices.Insert(s.Top, at, f)
}

// before reports whether a flow is listed before one that was added earlier.
func before(f, g *Flow) bool {
	if f.Silent != g.Silent {
		return g.Silent
	}
	return f.Rate > g.Rate
}

// count counts a flow that is being sent.
func (s *Survey) count(f *Flow) {
	s.Active++
	if f.Limited {
		s.Limited++
	}
	bucket, _ := slices.BinarySearch(RateBounds[:], units.Rate(f.Rate))
	s.Rates[bucket]++
	s.Sum += units.Rate(f.Rate)
}
