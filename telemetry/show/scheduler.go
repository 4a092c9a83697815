package show

import (
	"fmt"
	"io"

	"photon/dataplane"
	"photon/telemetry"
	"photon/units"
)

// Scheduler is `show scheduler`.
type Scheduler struct {
	Node   string           `json:"node"`
	Ports  []SchedulerPort  `json:"ports"`  // those with a shaper
	Queues []SchedulerQueue `json:"queues"` // of all ports
}

// Shaper is one, and what waited for it.
type Shaper struct {
	Rate   int64  `json:"rate_bits_per_second"` // on the wire; 0: there is none
	Burst  int64  `json:"burst_bytes"`
	Waited uint64 `json:"shaped_packets"` // frames that were next, and had to wait for tokens
}

func shaperOf(s dataplane.Shaper, waited uint64) Shaper {
	return Shaper{int64(s.Rate), int64(s.Burst), waited}
}

// SchedulerPort is a port whose frames have a shaper together.
type SchedulerPort struct {
	Port string `json:"port"`
	Shaper
}

// SchedulerQueue is how an egress queue takes its turn.
type SchedulerQueue struct {
	Port     string `json:"port"`
	Priority int    `json:"priority"`
	Type     string `json:"type"` // strict, or dwrr: by weight
	Weight   int    `json:"weight"`
	Shaper
}

func takeScheduler(s *telemetry.Source) Document {
	snap := s.Snapshot()
	b := snap.Buffer
	d := &Scheduler{Node: snap.Node, Ports: []SchedulerPort{}}
	for i := range snap.Numbers() {
		st, name := &snap.Stats.Ports[i], snap.Ports[i]
		if x := b.Shapers[i]; x.Rate > 0 {
			d.Ports = append(d.Ports, SchedulerPort{name, shaperOf(x, st.PortShaped)})
		}
		for prio, q := range b.Queues[i] {
			x := SchedulerQueue{name, prio, "strict", b.Weights[prio], shaperOf(q.Shaper, st.Shaped[prio])}
			if x.Weight > 0 {
				x.Type = "dwrr"
			}
			d.Queues = append(d.Queues, x)
		}
	}
	return d
}

// Table implements Document.
func (d *Scheduler) Table(w io.Writer) {
	cells := func(x Shaper) []any {
		if x.Rate == 0 {
			return []any{"-", "-", "-"}
		}
		return []any{units.Rate(x.Rate), units.Size(x.Burst), x.Waited}
	}
	if len(d.Ports) > 0 {
		t := newTable("Port", "Rate", "Burst", "Shaped/pkts")
		for _, p := range d.Ports {
			t.Row(append([]any{p.Port}, cells(p.Shaper)...)...)
		}
		t.Print(w)
		fmt.Fprintln(w)
	}
	t := newTable("Port", "TxQ", "Type", "Weight", "Rate", "Burst", "Shaped/pkts")
	for _, q := range d.Queues {
		weight := "-"
		if q.Weight > 0 {
			weight = fmt.Sprint(q.Weight)
		}
		t.Row(append([]any{q.Port, fmt.Sprintf("UC%d", q.Priority), q.Type, weight}, cells(q.Shaper)...)...)
	}
	t.Print(w)
}
