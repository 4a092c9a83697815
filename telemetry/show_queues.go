package telemetry

import (
	"fmt"
	"io"

	"photon/dataplane"
	"photon/units"
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
	Held      [8]uint64 `json:"packets"`      // waiting now
	Occupancy [8]int64  `json:"bytes"`
	Watermark [8]int64  `json:"watermark_bytes"`
}

func takeQueues(s *Source) Document {
	snap := s.Snapshot()
	d := &Queues{Node: snap.Node}
	for i := range snap.Numbers() {
		st := &snap.Stats.Ports[i]
		drops := st.Discards[dataplane.DropTail]
		for prio := range drops {
			drops[prio] += st.Discards[dataplane.DropStorm][prio] + st.Discards[dataplane.DropWRED][prio]
		}
		d.Ports = append(d.Ports, QueuesPort{
			Port: snap.Ports[i], Packets: st.TxFrames, Bytes: st.TxBytes, Drops: drops,
			Held: st.QueueFrames, Occupancy: inBytes(st.QueueBytes), Watermark: inBytes(st.QueuePeak),
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
			t.row(p.Port, fmt.Sprintf("UC%d", q), p.Packets[q], p.Bytes[q], p.Drops[q], p.Occupancy[q])
		}
		perClass(peaks, p.Port, p.Watermark)
	}
	t.write(w)
	io.WriteString(w, "\n")
	peaks.write(w)
}

// inBytes are sizes as bare numbers, as switches print them; in JSON a units.Size
// would be text.
func inBytes(sizes [8]units.Size) (n [8]int64) {
	for i, s := range sizes {
		n[i] = int64(s)
	}
	return n
}
