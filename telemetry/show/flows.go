package show

import (
	"fmt"
	"io"

	"photon/telemetry"
	"photon/units"
)

// Flows is `show flows`.
type Flows struct {
	Node   string           `json:"node"`
	Active int              `json:"active"`
	Silent int              `json:"silent,omitempty"` // of a NIC: known, and sending nothing
	Flows  []telemetry.Flow `json:"flows"`            // the fastest
}

// shownFlows is how many flows `photon show flows` lists.
const shownFlows = 100

func takeFlows(s *telemetry.Source) Document {
	survey := s.Flows(shownFlows)
	flows := append([]telemetry.Flow{}, survey.Top...)
	return &Flows{Node: s.Snapshot().Node, Active: survey.Active, Silent: survey.Silent, Flows: flows}
}

// Table implements Document.
func (d *Flows) Table(w io.Writer) {
	if len(d.Flows) > 0 && d.Flows[0].From != "" {
		t := newTable("From", "Peer", "Protocol", "Priority", "Allowed", "TX/pkts", "TX/bytes", "CNP/pkts", "Queued/pkts")
		for i := range d.Flows {
			f := &d.Flows[i]
			t.Row(f.From, f.Peer, f.Kind(), f.Priority, units.Rate(f.Rate), f.Packets, f.Bytes, f.Notified, f.Waiting)
		}
		t.Print(w)
	} else {
		t := newTable("Peer", "QP", "Priority", "Allowed", "TX/pkts", "TX/bytes", "CNP/pkts")
		for _, f := range d.Flows {
			t.Row(f.Peer, f.QP, f.Priority, units.Rate(f.Rate), f.Packets, f.Bytes, f.Notified)
		}
		t.Print(w)
	}
	fmt.Fprintf(w, "Flows being sent: %d", d.Active)
	if d.Silent > 0 {
		fmt.Fprintf(w, ", known and silent: %d", d.Silent)
	}
	if d.Active+d.Silent > len(d.Flows) {
		fmt.Fprintf(w, "; those allowed most are listed")
	}
	fmt.Fprintln(w)
}
