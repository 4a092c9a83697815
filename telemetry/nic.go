package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"photon/dataplane"
)

// What a NIC counts of the applications behind it.
var (
	nicFlows     = desc("nic_flows", "Flows of applications that are known, by direction.", append(byNode, "direction"))
	nicQueued    = desc("nic_queued_packets", "Frames of applications that wait for the wire.", byNode)
	nicControl   = desc("nic_control_packets_total", "Frames of applications that passed unpaced: not IP, group addresses, neighbour discovery.", byNode)
	nicECT       = desc("nic_ecn_set_packets_total", "Frames of applications that were made ECN-capable, or differently so, on their way out.", byNode)
	nicCleared   = desc("nic_ecn_cleared_packets_total", "Frames whose mark was taken off on their way to the application.", byNode)
	nicUntracked = desc("nic_np_untracked_packets_total", "Frames that the notification point had no room for; they were delivered.", byNode)
	nicReleased  = desc("nic_rp_released_total", "Flows set back to line rate because notifications stayed away.", byNode)
	nicRefused   = desc("nic_cnp_refused_total", "CNPs and CNMs that changed nothing, by reason.", append(byNode, "reason"))
	nicHolds     = desc("nic_application_holds_total", "Times the application's port was held because too much waited.", byNode)
	nicHeld      = desc("nic_application_held_seconds_total", "Time for which it was held.", byNode)
)

func collectNIC(s *Snapshot, counter, gauge func(d *prometheus.Desc, v float64, labels ...string)) {
	n := &s.Stats.NIC
	gauge(nicFlows, float64(n.Flows), s.Node, "tx")
	gauge(nicFlows, float64(n.Received), s.Node, "rx")
	gauge(nicQueued, float64(n.Queued), s.Node)
	counter(nicControl, float64(n.Control), s.Node)
	counter(nicECT, float64(n.ECT), s.Node)
	counter(nicCleared, float64(n.Cleared), s.Node)
	counter(nicUntracked, float64(n.Untracked), s.Node)
	counter(nicReleased, float64(n.Released), s.Node)
	for why := range dataplane.CNPRefusals {
		counter(nicRefused, float64(n.Refused[why]), s.Node, why.String())
	}
	counter(nicHolds, float64(n.Holds), s.Node)
	counter(nicHeld, n.Held.Seconds(), s.Node)
}
