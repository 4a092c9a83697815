package show

import (
	"fmt"
	"io"

	"photon/dataplane"
	"photon/pfc"
	"photon/telemetry"
	"photon/units"
)

// Buffer is `show buffer`.
type Buffer struct {
	Node      string          `json:"node"`
	Size      int64           `json:"size_bytes"`
	Reserved  int64           `json:"reserved_bytes"`   // XOFF and headroom of the lossless priorities, all ports
	Lossy     int64           `json:"lossy_bytes"`      // what lossy priorities share
	LossyUsed int64           `json:"lossy_used_bytes"` // of it
	Tail      int64           `json:"lossy_queue_bytes"`
	Share     float64         `json:"lossy_alpha"` // a lossy queue drops beyond this part of what is free, too; 0: it does not
	Profiles  []BufferProfile `json:"profiles"`    // of the lossless priorities
	Ports     []BufferPort    `json:"ports"`
	Queues    []BufferQueue   `json:"queues"` // egress queues that have something of their own for lossy frames
}

// BufferQueue is what an egress queue has for lossy frames that others have not.
type BufferQueue struct {
	Port     string   `json:"port"`
	Priority int      `json:"priority"`
	Min      int64    `json:"min_bytes"` // set aside for it
	Alpha    *float64 `json:"alpha"`     // null: lossy_alpha; 0: no such limit
}

// BufferProfile is the thresholds of one lossless priority of one ingress port.
type BufferProfile struct {
	Port     string  `json:"port"`
	Priority int     `json:"priority"`
	XOFF     int64   `json:"xoff_bytes"`
	XON      int64   `json:"xon_bytes"`
	Headroom int64   `json:"headroom_bytes"`
	Alpha    float64 `json:"alpha"` // of what is free of the shared part, added to XOFF and XON
}

// BufferPort is what one ingress port holds, by priority.
type BufferPort struct {
	Port      string    `json:"port"`
	Occupancy [8]int64  `json:"bytes"`
	Watermark [8]int64  `json:"watermark_bytes"`
	Discards  [8]uint64 `json:"headroom_discards"` // the peer did not stop

	LossyUsed     int64     `json:"lossy_used_bytes"`  // by lossy frames
	LossyLimit    int64     `json:"lossy_limit_bytes"` // of them; 0: none
	LossyAlpha    float64   `json:"lossy_alpha"`       // and by this part of what is free of the shared part; 0: no such limit
	LossyNow      int64     `json:"lossy_limit_now_bytes"`
	LossyDiscards [8]uint64 `json:"lossy_limit_discards"` // for that limit
}

func takeBuffer(s *telemetry.Source) Document {
	snap := s.Snapshot()
	b := snap.Buffer
	d := &Buffer{
		Node: snap.Node, Size: int64(b.Size), Reserved: int64(b.Reserved), Lossy: int64(b.Lossy), LossyUsed: int64(b.LossyUsed), Tail: int64(b.Tail), Share: b.Share,
	}
	for i := range snap.Numbers() {
		st, name := &snap.Stats.Ports[i], snap.Ports[i]
		for prio := range pfc.Classes {
			if b.Ports[i]>>prio&1 != 0 {
				t := b.Thresholds[i][prio]
				d.Profiles = append(d.Profiles, BufferProfile{name, prio, int64(t.XOFF), int64(t.XON), int64(t.Headroom), t.Alpha})
			}
		}
		for prio, q := range b.Queues[i] {
			if q.Min == 0 && q.Alpha == 0 {
				continue
			}
			own := BufferQueue{Port: name, Priority: prio, Min: int64(q.Min)}
			if alpha := max(0, q.Alpha); q.Alpha != 0 {
				own.Alpha = &alpha
			}
			d.Queues = append(d.Queues, own)
		}
		l := &b.Limits[i]
		d.Ports = append(d.Ports, BufferPort{
			Port: name, Occupancy: telemetry.Bare(st.Buffered), Watermark: telemetry.Bare(st.Ingress.Peak), Discards: st.Discards[dataplane.DropHeadroom],
			LossyUsed: int64(l.Used), LossyLimit: int64(l.Limit), LossyAlpha: l.Alpha, LossyNow: int64(l.Now), LossyDiscards: st.Discards[dataplane.DropIngress],
		})
	}
	return d
}

// Table implements Document.
func (d *Buffer) Table(w io.Writer) {
	pools := newTable("Pool", "Size", "Used")
	held := int64(0)
	for _, p := range d.Ports {
		for _, n := range p.Occupancy {
			held += n
		}
	}
	size := func(n int64) units.Size { return units.Size(n) }
	pools.row("lossless (reserved)", size(d.Reserved), size(held-d.LossyUsed))
	pools.row("lossy (shared)", size(d.Lossy), size(d.LossyUsed))
	pools.row("all", size(d.Size), size(held))
	pools.write(w)
	fmt.Fprintf(w, "\nA lossy queue drops beyond %v", size(d.Tail))
	if d.Share > 0 {
		fmt.Fprintf(w, ", and beyond %v of what is free of the shared part", d.Share)
	}
	fmt.Fprint(w, ".\n\n")
	profiles := newTable("Port", "PG", "XOFF", "XON", "Headroom", "Alpha")
	now, peak := newTable(classes("Port Ingress/bytes", "PG")...), newTable(classes("Port Watermark", "PG")...)
	for _, p := range d.Profiles {
		profiles.row(p.Port, fmt.Sprintf("PG%d", p.Priority), size(p.XOFF), size(p.XON), size(p.Headroom), p.Alpha)
	}
	for _, p := range d.Ports {
		perClass(now, p.Port, p.Occupancy)
		perClass(peak, p.Port, p.Watermark)
	}
	for _, t := range []*table{profiles, now, peak} {
		t.write(w)
		if t != peak {
			fmt.Fprintln(w)
		}
	}
	d.lossyTables(w)
}

// lossyTables are of ports and queues that have limits of their own for lossy frames.
func (d *Buffer) lossyTables(w io.Writer) {
	size := func(n int64) units.Size { return units.Size(n) }
	ports, queues := newTable("Port", "Lossy", "Limit", "Alpha", "Limit now", "Drop/pkts"), newTable("Port", "TxQ", "Min", "Alpha")
	limited := false
	for _, p := range d.Ports {
		if p.LossyLimit == 0 && p.LossyAlpha == 0 {
			continue
		}
		limited = true
		var limit, alpha any = "-", "-"
		if p.LossyLimit > 0 {
			limit = size(p.LossyLimit)
		}
		if p.LossyAlpha > 0 {
			alpha = p.LossyAlpha
		}
		drops := uint64(0)
		for _, n := range p.LossyDiscards {
			drops += n
		}
		ports.row(p.Port, size(p.LossyUsed), limit, alpha, size(p.LossyNow), drops)
	}
	for _, q := range d.Queues {
		var alpha any = "-"
		if q.Alpha != nil {
			alpha = *q.Alpha
		}
		queues.row(q.Port, fmt.Sprintf("UC%d", q.Priority), size(q.Min), alpha)
	}
	if limited {
		fmt.Fprintln(w)
		ports.write(w)
	}
	if d.Queues != nil {
		fmt.Fprintln(w)
		queues.write(w)
	}
}
