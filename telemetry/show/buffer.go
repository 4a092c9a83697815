package show

import (
	"fmt"
	"io"

	"photon/fabric"
	"photon/internal/table"
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
	Share     float64         `json:"lossy_alpha"`     // a lossy queue drops beyond this part of what is free, too; 0: it does not
	Pools     []BufferPool    `json:"pools"`           // what Size consists of
	Headrooms int64           `json:"headrooms_bytes"` // headroom of all ports and lossless priorities together: more than the pool of it, where it is over-subscribed
	Profiles  []BufferProfile `json:"profiles"`        // of the lossless priorities
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

// BufferPool is a part of the buffer.
type BufferPool struct {
	Name      string `json:"name"` // ingress_lossless_pool (up to XOFF), headroom_pool, egress_lossy_reserved (min of queues), shared_pool
	Size      int64  `json:"size_bytes"`
	Used      int64  `json:"bytes"`
	Watermark *int64 `json:"watermark_bytes"` // null: there is none
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
	Headroom  [8]int64  `json:"headroom_bytes"` // of Occupancy, in headroom
	HeadPeak  [8]int64  `json:"headroom_watermark_bytes"`
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
		Node: snap.Node, Size: int64(b.Size), Reserved: int64(b.Reserved), Lossy: int64(b.Lossy), LossyUsed: int64(b.LossyUsed), Tail: int64(b.Tail), Share: b.Share, Headrooms: int64(b.Headrooms),
	}
	buffered := int64(0)
	for i := range snap.Numbers() {
		st, name := &snap.Stats.Ports[i], snap.Ports[i]
		for prio := range pfc.Classes {
			if b.Ports[i]>>prio&1 != 0 {
				t := b.Thresholds[i][prio]
				d.Profiles = append(
					d.Profiles,
					BufferProfile{name, prio, int64(t.XOFF), int64(t.XON), int64(t.Headroom), t.Alpha},
				)
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
		for _, n := range st.Buffered {
			buffered += int64(n)
		}
		l := &b.Limits[i]
		d.Ports = append(d.Ports, BufferPort{
			Port: name, Occupancy: telemetry.Bare(st.Buffered), Watermark: telemetry.Bare(st.Ingress.Peak), Headroom: telemetry.Bare(st.Ingress.Headroom), HeadPeak: telemetry.Bare(st.Ingress.HeadroomMax), Discards: st.Discards[fabric.DropHeadroom],
			LossyUsed: int64(
				l.Used,
			), LossyLimit: int64(l.Limit), LossyAlpha: l.Alpha, LossyNow: int64(l.Now), LossyDiscards: st.Discards[fabric.DropIngress],
		})
	}
	kept := func(n units.Size) *int64 { m := int64(n); return &m }
	d.Pools = []BufferPool{
		{
			"ingress_lossless_pool",
			int64(b.Reserved - b.Headroom - b.Minimums),
			max(0, buffered-int64(b.LossyUsed+b.HeadUsed+b.MinUsed)),
			nil,
		},
		{"headroom_pool", int64(b.Headroom), int64(b.HeadUsed), kept(b.HeadPeak)},
		{"egress_lossy_reserved", int64(b.Minimums), int64(b.MinUsed), nil},
		{"shared_pool", int64(b.Lossy), int64(b.LossyUsed), kept(b.LossyPeak)},
	}
	return d
}

// Table implements Document.
func (d *Buffer) Table(w io.Writer) {
	size := func(n int64) units.Size { return units.Size(n) }
	pools, buffered := newTable("Pool", "Size", "Used", "Watermark"), int64(0)
	for _, p := range d.Pools {
		var peak any = "-"
		if p.Watermark != nil {
			peak = size(*p.Watermark)
		}
		pools.Row(p.Name, size(p.Size), size(p.Used), peak)
		buffered += p.Used
	}
	pools.Row("all", size(d.Size), size(buffered), "-")
	pools.Print(w)
	if head := d.Pools[1].Size; head < d.Headrooms {
		fmt.Fprintf(
			w,
			"\nPorts and priorities may take %v of the headroom pool together: it is over-subscribed %.3g times.\n",
			size(d.Headrooms),
			float64(d.Headrooms)/float64(head),
		)
	}
	fmt.Fprintf(w, "\nA lossy queue drops beyond %v", size(d.Tail))
	if d.Share > 0 {
		fmt.Fprintf(w, ", and beyond %v of what is free of the shared pool", d.Share)
	}
	fmt.Fprint(w, ".\n\n")
	profiles := newTable("Port", "PG", "XOFF", "XON", "Headroom", "Alpha")
	now, peak := newTable(classes("Port Ingress/bytes", "PG")...), newTable(classes("Port Watermark", "PG")...)
	head := newTable(classes("Port Headroom watermark", "PG")...)
	for _, p := range d.Profiles {
		profiles.Row(p.Port, fmt.Sprintf("PG%d", p.Priority), size(p.XOFF), size(p.XON), size(p.Headroom), p.Alpha)
	}
	for _, p := range d.Ports {
		perClass(now, p.Port, p.Occupancy)
		perClass(peak, p.Port, p.Watermark)
		perClass(head, p.Port, p.HeadPeak)
	}
	for _, t := range []*table.Table{profiles, now, peak, head} {
		t.Print(w)
		if t != head {
			fmt.Fprintln(w)
		}
	}
	d.lossyTables(w)
}

// lossyTables are of ports and queues that have limits of their own for lossy frames.
func (d *Buffer) lossyTables(w io.Writer) {
	size := func(n int64) units.Size { return units.Size(n) }
	ports, queues := newTable(
		"Port",
		"Lossy",
		"Limit",
		"Alpha",
		"Limit now",
		"Drop/pkts",
	), newTable(
		"Port",
		"TxQ",
		"Min",
		"Alpha",
	)
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
		ports.Row(p.Port, size(p.LossyUsed), limit, alpha, size(p.LossyNow), drops)
	}
	for _, q := range d.Queues {
		var alpha any = "-"
		if q.Alpha != nil {
			alpha = *q.Alpha
		}
		queues.Row(q.Port, fmt.Sprintf("UC%d", q.Priority), size(q.Min), alpha)
	}
	if limited {
		fmt.Fprintln(w)
		ports.Print(w)
	}
	if d.Queues != nil {
		fmt.Fprintln(w)
		queues.Print(w)
	}
}
