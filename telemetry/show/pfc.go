package show

import (
	"io"

	"photon/telemetry"
)

// PFC is `show pfc counters`.
type PFC struct {
	Node  string    `json:"node"`
	Ports []PFCPort `json:"ports"`
}

// PFCPort is one port. The arrays are by priority; rx is what the peer did to
// this port, tx what this port did to the peer.
type PFCPort struct {
	Port          string     `json:"port"`
	Rx            [8]uint64  `json:"rx"` // frames, XOFF and XON
	Tx            [8]uint64  `json:"tx"`
	RxPaused      [8]float64 `json:"rx_paused_seconds"`
	TxPaused      [8]float64 `json:"tx_paused_seconds"`
	RxTransitions [8]uint64  `json:"rx_transitions"` // from paused to running
	TxTransitions [8]uint64  `json:"tx_transitions"`
	Control       uint64     `json:"rx_control"`     // MAC control, LLDP that is read, deadlock probes
	BadControl    uint64     `json:"rx_control_bad"` // of them, neither PFC nor PAUSE
}

func takePFC(s *telemetry.Source) Document {
	snap := s.Snapshot()
	d := &PFC{Node: snap.Node}
	for i := range snap.Numbers() {
		st := &snap.Stats.Ports[i]
		p := PFCPort{
			Port: snap.Ports[i], RxTransitions: st.Egress.Transitions, TxTransitions: st.Ingress.Transitions,
			Control: st.RxControl, BadControl: st.BadControl,
		}
		for prio := range p.Rx {
			p.Rx[prio] = st.Egress.Received(prio)
			p.Tx[prio] = st.Ingress.Pauses[prio] + st.Ingress.Resumes[prio]
			p.RxPaused[prio], p.TxPaused[prio] = st.Egress.Paused[prio].Seconds(), st.Ingress.Paused[prio].Seconds()
		}
		d.Ports = append(d.Ports, p)
	}
	return d
}

// Table implements Document.
func (d *PFC) Table(w io.Writer) {
	rx, tx := newTable(classes("Port Rx", "PFC")...), newTable(classes("Port Tx", "PFC")...)
	for _, p := range d.Ports {
		perClass(rx, p.Port, p.Rx)
		perClass(tx, p.Port, p.Tx)
	}
	rx.Print(w)
	io.WriteString(w, "\n")
	tx.Print(w)
}
