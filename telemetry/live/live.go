// Package live has what a view that moves needs of a node, for `photon top` and the page
// in a browser.
package live

import (
	"time"

	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/pfc"
	"photon/telemetry"
	"photon/units"
)

// Node is what a view that moves needs: counters of one instant, to be compared
// with those of the instant before. Arrays are by priority.
type Node struct {
	Node   string  `json:"node"`
	Host   bool    `json:"host"` // an agent; else a switch
	Scheme string  `json:"scheme"`
	Now    float64 `json:"now_seconds"` // of the node's clock
	Began  int64   `json:"began_ms"`    // when its process began, in Unix time: another is another process
	Ports  []Port  `json:"ports"`
	Poll   Poll    `json:"poll"`

	Response float64 `json:"pfc_response_seconds,omitempty"` // poll gap that the headroom has room for; 0: unknown
	Watchdog string  `json:"watchdog,omitempty"`             // what it does with a storm; empty: there is none

	// Agents only.
	Active  int              `json:"flows_active"`
	Done    uint64           `json:"flows_completed"`
	Sent    uint64           `json:"np_cnp_sent"`
	Handled uint64           `json:"rp_cnp_handled"`
	Flows   []telemetry.Flow `json:"flows,omitempty"` // those that are allowed most; not of the same instant
}

// Port is one port.
type Port struct {
	Port        string     `json:"port"`
	Up          bool       `json:"up"`
	Rate        int64      `json:"rate_bps"` // of the link as configured
	Missed      uint64     `json:"rx_missed"`
	RxPackets   [8]uint64  `json:"rx_packets"`
	TxPackets   [8]uint64  `json:"tx_packets"`
	RxBytes     [8]uint64  `json:"rx_bytes"` // without FCS
	TxBytes     [8]uint64  `json:"tx_bytes"`
	Queue       [8]int64   `json:"queue_bytes"`
	Peak        [8]int64   `json:"queue_watermark_bytes"`
	Full        [8]int64   `json:"full_bytes"` // XOFF where a priority is lossless, else where its queue drops; 0: no queues here
	Buffered    [8]int64   `json:"ingress_buffer_bytes"`
	Headroom    [8]int64   `json:"headroom_bytes"` // used
	Marked      [8]uint64  `json:"ecn_marked_packets"`
	Discards    [8]uint64  `json:"discards"`
	RxPausedNow uint8      `json:"rx_paused"` // priorities that the peer has stopped, as bits
	TxPausedNow uint8      `json:"tx_paused"` // whose peer this port has stopped
	RxPaused    [8]float64 `json:"rx_paused_seconds"`
	TxPaused    [8]float64 `json:"tx_paused_seconds"`
	Lossless    uint8      `json:"lossless"` // priorities, as bits

	RxPFC      [8]uint64 `json:"pfc_rx_frames"` // XOFF and XON
	TxPFC      [8]uint64 `json:"pfc_tx_frames"`
	Notified   [8]uint64 `json:"cp_notifications_sent"` // CNMs and CNPs that the switch itself sent for a queue
	Storm      uint8     `json:"storm"`                 // priorities whose peer storms now, as bits
	Storms     [8]uint64 `json:"storms"`                // that the watchdog detected
	Deadlocked uint8     `json:"deadlocked"`            // priorities in a cycle of paused queues, as bits
}

// Poll is how regularly the workers poll.
type Poll struct {
	Rounds  uint64    `json:"rounds"`
	Longest float64   `json:"longest_gap_seconds"` // so far
	Bounds  []float64 `json:"gap_bounds_seconds"`  // of the counts; the last has none
	Gaps    []uint64  `json:"gaps"`                // of all workers, each of what is below its bound and not below the one before
}

var began = time.Now().UnixMilli()

// Take asks a node; top is how many flows of an agent are listed.
func Take(s *telemetry.Source, top int) *Node {
	snap := s.Snapshot()
	d := &Node{Node: snap.Node, Host: snap.Host, Scheme: snap.Scheme, Now: units.SinceBegan(snap.Laps, snap.Now), Began: began, Done: snap.Stats.FlowsDone}
	d.Sent, d.Handled, d.Response = snap.Stats.NPSent, snap.Stats.RPHandled, snap.Response.Seconds()
	if snap.Watchdog.Detect > 0 {
		d.Watchdog = snap.Watchdog.Action.String()
	}
	d.Poll = Poll{Rounds: snap.Pace.Rounds, Longest: snap.Pace.LongestGap.Seconds()}
	d.Poll.Bounds = telemetry.GapBounds()
	var all dpdk.Polls
	for i := range snap.Polls {
		all.Add(&snap.Polls[i])
	}
	d.Poll.Gaps = all.Gaps[:]
	for i := range snap.Numbers() {
		p := livePort(&snap.Stats.Ports[i], snap.Buffer, i)
		p.Port = snap.Ports[i]
		if i < len(snap.Rates) {
			p.Rate = int64(snap.Rates[i])
		}
		if i < len(snap.Devices) {
			p.Up, p.Missed = snap.Devices[i].LinkUp, snap.Devices[i].RxMissed+snap.Devices[i].RxNoBuffer
		}
		p.Lossless = snap.Lossless
		if b := snap.Buffer; b != nil {
			p.Lossless = b.Ports[i]
		}
		d.Ports = append(d.Ports, p)
	}
	if s.Flows != nil {
		survey := s.Flows(top)
		d.Active, d.Flows = survey.Active, survey.Top
	}
	return d
}

func livePort(st *fabric.PortStats, b *dataplane.BufferState, port int) Port {
	p := Port{
		RxPackets: st.RxFrames, TxPackets: st.TxFrames, RxBytes: st.RxBytes, TxBytes: st.TxBytes, Queue: telemetry.Bare(st.QueueBytes), Peak: telemetry.Bare(st.QueuePeak), Buffered: telemetry.Bare(st.Buffered),
		Headroom: telemetry.Bare(st.Ingress.Headroom), Marked: st.Marked, Discards: st.Discarded(), RxPausedNow: st.Egress.PausedNow, TxPausedNow: st.Ingress.PausedNow,
		Storm: st.Watchdog.Storm, Storms: st.Watchdog.Storms, Deadlocked: st.Deadlocked,
	}
	for prio := range pfc.Classes {
		p.RxPFC[prio], p.TxPFC[prio] = st.Egress.Received(prio), st.Ingress.Pauses[prio]+st.Ingress.Resumes[prio]
		p.Notified[prio] = st.CNMs[prio] + st.CNPs[prio]
		p.RxPaused[prio], p.TxPaused[prio] = st.Egress.Paused[prio].Seconds(), st.Ingress.Paused[prio].Seconds()
		switch {
		case b == nil:
		case b.Ports[port]>>prio&1 != 0:
			p.Full[prio] = int64(b.Thresholds[port][prio].XOFF)
		default:
			p.Full[prio] = int64(b.Tail)
		}
	}
	return p
}

// MaxTop is the most flows that can be asked for.
const MaxTop = 1000
