package show

import (
	"fmt"
	"io"

	"photon/fabric"
	"photon/telemetry"
	"photon/units"
)

// PFCWD is `show pfcwd`.
type PFCWD struct {
	Node    string       `json:"node"`
	On      bool         `json:"on"`
	Action  string       `json:"action"`
	Detect  float64      `json:"detection_seconds"`
	Restore float64      `json:"restoration_seconds"`
	Queues  []PFCWDQueue `json:"queues"` // the lossless ones
}

// PFCWDQueue is one lossless egress queue.
type PFCWDQueue struct {
	Port     string  `json:"port"`
	Priority int     `json:"priority"`
	Status   string  `json:"status"` // operational or stormed
	Storms   uint64  `json:"storms"`
	Restored uint64  `json:"restored"`
	Time     float64 `json:"storm_seconds"`
	Sent     uint64  `json:"tx_packets"`
	Dropped  uint64  `json:"drop_packets"` // by the watchdog
}

func takePFCWD(s *telemetry.Source) Document {
	snap := s.Snapshot()
	w := snap.Watchdog
	d := &PFCWD{Node: snap.Node, On: w.Detect > 0, Queues: []PFCWDQueue{}}
	if !d.On {
		return d
	}
	d.Action, d.Detect, d.Restore = w.Action.String(), w.Detect.Seconds(), w.Restore.Seconds()
	for i := range snap.Numbers() {
		st := &snap.Stats.Ports[i]
		for prio := range st.TxFrames {
			if snap.Buffer.PFC[i]>>prio&1 == 0 {
				continue
			}
			q := PFCWDQueue{
				Port: snap.Ports[i], Priority: prio, Status: "operational", Storms: st.Watchdog.Storms[prio], Restored: st.Watchdog.Restored[prio],
				Time: st.Watchdog.Time[prio].Seconds(), Sent: st.TxFrames[prio], Dropped: st.Discards[fabric.DropStorm][prio],
			}
			if st.Watchdog.Storm>>prio&1 != 0 {
				q.Status = "stormed"
			}
			d.Queues = append(d.Queues, q)
		}
	}
	return d
}

// Table implements Document.
func (d *PFCWD) Table(w io.Writer) {
	if !d.On {
		fmt.Fprintln(w, "The watchdog is off (`pfc: {watchdog: {detect: 400ms, restore: 400ms, action: drop}}` turns it on).")
		return
	}
	span := func(seconds float64) units.Time { return units.Time(seconds*1e9+0.5) * units.Nanosecond }
	t := newTable("Action", "Detection time", "Restoration time")
	t.Row(d.Action, span(d.Detect), span(d.Restore))
	t.Print(w)
	fmt.Fprintln(w)
	t = newTable("Queue", "Status", "Storm detected/restored", "Storm time", "TX OK/drop")
	for _, q := range d.Queues {
		t.Row(fmt.Sprintf("%s:%d", q.Port, q.Priority), q.Status, fmt.Sprintf("%d/%d", q.Storms, q.Restored), span(q.Time), fmt.Sprintf("%d/%d", q.Sent, q.Dropped))
	}
	t.Print(w)
}
