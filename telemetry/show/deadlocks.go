package show

import (
	"fmt"
	"io"

	"photon/telemetry"
	"photon/units"
)

// Deadlocks is `show deadlocks`.
type Deadlocks struct {
	Node   string          `json:"node"`
	Detect float64         `json:"detection_seconds"` // 0: it is off
	Queues []DeadlockQueue `json:"queues"`            // the lossless ones
}

// DeadlockQueue is one lossless egress queue.
type DeadlockQueue struct {
	Port     string `json:"port"`
	Priority int    `json:"priority"`
	Status   string `json:"status"` // operational or deadlocked
	Found    uint64 `json:"found"`  // how often it was found in a cycle of paused queues
	Bytes    int64  `json:"bytes"`
}

func takeDeadlocks(s *telemetry.Source) Document {
	snap := s.Snapshot()
	d := &Deadlocks{Node: snap.Node, Detect: snap.Deadlock.Seconds(), Queues: []DeadlockQueue{}}
	for i := range snap.Numbers() {
		st := &snap.Stats.Ports[i]
		for prio := range st.TxFrames {
			if snap.Buffer.PFC[i]>>prio&1 == 0 {
				continue
			}
			q := DeadlockQueue{Port: snap.Ports[i], Priority: prio, Status: "operational", Found: st.Deadlocks[prio], Bytes: int64(st.QueueBytes[prio])}
			if st.Deadlocked>>prio&1 != 0 {
				q.Status = "deadlocked"
			}
			d.Queues = append(d.Queues, q)
		}
	}
	return d
}

// Table implements Document.
func (d *Deadlocks) Table(w io.Writer) {
	if d.Detect == 0 {
		fmt.Fprint(w, "Nobody looks for deadlocks (`pfc: {deadlock: 100ms}` changes that).\n\n")
	} else {
		fmt.Fprintf(w, "Queues that are paused for %v are looked at.\n\n", units.Time(d.Detect*1e6+0.5)*units.Microsecond)
	}
	t := newTable("Queue", "Status", "Found", "Bytes")
	for _, q := range d.Queues {
		t.Row(fmt.Sprintf("%s:%d", q.Port, q.Priority), q.Status, q.Found, q.Bytes)
	}
	t.Print(w)
}
