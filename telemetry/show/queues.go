package show

import (
	"fmt"
	"io"

	"photon/fabric"
	"photon/telemetry"
)

// Queues is `show queues`.
type Queues struct {
	Node  string       `json:"node"`
	Ports []QueuesPort `json:"ports"`
}

// QueuesPort is the egress queues of one port, by priority.
type QueuesPort struct {
	Port      string    `json:"port"`
	Packets   [8]uint64 `json:"tx_packets"`
	Bytes     [8]uint64 `json:"tx_bytes"`
	Drops     [8]uint64 `json:"drop_packets"` // at this queue: tail drops, WRED's and the watchdog's
	Queued    [8]uint64 `json:"packets"`      // waiting now
	Occupancy [8]int64  `json:"bytes"`
	Watermark [8]int64  `json:"watermark_bytes"`
}

func takeQueues(s *telemetry.Source) Document {
	snap := s.Snapshot()
	d := &Queues{Node: snap.Node}
	for i := range snap.Numbers() {
		st := &snap.Stats.Ports[i]
		drops := st.Discards[fabric.DropTail]
		for prio := range drops {
			drops[prio] += st.Discards[fabric.DropStorm][prio] + st.Discards[fabric.DropWRED][prio]
		}
		d.Ports = append(d.Ports, QueuesPort{
			Port: snap.Ports[i], Packets: st.TxFrames, Bytes: st.TxBytes, Drops: drops,
			Queued: st.QueueFrames, Occupancy: telemetry.Bare(st.QueueBytes), Watermark: telemetry.Bare(st.QueuePeak),
		})
	}
	return d
}

// Table implements Document.
func (d *Queues) Table(w io.Writer) {
	t := newTable("Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Occupancy/bytes")
	peaks := newTable(classes("Port Watermark", "UC")...)
	for _, p := range d.Ports {
		for q := range p.Packets {
			t.Row(p.Port, fmt.Sprintf("UC%d", q), p.Packets[q], p.Bytes[q], p.Drops[q], p.Occupancy[q])
		}
		perClass(peaks, p.Port, p.Watermark)
	}
	t.Print(w)
	io.WriteString(w, "\n")
	peaks.Print(w)
}
