package show

import (
	"fmt"
	"io"

	"photon/telemetry"
)

// SFlow is `show sflow`.
type SFlow struct {
	Node string `json:"node"`
	telemetry.SFlow
}

func takeSFlow(s *telemetry.Source) Document {
	return &SFlow{s.Snapshot().Node, s.SFlow()}
}

// Table implements Document.
func (d *SFlow) Table(w io.Writer) {
	if !d.On {
		fmt.Fprintln(w, "This switch sends no samples (`sflow: {collector: 10.0.0.9:6343}` in its file changes that).")
		return
	}
	t := newTable("Collector", "Sampling", "Samples", "Lost", "Datagrams", "Failed")
	t.Row(d.Collector, fmt.Sprintf("1/%d", d.Every), d.Samples, d.Lost, d.Datagrams, d.Failed)
	t.Print(w)
}
