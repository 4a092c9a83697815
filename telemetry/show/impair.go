package show

import (
	"fmt"
	"io"

	"photon/fabric"
	"photon/telemetry"
)

// Impair is `show impair`.
type Impair struct {
	Node  string       `json:"node"`
	Ports []ImpairPort `json:"ports"` // at which something was done
}

// ImpairPort is what was done on purpose to frames that came to a port.
type ImpairPort struct {
	Port          string `json:"port"`
	Lost          uint64 `json:"lost"`
	Duplicated    uint64 `json:"duplicated"`
	Reordered     uint64 `json:"reordered"`
	Delayed       uint64 `json:"delayed"`
	Corrupted     uint64 `json:"corrupted"`
	CorruptedLost uint64 `json:"corrupted_lost"`
	Marked        uint64 `json:"marked"`
	Pauses        uint64 `json:"pauses"`
	DelayedNow    uint64 `json:"delayed_now"`
}

func takeImpair(s *telemetry.Source) Document {
	snap := s.Snapshot()
	d := &Impair{Node: snap.Node, Ports: []ImpairPort{}}
	for i := range snap.Numbers() {
		if m := snap.Stats.Ports[i].Impaired; m != (fabric.Impaired{}) {
			d.Ports = append(d.Ports, ImpairPort{
				Port: snap.Ports[i], Lost: m.Lost, Duplicated: m.Duplicated, Reordered: m.Reordered, Delayed: m.Delayed, Corrupted: m.Corrupted,
				CorruptedLost: m.CorruptedLost, Marked: m.Marked, Pauses: m.Pauses, DelayedNow: m.DelayedNow,
			})
		}
	}
	return d
}

// Table implements Document.
func (d *Impair) Table(w io.Writer) {
	if len(d.Ports) == 0 {
		fmt.Fprintln(w, "Nothing was done on purpose to what came in (`impair:` on a port asks for it).")
		return
	}
	t := newTable("Port", "Lost", "Duplicated", "Reordered", "Delayed", "Corrupted", "CE", "PAUSE", "Held back")
	for _, p := range d.Ports {
		t.Row(p.Port, p.Lost, p.Duplicated, p.Reordered, p.Delayed, p.Corrupted+p.CorruptedLost, p.Marked, p.Pauses, p.DelayedNow)
	}
	t.Print(w)
}
