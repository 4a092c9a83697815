package show

import (
	"io"
	"strings"

	"photon/telemetry"
	"photon/units"
)

// Ports is `show ports`.
type Ports struct {
	Node  string       `json:"node"`
	Ports []PortStatus `json:"ports"`
}

// PortStatus is one port.
type PortStatus struct {
	Port     string `json:"port"`
	Device   string `json:"device"`
	Up       bool   `json:"up"`
	Admin    bool   `json:"admin_up"`     // no operator has shut it
	Rate     int64  `json:"rate_bps"`     // as the device says; 0: it does not
	Changes  uint64 `json:"link_changes"` // since the start
	Rx       uint64 `json:"rx_packets"`   // MAC control frames included
	Tx       uint64 `json:"tx_packets"`
	Discards uint64 `json:"discards"`            // by the node, all reasons
	Missed   uint64 `json:"rx_missed"`           // dropped before photon could take them
	Flow     string `json:"device_flow_control"` // see dpdk.FlowControl
}

func takePorts(s *telemetry.Source) Document {
	snap := s.Snapshot()
	d := &Ports{Node: snap.Node}
	for i := range snap.Numbers() {
		st := &snap.Stats.Ports[i]
		p := PortStatus{Port: snap.Ports[i], Admin: i >= len(snap.Shut) || !snap.Shut[i]}
		p.Tx, p.Rx = st.Frames()
		for _, n := range st.Discarded() {
			p.Discards += n
		}
		if i < len(snap.Devices) {
			dev := &snap.Devices[i]
			p.Device, p.Up, p.Rate, p.Missed = dev.Spec, dev.LinkUp, int64(dev.Rate), dev.RxMissed+dev.RxNoBuffer
			p.Flow = dev.FlowControl.String()
		}
		if i < len(snap.LinkChanges) {
			p.Changes = snap.LinkChanges[i]
		}
		d.Ports = append(d.Ports, p)
	}
	return d
}

// Table implements Document.
func (d *Ports) Table(w io.Writer) {
	t := newTable("Port", "Device", "Oper", "Admin", "Speed", "Changes", "RX/pkts", "TX/pkts", "Drop/pkts", "Missed/pkts", "Flow control")
	for _, p := range d.Ports {
		oper, admin, speed := "down", "down", "N/A"
		if p.Admin {
			admin = "up"
		}
		if p.Up {
			oper = "up"
		}
		if p.Rate > 0 {
			speed = units.Rate(p.Rate).String()
		}
		t.Row(p.Port, p.Device, oper, admin, speed, p.Changes, p.Rx, p.Tx, p.Discards, p.Missed, strings.ReplaceAll(p.Flow, "_", " "))
	}
	t.Print(w)
}
