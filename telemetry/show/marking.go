package show

import (
	"fmt"
	"io"
	"strings"

	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/telemetry"
	"photon/units"
)

// Marking is `show marking`.
type Marking struct {
	Node   string         `json:"node"`
	Scheme string         `json:"scheme"`
	Judged []int          `json:"priorities"` // that the scheme's congestion points look at
	Params []MarkingParam `json:"params"`
	WRED   []WREDProfile  `json:"wred"` // of the queues that have one
	Ports  []MarkingPort  `json:"ports"`
}

// WREDProfile is the random early detection of one egress queue.
type WREDProfile struct {
	Port     string  `json:"port"`
	Priority int     `json:"priority"`
	Kmin     int64   `json:"kmin_bytes"`
	Kmax     int64   `json:"kmax_bytes"`
	Pmax     float64 `json:"pmax"`
	ECN      bool    `json:"ecn"`  // ECN-capable frames are marked
	Drop     bool    `json:"drop"` // others are dropped
}

// MarkingParam is a parameter of the scheme as it is in force.
type MarkingParam struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // where the value comes from
}

// MarkingPort is what the congestion points of one port did, by priority.
type MarkingPort struct {
	Port         string    `json:"port"`
	Marked       [8]uint64 `json:"ecn_marked_packets"`
	MarkedBytes  [8]uint64 `json:"ecn_marked_bytes"`
	Dropped      [8]uint64 `json:"wred_drop_packets"`
	Undetermined [8]uint64 `json:"undetermined_packets"` // TCD's UE
	CNMs         [8]uint64 `json:"cnm_sent"`             // QCN's notifications
	CNPs         [8]uint64 `json:"cnp_sent"`             // by the switch itself
}

func takeMarking(s *telemetry.Source) Document {
	snap := s.Snapshot()
	d := &Marking{
		Node: snap.Node, Scheme: snap.Scheme, Judged: pfc.Priorities(snap.Buffer.Judged),
		Params: []MarkingParam{}, WRED: []WREDProfile{},
	}
	for _, p := range snap.Params {
		d.Params = append(d.Params, MarkingParam{p.Name, p.Value, p.Origin})
	}
	for i := range snap.Numbers() {
		d.Ports = append(d.Ports, markingPort(snap.Ports[i], &snap.Stats.Ports[i]))
		for prio, q := range snap.Buffer.Queues[i] {
			if w := q.WRED; w != (marking.WREDParams{}) {
				d.WRED = append(d.WRED, WREDProfile{snap.Ports[i], prio, int64(w.Kmin), int64(w.Kmax), w.Pmax, !w.NoECN, !w.NoDrop})
			}
		}
	}
	return d
}

func markingPort(name string, st *fabric.PortStats) MarkingPort {
	return MarkingPort{Port: name, Marked: st.Marked, MarkedBytes: st.MarkedBytes, Dropped: st.Discards[fabric.DropWRED], Undetermined: st.Undetermined, CNMs: st.CNMs, CNPs: st.CNPs}
}

// Table implements Document. Queues whose congestion points did nothing are left out.
func (d *Marking) Table(w io.Writer) {
	fmt.Fprintf(w, "Scheme: %s\n", d.Scheme)
	if len(d.Judged) > 0 {
		fmt.Fprintf(w, "Priorities: %s\n", strings.Trim(fmt.Sprint(d.Judged), "[]"))
	}
	fmt.Fprintln(w)
	if len(d.Params) > 0 {
		t := newTable("Parameter", "Value", "Origin")
		for _, p := range d.Params {
			t.Row(p.Name, p.Value, p.Origin)
		}
		t.Print(w)
		fmt.Fprintln(w)
	}
	if len(d.WRED) > 0 {
		t := newTable("Port", "TxQ", "Kmin", "Kmax", "Pmax", "ECN", "Drop")
		on := map[bool]string{true: "on", false: "off"}
		for _, x := range d.WRED {
			t.Row(x.Port, fmt.Sprintf("UC%d", x.Priority), units.Size(x.Kmin), units.Size(x.Kmax), x.Pmax, on[x.ECN], on[x.Drop])
		}
		t.Print(w)
		fmt.Fprintln(w)
	}
	found := false
	t := newTable("Port", "TxQ", "WredDrop/pkts", "EcnMarked/pkts", "EcnMarked/bytes", "Undetermined/pkts", "CNM/pkts", "CNP/pkts")
	for _, p := range d.Ports {
		for q := range p.Marked {
			if p.Dropped[q]|p.Marked[q]|p.Undetermined[q]|p.CNMs[q]|p.CNPs[q] != 0 {
				found = true
				t.Row(p.Port, fmt.Sprintf("UC%d", q), p.Dropped[q], p.Marked[q], p.MarkedBytes[q], p.Undetermined[q], p.CNMs[q], p.CNPs[q])
			}
		}
	}
	if !found {
		fmt.Fprintln(w, "No frame was marked or dropped, and nothing was sent.")
		return
	}
	t.Print(w)
}
