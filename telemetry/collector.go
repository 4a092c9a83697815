package telemetry

import (
	"runtime"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
)

// Snapshot is what a scrape shows, all of one instant.
type Snapshot struct {
	Node    string
	Ports   []string // names, by number
	Stats   dataplane.Stats
	Devices []dpdk.DeviceStats
	Pace    dpdk.Pace
	Host    bool        // notification and reaction points are there
	Flows   *FlowCounts // of an agent that takes orders

	// Switches only.
	Buffer      *dataplane.BufferState
	Scheme      string
	Params      []scheme.Setting
	Watchdog    pfc.WatchdogConfig
	Deadlock    units.Time // a queue that is paused for so long may be in one; 0: nobody looks
	LinkChanges []uint64   // up or down, by port
}

// FlowCounts are how many flows wait for their start and are sent, and how many
// were refused in all.
type FlowCounts struct {
	Pending, Running int
	Refused          uint64
}

// collector turns snapshots into metrics.
type collector struct {
	take    func() Snapshot
	version string
}

var (
	byPrio = []string{"node", "port", "priority"}
	byPort = []string{"node", "port"}
	byNode = []string{"node"}
)

func desc(name, help string, labels []string) *prometheus.Desc {
	return prometheus.NewDesc("photon_"+name, help, labels, nil)
}

// The names are those of docs/metrics; the words in brackets are what switches
// and cards call them.
var (
	rxPackets    = desc("port_rx_packets_total", "Frames received, MAC control frames excepted.", byPrio)
	rxBytes      = desc("port_rx_bytes_total", "Bytes received without FCS, MAC control frames excepted.", byPrio)
	txPackets    = desc("port_tx_packets_total", "Frames sent, MAC control frames excepted.", byPrio)
	txBytes      = desc("port_tx_bytes_total", "Bytes sent without FCS, MAC control frames excepted.", byPrio)
	rxControl    = desc("port_rx_control_packets_total", "MAC control frames received.", byPort)
	txControl    = desc("port_tx_control_packets_total", "MAC control frames sent.", byPort)
	routed       = desc("port_routed_packets_total", "Packets received that were forwarded by their IP address.", byPort)
	discards     = desc("port_discards_total", "Frames discarded, by reason.", append(byPrio, "reason"))
	pfcRxFrames  = desc("pfc_rx_frames_total", "PFC frames received for a priority, XOFF and XON (mlx5: rx_prioN_pause).", byPrio)
	pfcTxFrames  = desc("pfc_tx_frames_total", "PFC frames sent for a priority, XOFF and XON (mlx5: tx_prioN_pause).", byPrio)
	pfcRxPaused  = desc("pfc_rx_paused_seconds_total", "Time for which the peer stopped a priority (mlx5: rx_prioN_pause_duration).", byPrio)
	pfcTxPaused  = desc("pfc_tx_paused_seconds_total", "Time for which this port stopped its peer's priority.", byPrio)
	pfcRxChanges = desc("pfc_rx_transitions_total", "Resumptions of a priority that the peer had stopped (mlx5: rx_prioN_pause_transition; SAI: ON2OFF).", byPrio)
	pfcTxChanges = desc("pfc_tx_transitions_total", "Resumptions of a peer's priority that this port had stopped.", byPrio)
	storms       = desc("pfc_watchdog_storms_total", "Storms of PAUSE that the watchdog detected (SONiC: show pfcwd stats).", append(byPrio, "action"))
	restored     = desc("pfc_watchdog_restored_total", "Storms that have ended.", byPrio)
	stormTime    = desc("pfc_watchdog_storm_seconds_total", "Time spent in storms, from detection to restoration.", byPrio)
	stormNow     = desc("pfc_watchdog_storm", "1 while the peer storms.", byPrio)
	queueBytes   = desc("queue_bytes", "Bytes in an egress queue (SAI: CURR_OCCUPANCY_BYTES).", byPrio)
	queuePeak    = desc("queue_watermark_bytes", "Most bytes that were in an egress queue (SONiC: queue watermark).", byPrio)
	ingressBytes = desc("ingress_buffer_bytes", "Bytes that came in through a port and have not left the switch.", byPrio)
	ingressPeak  = desc("ingress_buffer_watermark_bytes", "Most bytes that were buffered for an ingress port.", byPrio)
	ecnPackets   = desc("queue_ecn_marked_packets_total", "Frames marked CE (SAI: WRED_ECN_MARKED_PACKETS).", byPrio)
	ecnBytes     = desc("queue_ecn_marked_bytes_total", "Bytes of frames marked CE.", byPrio)
	undetermined = desc("queue_undetermined_marked_packets_total", "Frames marked undetermined, UE (TCD).", byPrio)
	cnmSent      = desc("cp_cnm_sent_total", "Congestion notification messages that a queue of the switch sent (QCN).", byPrio)
	cnpSent      = desc("cp_cnp_sent_total", "CNPs that the switch itself sent for a queue (PACC).", byPrio)

	npMarked  = desc("np_ecn_marked_packets_total", "Data frames received with CE (mlx5: np_ecn_marked_roce_packets).", byNode)
	npSent    = desc("np_cnp_sent_total", "CNPs sent (mlx5: np_cnp_sent).", byNode)
	rpHandled = desc("rp_cnp_handled_total", "CNPs given to a reaction point (mlx5: rp_cnp_handled).", byNode)
	rpIgnored = desc("rp_cnp_ignored_total", "CNPs for flows that are not sent from here, or broken ones (mlx5: rp_cnp_ignored).", byNode)
	rpRate    = desc("rp_rate_bytes_per_second", "Rates that the reaction points allow the flows being sent, in bytes on the wire.", byNode)
	begun     = desc("flows_started_total", "Flows taken up.", byNode)
	done      = desc("flows_completed_total", "Flows whose last packet was acknowledged.", byNode)
	refused   = desc("flows_refused_total", "Flows that could not be taken up: no room, or their queue pair was in use.", byNode)
	pending   = desc("flows_pending", "Flows that wait for their start.", byNode)
	running   = desc("flows_running", "Flows that are sent.", byNode)
	limited   = desc("rp_limited_flows", "Flows that a rate limiter is associated with: their reaction point holds them below the line's rate.", byNode)
	fcts      = desc("flow_completion_seconds", "Flow completion times, first bit out to last acknowledgement in.", byNode)

	devUp       = desc("device_up", "Whether the device has a link.", byPort)
	devMissed   = desc("device_rx_missed_total", "Frames that the card or the kernel dropped before photon could take them.", byPort)
	devNoBuffer = desc("device_rx_nobuffer_total", "Frames dropped because no frame buffer was free.", byPort)
	devTooLong  = desc("device_rx_too_long_total", "Frames longer than a frame buffer, dropped.", byPort)
	devErrors   = desc("device_errors_total", "Errors that the driver counts.", append(byPort, "direction"))

	rounds    = desc("worker_rounds_total", "Polls of all workers.", byNode)
	longest   = desc("worker_poll_gap_max_seconds", "Longest time between two polls of a worker so far.", byNode)
	buildInfo = desc("build_info", "1, with the versions as labels.", []string{"version", "go", "dpdk"})
)

// Describe implements prometheus.Collector: the metrics vary with the node.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := c.take()
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for i := range s.Stats.Ports {
		p, name := &s.Stats.Ports[i], s.Ports[i]
		counter(rxControl, float64(p.RxControl), s.Node, name)
		counter(txControl, float64(p.TxControl), s.Node, name)
		if !s.Host {
			counter(routed, float64(p.Routed), s.Node, name)
		}
		for prio := range pfc.Classes {
			labels := []string{s.Node, name, strconv.Itoa(prio)}
			counter(rxPackets, float64(p.RxFrames[prio]), labels...)
			counter(rxBytes, float64(p.RxBytes[prio]), labels...)
			counter(txPackets, float64(p.TxFrames[prio]), labels...)
			counter(txBytes, float64(p.TxBytes[prio]), labels...)
			counter(pfcRxFrames, float64(p.Egress.Pauses[prio]+p.Egress.Resumes[prio]), labels...)
			counter(pfcRxPaused, p.Egress.Paused[prio].Seconds(), labels...)
			counter(pfcRxChanges, float64(p.Egress.Transitions[prio]), labels...)
			for reason := range dataplane.Reasons {
				if n := p.Discards[reason][prio]; n > 0 {
					counter(discards, float64(n), append(labels, reason.String())...)
				}
			}
			if s.Host {
				continue
			}
			counter(pfcTxFrames, float64(p.Ingress.Pauses[prio]+p.Ingress.Resumes[prio]), labels...)
			counter(pfcTxPaused, p.Ingress.Paused[prio].Seconds(), labels...)
			counter(pfcTxChanges, float64(p.Ingress.Transitions[prio]), labels...)
			if s.Watchdog.Detect > 0 && s.Buffer.Lossless>>prio&1 != 0 {
				counter(storms, float64(p.Watchdog.Storms[prio]), append(labels, s.Watchdog.Action.String())...)
				counter(restored, float64(p.Watchdog.Restored[prio]), labels...)
				counter(stormTime, p.Watchdog.Time[prio].Seconds(), labels...)
				gauge(stormNow, float64(p.Watchdog.Storm>>prio&1), labels...)
			}
			gauge(queueBytes, float64(p.QueueBytes[prio]), labels...)
			gauge(queuePeak, float64(p.QueuePeak[prio]), labels...)
			gauge(ingressBytes, float64(p.Buffered[prio]), labels...)
			gauge(ingressPeak, float64(p.Ingress.Peak[prio]), labels...)
			counter(ecnPackets, float64(p.Marked[prio]), labels...)
			counter(ecnBytes, float64(p.MarkedBytes[prio]), labels...)
			counter(undetermined, float64(p.Undetermined[prio]), labels...)
			counter(cnmSent, float64(p.CNMs[prio]), labels...)
			counter(cnpSent, float64(p.CNPs[prio]), labels...)
		}
	}
	if s.Host {
		counter(npMarked, float64(s.Stats.NPMarked), s.Node)
		counter(npSent, float64(s.Stats.NPSent), s.Node)
		counter(rpHandled, float64(s.Stats.RPHandled), s.Node)
		counter(rpIgnored, float64(s.Stats.RPIgnored), s.Node)
		counter(begun, float64(s.Stats.FlowsBegun), s.Node)
		counter(done, float64(s.Stats.FlowsDone), s.Node)
		out <- rateHistogram(&s)
		gauge(limited, float64(s.Stats.Limited), s.Node)
		out <- fctHistogram(&s)
		if f := s.Flows; f != nil {
			gauge(pending, float64(f.Pending), s.Node)
			gauge(running, float64(f.Running), s.Node)
			counter(refused, float64(f.Refused), s.Node)
		}
	}
	for i, d := range s.Devices {
		up := 0.0
		if d.LinkUp {
			up = 1
		}
		gauge(devUp, up, s.Node, s.Ports[i])
		counter(devMissed, float64(d.RxMissed), s.Node, s.Ports[i])
		counter(devNoBuffer, float64(d.RxNoBuffer), s.Node, s.Ports[i])
		counter(devErrors, float64(d.RxErrors), s.Node, s.Ports[i], "rx")
		counter(devErrors, float64(d.TxErrors), s.Node, s.Ports[i], "tx")
		counter(devTooLong, float64(d.RxTooLong), s.Node, s.Ports[i])
	}
	counter(rounds, float64(s.Pace.Rounds), s.Node)
	gauge(longest, s.Pace.LongestGap.Seconds(), s.Node)
	gauge(buildInfo, 1, c.version, runtime.Version(), dpdk.Version())
}

// rateHistogram shows how the allowed rates are spread.
func rateHistogram(s *Snapshot) prometheus.Metric {
	buckets := map[float64]uint64{}
	total := uint64(0)
	for i, bound := range dataplane.RateBounds {
		total += s.Stats.FlowRates[i]
		buckets[float64(bound)/8] = total
	}
	total += s.Stats.FlowRates[len(dataplane.RateBounds)]
	return prometheus.MustNewConstHistogram(rpRate, total, float64(s.Stats.RateSum)/8, buckets, s.Node)
}

// fctHistogram shows how the flow completion times are spread.
func fctHistogram(s *Snapshot) prometheus.Metric {
	buckets := map[float64]uint64{}
	total := uint64(0)
	for i, bound := range dataplane.FCTBounds {
		total += s.Stats.FCTs[i]
		buckets[bound.Seconds()] = total
	}
	total += s.Stats.FCTs[len(dataplane.FCTBounds)]
	return prometheus.MustNewConstHistogram(fcts, total, s.Stats.FCTSum.Seconds(), buckets, s.Node)
}
