package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"photon/dataplane"
	"photon/telemetry"
)

// kind is what Prometheus takes a metric for.
type kind string

const (
	counterKind   kind = "counter"
	gaugeKind     kind = "gauge"
	histogramKind kind = "histogram"
)

// metric is what /metrics says of one thing: the same table makes the scrape and
// docs/metrics.md.
type metric struct {
	name   string // with photon_
	kind   kind
	of     owner
	labels []string
	help   string // a sentence
	known  string // what others call it; may be empty
	desc   *prometheus.Desc

	buckets []float64 // upper bounds, of histograms
}

// Metrics by their order in docs/metrics.md; a section begins where one is named.
var (
	metrics  []*metric
	sections = map[*metric]string{}
)

// Labels. The node is the name in its configuration, the port what `photon show
// ports` calls it.
var (
	byNode      = []string{"node"}
	byPort      = []string{"node", "port"}
	byPrio      = []string{"node", "port", "priority"}
	byWorker    = []string{"node", "worker"}
	byFlow      = []string{"node", "peer", "qp"}
	withDone    = []string{"node", "port", "action"}
	withReason  = []string{"node", "port", "priority", "reason"}
	byState     = []string{"node", "state"}
	withAction  = []string{"node", "port", "priority", "action"}
	withFeature = []string{"node", "port", "feature"}
	withState   = []string{"node", "port", "state"}
)

func define(of owner, k kind, name string, labels []string, help, known string) *metric {
	m := &metric{name: "photon_" + name, kind: k, of: of, labels: labels, help: help, known: known}
	text := help
	if known != "" {
		text = strings.TrimSuffix(help, ".") + " (" + known + ")."
	}
	m.desc = prometheus.NewDesc(m.name, text, labels, nil)
	metrics = append(metrics, m)
	return m
}

func histogram(of owner, name string, buckets []float64, labels []string, help string) *metric {
	m := define(of, histogramKind, name, labels, help, "")
	m.buckets = buckets
	return m
}

// section puts a metric, and those defined after it, under a heading.
func section(title string, m *metric) *metric {
	sections[m] = title
	return m
}

var (
	rxPackets   = section("Ports", define(both, counterKind, "port_rx_packets_total", byPrio, "Frames received, MAC control frames excepted.", "mlx5: rx_prioN_packets"))
	rxBytes     = define(both, counterKind, "port_rx_bytes_total", byPrio, "Bytes received without FCS, MAC control frames excepted.", "mlx5: rx_prioN_bytes")
	txPackets   = define(both, counterKind, "port_tx_packets_total", byPrio, "Frames sent, MAC control frames excepted.", "mlx5: tx_prioN_packets")
	txBytes     = define(both, counterKind, "port_tx_bytes_total", byPrio, "Bytes sent without FCS, MAC control frames excepted.", "mlx5: tx_prioN_bytes")
	rxControl   = define(both, counterKind, "port_rx_control_packets_total", byPort, "MAC control frames, and probes for deadlocks, received.", "")
	txControl   = define(both, counterKind, "port_tx_control_packets_total", byPort, "MAC control frames, and probes for deadlocks, sent.", "")
	rxBad       = define(both, counterKind, "port_rx_control_bad_packets_total", byPort, "MAC control frames received that are neither PFC, PAUSE nor a probe.", "")
	routed      = define(switches, counterKind, "port_routed_packets_total", byPort, "Packets received that were forwarded by their IP address.", "")
	icmpSent    = define(switches, counterKind, "port_icmp_errors_total", byPort, "ICMP errors that the router sent because of packets that came through the port.", "")
	icmpLimited = define(switches, counterKind, "port_icmp_errors_limited_total", byPort, "ICMP errors that it did not send, because it had sent as many as it may (`router: icmp: rate`).", "")
	discards    = define(both, counterKind, "port_discards_total", withReason, "Frames discarded, by reason. Reasons that cost a lossless priority frames are there from the start, others when they first happen.", "mlx5: rx_prioN_discards")
	lostFirst   = define(switches, gaugeKind, "port_lossless_first_loss_timestamp_seconds", byPrio, "When the first frame of a lossless priority was lost (reasons headroom, no_memory, pfc_watchdog and link_down of `photon_port_discards_total`), in seconds since 1970; 0: none was.", "")

	pfcRxFrames  = section("Priority flow control", define(both, counterKind, "pfc_rx_frames_total", byPrio, "PFC frames received for a priority, XOFF and XON.", "mlx5: rx_prioN_pause; SAI: PFC_N_RX_PKTS"))
	pfcIgnored   = define(both, counterKind, "pfc_rx_ignored_frames_total", byPort, "PFC frames received for priorities without PFC, and PAUSE frames where PFC is on: they pause nothing.", "")
	pfcRxPaused  = define(both, counterKind, "pfc_rx_paused_seconds_total", byPrio, "Time for which the peer stopped a priority of this port.", "mlx5: rx_prioN_pause_duration, there in microseconds")
	pfcRxChanges = define(both, counterKind, "pfc_rx_transitions_total", byPrio, "Resumptions of a priority that the peer had stopped.", "mlx5: rx_prioN_pause_transition; SAI: PFC_N_ON2OFF_RX_PKTS")
	pfcTxFrames  = define(carriers, counterKind, "pfc_tx_frames_total", byPrio, "PFC frames sent for a priority, XOFF and XON.", "mlx5: tx_prioN_pause; SAI: PFC_N_TX_PKTS")
	pfcTxPaused  = define(carriers, counterKind, "pfc_tx_paused_seconds_total", byPrio, "Time for which this port stopped its peer's priority.", "mlx5: tx_prioN_pause_duration, there in microseconds")
	pfcTxChanges = define(carriers, counterKind, "pfc_tx_transitions_total", byPrio, "Resumptions of a peer's priority that this port had stopped.", "")
	storms       = define(switches, counterKind, "pfc_watchdog_storms_total", withAction, "Storms of PAUSE that the watchdog detected; only with a watchdog, and of lossless priorities.", "SONiC: show pfcwd stats")
	restored     = define(switches, counterKind, "pfc_watchdog_restored_total", byPrio, "Storms that have ended.", "SONiC: show pfcwd stats")
	stormTime    = define(switches, counterKind, "pfc_watchdog_storm_seconds_total", byPrio, "Time spent in storms, from detection to restoration.", "")
	stormNow     = define(switches, gaugeKind, "pfc_watchdog_storm", byPrio, "1 while the peer storms.", "")
	deadlocks    = define(switches, counterKind, "pfc_deadlocks_total", byPrio, "How often an egress queue was found in a cycle of paused queues; of lossless priorities, unless `pfc: deadlock` is 0s.", "")
	deadlockNow  = define(switches, gaugeKind, "pfc_deadlock", byPrio, "1 while the queue is in such a cycle.", "")
	impaired     = define(switches, counterKind, "port_impaired_frames_total", withDone, "Frames that came to a port and to which something was done on purpose (`impair:`); only of ports where it was.", "")

	creditTx      = section("Credits", define(both, counterKind, "credits_tx_packets_total", byPort, "Flow control packets sent. All of this is there where links have credits in place of PFC: between nodes of one process, and in virtual time.", ""))
	creditRx      = define(both, counterKind, "credits_rx_packets_total", byPort, "Flow control packets received.", "")
	creditWaits   = define(both, counterKind, "credits_waits_total", byPrio, "How often a priority had something to send and no credits for it.", "InfiniBand: PortXmitWait counts ticks of it")
	creditWaited  = define(both, counterKind, "credits_waited_seconds_total", byPrio, "Time for which credits were waited for.", "InfiniBand: PortXmitWait, there in ticks")
	creditWaiting = define(both, gaugeKind, "credits_waiting", byPrio, "1 while credits are waited for.", "")
	creditBlocks  = define(both, gaugeKind, "credits_blocks", byPrio, "Blocks of 64 bytes that may be sent.", "")
	creditLost    = define(both, counterKind, "credits_lost_blocks_total", byPrio, "Blocks that the peer sent and that did not arrive, as its flow control packets tell.", "")

	queueBytes   = section("Queues and buffer", define(carriers, gaugeKind, "queue_bytes", byPrio, "Bytes in an egress queue.", "SAI: QUEUE_STAT_CURR_OCCUPANCY_BYTES"))
	queuePeak    = define(carriers, gaugeKind, "queue_watermark_bytes", byPrio, "Most bytes that were in an egress queue.", "SAI: QUEUE_STAT_WATERMARK_BYTES; SONiC: show queue watermark")
	shaped       = define(switches, counterKind, "queue_shaped_packets_total", byPrio, "Frames that were next in an egress queue, and had to wait for its shaper's tokens; only of queues with a shaper.", "")
	shapedRate   = define(switches, gaugeKind, "queue_shaper_rate_bytes_per_second", byPrio, "Rate of a queue's shaper, on the wire; the same.", "SONiC: pir of a SCHEDULER")
	portShaped   = define(switches, counterKind, "port_shaped_packets_total", byPort, "How often a port with frames to send had to wait for its shaper's tokens; only of ports with a shaper.", "")
	portRate     = define(switches, gaugeKind, "port_shaper_rate_bytes_per_second", byPort, "Rate of a port's shaper, on the wire; the same.", "SONiC: pir of a port's SCHEDULER")
	ingressBytes = define(carriers, gaugeKind, "ingress_buffer_bytes", byPrio, "Bytes that came in through a port and have not left the switch.", "SAI: INGRESS_PRIORITY_GROUP_STAT_CURR_OCCUPANCY_BYTES")
	ingressPeak  = define(carriers, gaugeKind, "ingress_buffer_watermark_bytes", byPrio, "Most bytes that were buffered for an ingress port.", "SAI: INGRESS_PRIORITY_GROUP_STAT_WATERMARK_BYTES")
	residence    = histogram(switches, "residence_seconds", telemetry.GapBounds(), byPort, "How long frames were in the switch that left by the port: from the poll that took them from a device to the end of the one that gave them to another. One frame in a millisecond and worker is followed.")
	xoffBytes    = define(switches, gaugeKind, "ingress_xoff_bytes", byPrio, "Bytes buffered for an ingress port beyond which it sends XOFF, what `pfc: alpha` adds excepted; of lossless priorities.", "SONiC: xoff of a buffer profile")
	roomSize     = define(switches, gaugeKind, "ingress_headroom_size_bytes", byPrio, "Headroom: bytes that fit beyond XOFF before frames are lost; of lossless priorities.", "SONiC: size of a buffer profile")
	roomUsed     = define(switches, gaugeKind, "ingress_headroom_bytes", byPrio, "Bytes in the headroom; of lossless priorities.", "SAI: INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES")
	roomPeak     = define(switches, gaugeKind, "ingress_headroom_watermark_bytes", byPrio, "Most bytes that were in the headroom; of lossless priorities.", "SAI: INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES; SONiC: show priority-group watermark headroom")
	lossyLimit   = define(switches, gaugeKind, "ingress_lossy_limit_bytes", byPort, "What lossy frames that came in through a port may take of the buffer, as it is now; only of ports with a limit (`lossy_ingress:`).", "SONiC: static_th and dynamic_th of an ingress lossy profile")
	lossyIn      = define(switches, gaugeKind, "ingress_lossy_bytes", byPort, "What they take; the same.", "")
	queueMin     = define(switches, gaugeKind, "queue_min_bytes", byPrio, "What is set aside of the buffer for the lossy frames of an egress queue; only of queues with a `min`.", "SONiC: size of an egress queue's buffer profile")
	queueAlpha   = define(switches, gaugeKind, "queue_alpha", byPrio, "Part of what is free of the shared buffer beyond which an egress queue drops lossy frames; only of queues with an alpha of their own.", "SONiC: dynamic_th of it, its logarithm")
	headSize     = define(switches, gaugeKind, "buffer_headroom_size_bytes", byNode, "Part of the buffer that is set aside for headroom: of all ports and lossless priorities, or what they share (`pfc: headroom_pool`).", "SONiC: xoff of ingress_lossless_pool")
	headUsed     = define(switches, gaugeKind, "buffer_headroom_bytes", byNode, "Bytes in it.", "SAI: BUFFER_POOL_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES")
	headPeak     = define(switches, gaugeKind, "buffer_headroom_watermark_bytes", byNode, "Most bytes that were in it.", "SAI: BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES; SONiC: show headroom-pool watermark")
	lossyPeak    = define(switches, gaugeKind, "buffer_lossy_watermark_bytes", byNode, "Most bytes that were in the part that lossy priorities share.", "SAI: BUFFER_POOL_STAT_WATERMARK_BYTES; SONiC: show buffer_pool watermark")
	lossySize    = define(switches, gaugeKind, "buffer_lossy_size_bytes", byNode, "Part of the buffer that lossy priorities share.", "")
	lossyUsed    = define(switches, gaugeKind, "buffer_lossy_bytes", byNode, "Bytes in it.", "")

	neighbours = section("Neighbours", define(switches, gaugeKind, "neighbours", byState, "Next hops that the switch asks for, by state: reachable, probe, incomplete, failed.", ""))
	unanswered = define(switches, counterKind, "neighbour_failures_total", byNode, "How often a next hop did not answer: packets to it are discarded (reason neighbour of `photon_port_discards_total`).", "")

	lldpNeighbours = section("LLDP", define(switches, gaugeKind, "lldp_neighbours", byPort, "Who speaks LLDP at the other end of the cable; only of ports that speak it (`lldp:`), as all of these.", ""))
	lldpRx         = define(switches, counterKind, "lldp_rx_frames_total", byPort, "LLDP frames received.", "lldpctl: Received")
	lldpTx         = define(switches, counterKind, "lldp_tx_frames_total", byPort, "LLDP frames sent.", "lldpctl: Transmitted")
	lldpBad        = define(switches, counterKind, "lldp_rx_malformed_total", byPort, "LLDP frames received that could not be read.", "802.1AB: statsFramesInErrorsTotal")
	lldpLost       = define(switches, counterKind, "lldp_rx_lost_total", byPort, "LLDP frames received so fast that some were not read.", "")
	dcbxMismatch   = define(switches, gaugeKind, "dcbx_mismatch", withFeature, "1 if port and neighbour disagree about a `feature`: pfc (which priorities), ets (shares of the link), applications (their priorities). `photon show lldp` says in what.", "")

	ecnPackets   = section("Congestion points", define(switches, counterKind, "queue_ecn_marked_packets_total", byPrio, "Frames marked CE.", "SAI: QUEUE_STAT_WRED_ECN_MARKED_PACKETS"))
	ecnBytes     = define(switches, counterKind, "queue_ecn_marked_bytes_total", byPrio, "Bytes of frames marked CE.", "SAI: QUEUE_STAT_WRED_ECN_MARKED_BYTES")
	undetermined = define(switches, counterKind, "queue_undetermined_marked_packets_total", byPrio, "Frames marked undetermined, UE (TCD).", "")
	cnmSent      = define(switches, counterKind, "cp_cnm_sent_total", byPrio, "Congestion notification messages that the switch sent for a queue (QCN).", "IEEE 802.1Q: ieee8021CnCpidTransmittedCnms")
	cnpSent      = define(switches, counterKind, "cp_cnp_sent_total", byPrio, "CNPs that the switch itself sent for a queue (PACC).", "")

	npMarked  = section("Notification and reaction points", define(hosts, counterKind, "np_ecn_marked_packets_total", byNode, "Data frames received with CE.", "mlx5: np_ecn_marked_roce_packets"))
	npSent    = define(hosts, counterKind, "np_cnp_sent_total", byNode, "CNPs sent.", "mlx5: np_cnp_sent")
	rpHandled = define(hosts, counterKind, "rp_cnp_handled_total", byNode, "CNPs given to a reaction point.", "mlx5: rp_cnp_handled")
	rpIgnored = define(hosts, counterKind, "rp_cnp_ignored_total", byNode, "CNPs for flows that are not sent from here or have sent nothing, that came too soon after another, or broken ones.", "mlx5: rp_cnp_ignored")
	rpRate    = histogram(hosts, "rp_rate_bytes_per_second", rateBuckets(), byNode, "Rates that the reaction points allowed the flows being sent, in bytes on the wire: one observation a flow and scrape, once a second at most, so that `rate()` of its buckets is their distribution over a span of time.")
	rpFlows   = define(hosts, gaugeKind, "rp_flows", byNode, "Flows being sent, whose rates reaction points govern.", "")
	rpAllowed = define(hosts, gaugeKind, "rp_allowed_bytes_per_second", byNode, "What the reaction points allow all of them together, in bytes on the wire.", "")
	begun     = define(hosts, counterKind, "flows_started_total", byNode, "Flows taken up.", "")
	done      = define(hosts, counterKind, "flows_completed_total", byNode, "Flows whose last packet was acknowledged.", "")
	refused   = define(senders, counterKind, "flows_refused_total", byNode, "Flows that could not be taken up: no room, or their queue pair was in use.", "")
	failed    = define(senders, counterKind, "flows_failed_total", byNode, "Flows whose sender gave up: nobody answered.", "")
	pending   = define(senders, gaugeKind, "flows_pending", byNode, "Flows that wait for their start.", "")
	running   = define(senders, gaugeKind, "flows_running", byNode, "Flows that are sent.", "")
	limited   = define(hosts, gaugeKind, "rp_limited_flows", byNode, "Flows that a rate limiter is associated with: their reaction point holds them below the line's rate.", "")
	fcts      = histogram(senders, "flow_completion_seconds", fctBuckets(), byNode, "Flow completion times, first bit out to last acknowledgement in.")
	flowRate  = define(senders, gaugeKind, "flow_rate_bytes_per_second", byFlow, "Rate that a flow is allowed, in bytes on the wire; of the fastest flows only, as many as `series: flows` says.", "")
	flowBytes = define(senders, counterKind, "flow_tx_bytes_total", byFlow, "Bytes on the wire that a flow has sent; of the same flows.", "")
	flowCNPs  = define(senders, counterKind, "flow_cnp_handled_total", byFlow, "CNPs and CNMs that came for a flow; of the same flows.", "")

	nicFlows     = section("NICs of applications", define(nics, gaugeKind, "nic_flows", []string{"node", "direction"}, "Flows of applications that are known, by direction.", ""))
	nicQueued    = define(nics, gaugeKind, "nic_queued_packets", byNode, "Frames of applications that wait for the wire.", "")
	nicControl   = define(nics, counterKind, "nic_control_packets_total", byNode, "Frames of applications that passed unpaced: not IP, group addresses, neighbour discovery.", "")
	nicECT       = define(nics, counterKind, "nic_ecn_set_packets_total", byNode, "Frames of applications that were made ECN-capable, or differently so, on their way out.", "")
	nicCleared   = define(nics, counterKind, "nic_ecn_cleared_packets_total", byNode, "Frames whose mark was taken off on their way to the application.", "")
	nicUntracked = define(nics, counterKind, "nic_np_untracked_packets_total", byNode, "Frames that the notification point had no room for; they were delivered.", "")
	nicEchoes    = define(nics, counterKind, "nic_echoes_total", []string{"node", "direction"}, "Answers to single frames that NICs exchange under schemes that hear of every frame (hpcc, timely): sent (tx) about received frames, taken (rx) about sent ones.", "")
	nicReleased  = define(nics, counterKind, "nic_rp_released_total", byNode, "Flows set back to line rate because notifications stayed away.", "")
	nicRefused   = define(nics, counterKind, "nic_cnp_refused_total", []string{"node", "reason"}, "CNPs and CNMs that changed nothing: unknown_flow, not_sent (nothing of the flow was), too_soon, malformed.", "")
	nicHolds     = define(nics, counterKind, "nic_application_holds_total", byNode, "Times the application's port was held because too much waited.", "")
	nicHeld      = define(nics, counterKind, "nic_application_held_seconds_total", byNode, "Time for which it was held.", "")

	devUp        = section("Devices", define(both, gaugeKind, "device_up", byPort, "1 if the device has a link.", ""))
	devAdmin     = define(switches, gaugeKind, "port_admin_up", byPort, "0 if an operator has shut the port.", "")
	devRate      = define(both, gaugeKind, "device_rate_bytes_per_second", byPort, "Rate of the link as photon takes it to be.", "")
	devFlow      = define(both, gaugeKind, "device_flow_control", withState, "1 for what becomes of PFC and PAUSE frames before photon sees them, as the device's driver says: `state` not_needed (a virtual device), off (they are passed up), unknown (the driver has no say), refused (it did not take the order to pass them up) or on (the card acts on them).", "")
	devAttached  = define(both, counterKind, "device_attachments_total", byPort, "How often the kernel's interface was made anew, and taken in place of the one before.", "")
	devBefore    = define(both, counterKind, "device_rx_before_start_total", byPort, "Frames that came before photon polled, and were thrown away.", "")
	devMissed    = define(both, counterKind, "device_rx_missed_total", byPort, "Frames that the card or the kernel dropped before photon could take them.", "DPDK: imissed; mlx5: rx_out_of_buffer")
	devNoBuffer  = define(both, counterKind, "device_rx_nobuffer_total", byPort, "Frames dropped because no frame buffer was free.", "DPDK: rx_nombuf")
	devTooLong   = define(both, counterKind, "device_rx_too_long_total", byPort, "Frames longer than a frame buffer, dropped.", "")
	devSeveral   = define(both, counterKind, "device_rx_super_frames_total", byPort, "Several frames in one, which a card was to take apart, dropped: offloads (TSO, GSO) are on at the other end of the cable.", "")
	devOpen      = define(both, counterKind, "device_rx_open_checksums_total", byPort, "Frames whose checksum a card was to fill in, passed on as they came: checksum offload is on at the other end of the cable, and receivers drop them.", "")
	devTxTooLong = define(both, counterKind, "device_tx_too_long_total", byPort, "Frames longer than the kernel's interface takes, dropped: its MTU is less than the port's, or the frame has no tag where only a tag may be extra.", "")
	devTxDropped = define(both, counterKind, "device_tx_dropped_total", byPort, "Frames that the kernel dropped after it had taken them: it had no room for them at the other end of the cable, or there was no link; and those for a memif without a peer.", "ip -s link: TX dropped")
	devErrors    = define(both, counterKind, "device_errors_total", []string{"node", "port", "direction"}, "Errors that the driver counts, `direction` rx or tx.", "DPDK: ierrors, oerrors")

	rounds    = section("The process", define(both, counterKind, "worker_rounds_total", byNode, "Polls of all workers.", ""))
	pollGap   = histogram(both, "worker_poll_gap_seconds", telemetry.GapBounds(), byWorker, "Time between two polls of a worker. A rest that an idle worker chose is no gap.")
	pollSlept = histogram(both, "worker_poll_gap_slept_seconds", telemetry.GapBounds(), byWorker, "Those of 33 us and more in which the worker's thread gave up its core by itself: what Go's runtime had it wait for, or a command. In the others the kernel took the core away, or the machine stood still.")
	pollTold  = histogram(both, "worker_command_seconds", telemetry.GapBounds(), byWorker, "Processor time that the control plane took of the worker at a time: a scrape, a command, a reload, the regular look at links and storms.")
	rxBurst   = histogram(both, "worker_rx_burst_packets", burstBounds(), byWorker, "Frames that a poll took from a port, of polls that took any; 32 is the most.")
	txBurst   = histogram(both, "worker_tx_burst_packets", burstBounds(), byWorker, "Frames that a poll gave a port to send, of polls that gave any.")
	longest   = define(both, gaugeKind, "worker_poll_gap_max_seconds", byNode, "Longest time between two polls of a worker so far.", "")
	respond   = define(switches, gaugeKind, "pfc_response_seconds", byNode, "Poll gap that the headroom has room for: what the switch takes to answer with XOFF, `pfc: response`; absent if `pfc: headroom` was given.", "")
	survived  = define(switches, gaugeKind, "worker_poll_gap_survived_seconds", byNode, "Longest time between two polls that costs no lossless frame: headroom and receive descriptors of the port that has least have room for what arrives meanwhile. `photon_worker_poll_gap_max_seconds` says how near it came.", "")
	info      = define(both, gaugeKind, "node_info", []string{"node", "kind", "scheme"}, "1, with what the node is as labels: `kind` switch or agent, and the scheme in force.", "")
	build     = define(both, gaugeKind, "build_info", []string{"version", "goversion", "dpdk"}, "1, with the versions as labels.", "")
)

// rateBuckets are the bounds of allowed rates in bytes a second.
func rateBuckets() (b []float64) {
	for _, r := range telemetry.RateBounds {
		b = append(b, float64(r)/8)
	}
	return b
}

// fctBuckets are the bounds of completion times in seconds.
func fctBuckets() (b []float64) {
	for _, t := range dataplane.FCTBounds {
		b = append(b, t.Seconds())
	}
	return b
}
