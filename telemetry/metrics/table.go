package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"photon/fabric"
	"photon/telemetry"
)

// kind is a metric's type in Prometheus.
type kind string

const (
	counterKind   kind = "counter"
	gaugeKind     kind = "gauge"
	histogramKind kind = "histogram"
)

// metric is a row of the table from which both the scrape and docs/metrics.md are made, so that they
// cannot disagree.
type metric struct {
	name   string // with photon_
	kind   kind
	of     owner
	labels []string
	help   string // a sentence
	known  string // the name that others have for it; may be empty
	desc   *prometheus.Desc

	buckets []float64 // upper bounds, of histograms
}

// The metrics in the order of docs/metrics.md, and the heading of each section at its first metric.
var (
	metrics  []*metric
	sections = map[*metric]string{}
)

// Sets of labels. The node is the name in its file, the port its name in `photon show ports`.
var (
	byNode           = []string{"node"}
	byPort           = []string{"node", "port"}
	byPrio           = []string{"node", "port", "priority"}
	byWorker         = []string{"node", "worker"}
	byFlow           = []string{"node", "peer", "qp"}
	byImpairment     = []string{"node", "port", "action"}
	byReason         = []string{"node", "port", "priority", "reason"}
	byNeighbourState = []string{"node", "state"}
	byWatchdogAction = []string{"node", "port", "priority", "action"}
	byFeature        = []string{"node", "port", "feature"}
	byFlowControl    = []string{"node", "port", "state"}
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
	rxPackets   = section("Ports", define(both, counterKind, "port_rx_packets_total", byPrio, "Frames received, those of photon_port_rx_control_packets_total excepted.", "mlx5: rx_prioN_packets"))
	rxBytes     = define(both, counterKind, "port_rx_bytes_total", byPrio, "Bytes received without FCS, of the same frames.", "mlx5: rx_prioN_bytes")
	txPackets   = define(both, counterKind, "port_tx_packets_total", byPrio, "Frames sent, those of photon_port_tx_control_packets_total excepted.", "mlx5: tx_prioN_packets")
	txBytes     = define(both, counterKind, "port_tx_bytes_total", byPrio, "Bytes sent without FCS, of the same frames.", "mlx5: tx_prioN_bytes")
	rxControl   = define(both, counterKind, "port_rx_control_packets_total", byPort, "MAC control frames, LLDP frames (where `lldp:` is on) and deadlock probes received.", "")
	txControl   = define(both, counterKind, "port_tx_control_packets_total", byPort, "MAC control frames, LLDP frames and deadlock probes sent.", "")
	rxBad       = define(both, counterKind, "port_rx_control_bad_packets_total", byPort, "MAC control frames received that are neither PFC, PAUSE nor a probe, or not to 01:80:C2:00:00:01 by a station.", "")
	routed      = define(switches, counterKind, "port_routed_packets_total", byPort, "Packets received that were forwarded by their IP address.", "")
	icmpSent    = define(switches, counterKind, "port_icmp_errors_total", byPort, "ICMP errors that the router sent about packets received on the port.", "")
	icmpLimited = define(switches, counterKind, "port_icmp_errors_limited_total", byPort, "ICMP errors that the router did not send because of its rate limit (`router: icmp: rate`).", "")
	discards    = define(both, counterKind, "port_discards_total", byReason, "Frames discarded, by reason. A flooded frame is one for each port that it was for. Reasons that lose frames of a lossless priority have series from the start, others from their first discard.", "mlx5: rx_prioN_discards")
	lostFirst   = define(switches, gaugeKind, "port_lossless_first_loss_timestamp_seconds", byPrio, "When the first frame of a lossless priority was lost (reasons headroom, no_memory, pfc_watchdog and link_down of `photon_port_discards_total`), in seconds since 1970; 0 if none was.", "")

	pfcRxFrames    = section("Priority flow control", define(both, counterKind, "pfc_rx_frames_total", byPrio, "PFC frames received for a priority, XOFF and XON.", "mlx5: rx_prioN_pause; SAI: PFC_N_RX_PKTS"))
	pfcIgnored     = define(both, counterKind, "pfc_rx_ignored_frames_total", byPort, "PFC frames received for priorities without PFC, and PAUSE frames received where PFC is on. They pause nothing.", "")
	pfcRxPaused    = define(both, counterKind, "pfc_rx_paused_seconds_total", byPrio, "Time for which the peer paused a priority of this port.", "mlx5: rx_prioN_pause_duration, there in microseconds")
	pfcRxChanges   = define(both, counterKind, "pfc_rx_transitions_total", byPrio, "Times a priority that the peer had paused was resumed.", "mlx5: rx_prioN_pause_transition; SAI: PFC_N_ON2OFF_RX_PKTS")
	pfcTxFrames    = define(carriers, counterKind, "pfc_tx_frames_total", byPrio, "PFC frames sent for a priority, XOFF and XON.", "mlx5: tx_prioN_pause; SAI: PFC_N_TX_PKTS")
	pfcTxPaused    = define(carriers, counterKind, "pfc_tx_paused_seconds_total", byPrio, "Time for which this port paused a priority of its peer.", "mlx5: tx_prioN_pause_duration, there in microseconds")
	pfcTxChanges   = define(carriers, counterKind, "pfc_tx_transitions_total", byPrio, "Times a priority of the peer that this port had paused was resumed.", "")
	watchdogStorms = define(switches, counterKind, "pfc_watchdog_storms_total", byWatchdogAction,
		"Pause storms that the watchdog detected; only with a watchdog, for lossless priorities. "+
			"`action` is what it was to do when the storm began.", "SONiC: show pfcwd stats")
	watchdogRestored = define(switches, counterKind, "pfc_watchdog_restored_total", byPrio, "Pause storms that ended.", "SONiC: show pfcwd stats")
	watchdogTime     = define(switches, counterKind, "pfc_watchdog_storm_seconds_total", byPrio, "Time spent in pause storms, from detection to restoration.", "")
	watchdogNow      = define(switches, gaugeKind, "pfc_watchdog_storm", byPrio, "1 during a pause storm.", "")
	deadlocks        = define(switches, counterKind, "pfc_deadlocks_total", byPrio, "Times an egress queue was found in a cycle of paused queues; for lossless priorities, unless `pfc: deadlock` is 0s.", "")
	deadlockNow      = define(switches, gaugeKind, "pfc_deadlock", byPrio, "1 while the queue is in a cycle of paused queues.", "")
	impaired         = define(switches, counterKind, "port_impaired_frames_total", byImpairment, "Received frames that a rule of `impair:` acted on; only for ports where one did.", "")

	creditTx      = section("Credits", define(both, counterKind, "credits_tx_packets_total", byPort, "Flow control packets sent. Metrics of credits exist only where links use credits in place of PFC: between nodes of one process, and in virtual time.", ""))
	creditRx      = define(both, counterKind, "credits_rx_packets_total", byPort, "Flow control packets received.", "")
	creditWaits   = define(both, counterKind, "credits_waits_total", byPrio, "Times a priority had frames to send and no credits for them.", "InfiniBand: PortXmitWait counts ticks of it")
	creditWaited  = define(both, counterKind, "credits_waited_seconds_total", byPrio, "Time for which a priority waited for credits.", "InfiniBand: PortXmitWait, there in ticks")
	creditWaiting = define(both, gaugeKind, "credits_waiting", byPrio, "1 while a priority waits for credits.", "")
	creditBlocks  = define(both, gaugeKind, "credits_blocks", byPrio, "Blocks of 64 bytes that may be sent.", "")
	creditLost    = define(both, counterKind, "credits_lost_blocks_total", byPrio, "Blocks that the peer's flow control packets say it sent, and that did not arrive.", "")

	queueBytes      = section("Queues and buffer", define(carriers, gaugeKind, "queue_bytes", byPrio, "Bytes in an egress queue.", "SAI: QUEUE_STAT_CURR_OCCUPANCY_BYTES"))
	queuePeak       = define(carriers, gaugeKind, "queue_watermark_bytes", byPrio, "Most bytes that an egress queue has held.", "SAI: QUEUE_STAT_WATERMARK_BYTES; SONiC: show queue watermark")
	shaped          = define(switches, counterKind, "queue_shaped_packets_total", byPrio, "Frames at the head of an egress queue that waited for tokens of its shaper; only for queues with a shaper.", "")
	shapedRate      = define(switches, gaugeKind, "queue_shaper_rate_bytes_per_second", byPrio, "Rate of a queue's shaper, on the wire; only for queues with a shaper.", "SONiC: pir of a SCHEDULER")
	portShaped      = define(switches, counterKind, "port_shaped_packets_total", byPort, "Times a port with frames to send waited for tokens of its shaper; only for ports with a shaper.", "")
	portRate        = define(switches, gaugeKind, "port_shaper_rate_bytes_per_second", byPort, "Rate of a port's shaper, on the wire; only for ports with a shaper.", "SONiC: pir of a port's SCHEDULER")
	ingressBytes    = define(carriers, gaugeKind, "ingress_buffer_bytes", byPrio, "Bytes that came in through a port and are still in the switch.", "SAI: INGRESS_PRIORITY_GROUP_STAT_CURR_OCCUPANCY_BYTES")
	ingressPeak     = define(carriers, gaugeKind, "ingress_buffer_watermark_bytes", byPrio, "Most bytes that were in the switch at a time and came in through a port.", "SAI: INGRESS_PRIORITY_GROUP_STAT_WATERMARK_BYTES")
	residence       = histogram(switches, "residence_seconds", telemetry.GapBounds(), byPort, "Time that frames leaving by the port spent in the switch: from the poll that took them from a device to the end of the poll that gave them to another. Each worker samples one frame per millisecond.")
	xoffBytes       = define(switches, gaugeKind, "ingress_xoff_bytes", byPrio, "Bytes buffered for an ingress port beyond which it sends XOFF, without what `pfc: alpha` adds; for lossless priorities.", "SONiC: xoff of a buffer profile")
	headroomSize    = define(switches, gaugeKind, "ingress_headroom_size_bytes", byPrio, "Headroom: bytes that fit beyond XOFF before frames are lost; for lossless priorities.", "SONiC: size of a buffer profile")
	headroomUsed    = define(switches, gaugeKind, "ingress_headroom_bytes", byPrio, "Bytes in the headroom; for lossless priorities.", "SAI: INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES")
	headroomPeak    = define(switches, gaugeKind, "ingress_headroom_watermark_bytes", byPrio, "Most bytes that the headroom has held; for lossless priorities.", "SAI: INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES; SONiC: show priority-group watermark headroom")
	lossyPortLimit  = define(switches, gaugeKind, "ingress_lossy_limit_bytes", byPort, "Buffer that lossy frames from an ingress port may hold at present; only for ports with a limit (`lossy_ingress:`).", "SONiC: static_th and dynamic_th of an ingress lossy profile")
	lossyByPort     = define(switches, gaugeKind, "ingress_lossy_bytes", byPort, "Buffer that lossy frames from an ingress port hold; only for ports with a limit.", "")
	queueMin        = define(switches, gaugeKind, "queue_min_bytes", byPrio, "Buffer reserved for the lossy frames of an egress queue; only for queues with a `min`.", "SONiC: size of an egress queue's buffer profile")
	queueAlpha      = define(switches, gaugeKind, "queue_alpha", byPrio, "An egress queue drops lossy frames beyond this part of the free shared buffer; only for queues with an alpha of their own.", "SONiC: dynamic_th of that profile, its logarithm")
	allHeadroomSize = define(switches, gaugeKind, "buffer_headroom_size_bytes", byNode, "Buffer reserved for headroom: the sum over all ports and lossless priorities, or the pool that they share (`pfc: headroom_pool`).", "SONiC: xoff of ingress_lossless_pool")
	allHeadroomUsed = define(switches, gaugeKind, "buffer_headroom_bytes", byNode, "Bytes in the headroom of all ports and priorities.", "SAI: BUFFER_POOL_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES")
	allHeadroomPeak = define(switches, gaugeKind, "buffer_headroom_watermark_bytes", byNode, "Most bytes that the headroom of all ports and priorities has held.", "SAI: BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES; SONiC: show headroom-pool watermark")
	lossyPeak       = define(switches, gaugeKind, "buffer_lossy_watermark_bytes", byNode, "Most bytes that the part of the buffer shared by lossy priorities has held.", "SAI: BUFFER_POOL_STAT_WATERMARK_BYTES; SONiC: show buffer_pool watermark")
	lossySize       = define(switches, gaugeKind, "buffer_lossy_size_bytes", byNode, "Size of the part of the buffer shared by lossy priorities.", "")
	lossyUsed       = define(switches, gaugeKind, "buffer_lossy_bytes", byNode, "Bytes in the part of the buffer shared by lossy priorities.", "")

	fdbKnown = section("Addresses", define(switches, gaugeKind, "fdb_entries", byNode,
		"Addresses that the switch knows, in all VLANs.", "SONiC: crm show resources fdb, Used Count"))
	fdbPlaces = define(switches, gaugeKind, "fdb_places", byNode,
		"Places for addresses, in all VLANs: at least twice `forwarding: size` for each.", "")
	fdbUnlearned = define(switches, counterKind, "fdb_unlearned_total", byNode,
		"Times an address was not learned because its places were taken. Frames to it are flooded.", "")

	neighbours = section("Neighbours", define(switches, gaugeKind, "neighbours", byNeighbourState, "Next hops that the switch resolves, by state: reachable, probe, incomplete, failed.", ""))
	unanswered = define(switches, counterKind, "neighbour_failures_total", byNode, "Times a next hop did not answer. Packets to it are discarded (reason neighbour of `photon_port_discards_total`).", "")

	lldpNeighbours = section("LLDP", define(switches, gaugeKind, "lldp_neighbours", byPort, "Neighbours that speak LLDP on the cable. Metrics of LLDP exist only for ports that speak it (`lldp:`).", ""))
	lldpRx         = define(switches, counterKind, "lldp_rx_frames_total", byPort, "LLDP frames received.", "lldpctl: Received")
	lldpTx         = define(switches, counterKind, "lldp_tx_frames_total", byPort, "LLDP frames sent.", "lldpctl: Transmitted")
	lldpBad        = define(switches, counterKind, "lldp_rx_malformed_total", byPort, "LLDP frames received that could not be read.", "802.1AB: statsFramesInErrorsTotal")
	lldpLost       = define(switches, counterKind, "lldp_rx_lost_total", byPort, "LLDP frames that were not read because too many came at once.", "")
	dcbxMismatch   = define(switches, gaugeKind, "dcbx_mismatch", byFeature, "1 if port and neighbour disagree about a `feature`: pfc (which priorities), ets (shares of the link), applications (their priorities). `photon show lldp` has the details.", "")

	ecnPackets   = section("Congestion points", define(switches, counterKind, "queue_ecn_marked_packets_total", byPrio, "Frames marked CE.", "SAI: QUEUE_STAT_WRED_ECN_MARKED_PACKETS"))
	ecnBytes     = define(switches, counterKind, "queue_ecn_marked_bytes_total", byPrio, "Bytes of frames marked CE.", "SAI: QUEUE_STAT_WRED_ECN_MARKED_BYTES")
	undetermined = define(switches, counterKind, "queue_undetermined_marked_packets_total", byPrio, "Frames marked undetermined, UE (TCD).", "")
	cnmSent      = define(switches, counterKind, "cp_cnm_sent_total", byPrio, "Congestion notification messages that the switch sent for a queue (QCN).", "IEEE 802.1Q: ieee8021CnCpidTransmittedCnms")
	cnpSent      = define(switches, counterKind, "cp_cnp_sent_total", byPrio, "CNPs that the switch itself sent for a queue (PACC).", "")

	npMarked  = section("Notification and reaction points", define(hosts, counterKind, "np_ecn_marked_packets_total", byNode, "Data frames received with CE.", "mlx5: np_ecn_marked_roce_packets"))
	npSent    = define(hosts, counterKind, "np_cnp_sent_total", byNode, "CNPs sent.", "mlx5: np_cnp_sent")
	rpHandled = define(hosts, counterKind, "rp_cnp_handled_total", byNode, "CNPs given to a reaction point.", "mlx5: rp_cnp_handled")
	rpIgnored = define(hosts, counterKind, "rp_cnp_ignored_total", byNode, "CNPs ignored: malformed, too soon after another, or for a flow that is not sent from here or has sent nothing.", "mlx5: rp_cnp_ignored")
	rpRate    = histogram(hosts, "rp_rate_bytes_per_second", rateBuckets(), byNode, "Rates that reaction points allow to the flows being sent, in bytes on the wire. Each scrape observes every flow, at most once a second, so `rate()` of the buckets is their distribution over time.")
	rpFlows   = define(hosts, gaugeKind, "rp_flows", byNode, "Flows being sent under a reaction point; "+
		"of a NIC, those of which frames wait or left within its `age`.", "")
	rpAllowed    = define(hosts, gaugeKind, "rp_allowed_bytes_per_second", byNode, "Sum of the rates that reaction points allow to these flows, in bytes on the wire.", "")
	flowsStarted = define(hosts, counterKind, "flows_started_total", byNode, "Flows started.", "")
	done         = define(hosts, counterKind, "flows_completed_total", byNode, "Flows whose last packet was acknowledged.", "")
	refused      = define(senders, counterKind, "flows_refused_total", byNode, "Flows refused: no room, or their queue pair was in use.", "")
	failed       = define(senders, counterKind, "flows_failed_total", byNode, "Flows whose sender gave up because there was no answer.", "")
	ackTimeouts  = define(senders, counterKind, "ack_timeouts_total", byNode, "Times a flow sent again because no acknowledgement came in time (`ack_timeout`).", "mlx5: local_ack_timeout_err")
	naks         = define(senders, counterKind, "nak_received_total", byNode, "NAKs of sequence errors received: packets were lost, or overtook others, and flows sent them again.", "mlx5: packet_seq_err")
	pending      = define(senders, gaugeKind, "flows_pending", byNode, "Flows waiting for their start time.", "")
	running      = define(senders, gaugeKind, "flows_running", byNode, "Flows being sent.", "")
	limited      = define(hosts, gaugeKind, "rp_limited_flows", byNode, "Flows with a rate limiter: their reaction point holds them below line rate.", "")
	fcts         = histogram(senders, "flow_completion_seconds", fctBuckets(), byNode, "Flow completion times, from the first bit out to the last acknowledgement in.")
	flowRate     = define(senders, gaugeKind, "flow_rate_bytes_per_second", byFlow, "Rate that a flow is allowed, in bytes on the wire; for the fastest flows only, as many as `series: flows` says.", "")
	flowBytes    = define(senders, counterKind, "flow_tx_bytes_total", byFlow, "Bytes on the wire that a flow has sent; for the same flows.", "")
	flowCNPs     = define(senders, counterKind, "flow_cnp_handled_total", byFlow, "CNPs and CNMs received for a flow; for the same flows.", "")

	nicFlows     = section("NICs of applications", define(nics, gaugeKind, "nic_flows", []string{"node", "direction"}, "Known flows of applications, by direction.", ""))
	nicQueued    = define(nics, gaugeKind, "nic_queued_packets", byNode, "Frames of applications waiting for the wire.", "")
	nicControl   = define(nics, counterKind, "nic_control_packets_total", byNode, "Frames of applications sent without pacing: not IP, to group addresses, neighbour discovery.", "")
	nicECT       = define(nics, counterKind, "nic_ecn_set_packets_total", byNode, "Outgoing frames of applications that were made ECN-capable, or given another ECN-capable code point.", "")
	nicCleared   = define(nics, counterKind, "nic_ecn_cleared_packets_total", byNode, "Frames whose mark was removed before delivery to the application.", "")
	nicUntracked = define(nics, counterKind, "nic_np_untracked_packets_total", byNode, "Received frames that the notification point had no room to track; they were delivered.", "")
	nicEchoes    = define(nics, counterKind, "nic_echoes_total", []string{"node", "direction"}, "Acknowledgements that NICs exchange for single frames, under schemes that need one for each (hpcc, timely): sent for received frames (tx), received for sent ones (rx).", "")
	nicReleased  = define(nics, counterKind, "nic_rp_released_total", byNode, "Flows set back to line rate because notifications stopped.", "")
	nicRefused   = define(nics, counterKind, "nic_cnp_refused_total", []string{"node", "reason"}, "CNPs and CNMs without effect, by reason: unknown_flow, not_sent (the flow has sent nothing), too_soon, malformed.", "")
	nicHolds     = define(nics, counterKind, "nic_application_holds_total", byNode, "Times no more frames were taken from the application because too many waited.", "")
	nicHeld      = define(nics, counterKind, "nic_application_held_seconds_total", byNode, "Time for which no frames were taken from the application.", "")

	devUp        = section("Devices", define(both, gaugeKind, "device_up", byPort, "1 if the device has a link.", ""))
	devAdmin     = define(switches, gaugeKind, "port_admin_up", byPort, "0 if an operator has shut the port.", "")
	devRate      = define(both, gaugeKind, "device_rate_bytes_per_second", byPort, "Rate of the link that photon works with.", "")
	devFlow      = define(both, gaugeKind, "device_flow_control", byFlowControl, "1 for the `state` of the device's own flow control, as its driver reports it: not_needed (a virtual device), off (PFC and PAUSE frames are passed up), unknown (the driver cannot tell), refused (it did not obey the order to pass them up) or on (the card acts on them).", "")
	devAttached  = define(both, counterKind, "device_attachments_total", byPort, "Times the kernel interface was recreated and attached again.", "")
	devBefore    = define(both, counterKind, "device_rx_before_start_total", byPort, "Frames that came before photon polled, and were discarded.", "")
	devMissed    = define(both, counterKind, "device_rx_missed_total", byPort, "Frames that the card or the kernel dropped before photon could take them.", "DPDK: imissed; mlx5: rx_out_of_buffer")
	devNoBuffer  = define(both, counterKind, "device_rx_nobuffer_total", byPort, "Frames dropped because no frame buffer was free.", "DPDK: rx_nombuf")
	devTooLong   = define(both, counterKind, "device_rx_too_long_total", byPort, "Frames longer than a frame buffer, dropped.", "")
	devSeveral   = define(both, counterKind, "device_rx_super_frames_total", byPort, "Dropped frames that a card was to split into several: offloads (TSO, GSO) are on at the other end of the cable.", "")
	devOpen      = define(both, counterKind, "device_rx_open_checksums_total", byPort, "Frames passed on whose checksum a card was to fill in: checksum offload is on at the other end of the cable, and receivers drop them.", "")
	devTxTooLong = define(both, counterKind, "device_tx_too_long_total", byPort, "Dropped frames that are too long for the kernel interface: its MTU is less than the port's, or the frame has no tag where only a tag may be extra; and for the receive buffers of a virtual machine behind vhost-user that does not merge them.", "")
	devTxDropped = define(both, counterKind, "device_tx_dropped_total", byPort, "Frames that the kernel took and dropped, because there was no room at the other end of the cable, its MTU is less, or it has no link, each once however often the kernel tried; frames for a memif or vhost-user without a peer; and what a tap refuses: frames longer than its interface takes, and all while that is down.", "ip -s link: TX dropped")
	devErrors    = define(both, counterKind, "device_errors_total", []string{"node", "port", "direction"}, "Errors that the driver counts, by direction (rx or tx).", "DPDK: ierrors, oerrors")

	rounds      = section("The process", define(both, counterKind, "worker_rounds_total", byNode, "Polls of all workers.", ""))
	pollGap     = histogram(both, "worker_poll_gap_seconds", telemetry.GapBounds(), byWorker, "Time between two polls of a worker. Sleep that an idle worker chose does not count.")
	gapSlept    = histogram(both, "worker_poll_gap_slept_seconds", telemetry.GapBounds(), byWorker, "Poll gaps of 33 us and more in which the worker's thread gave up its core by itself, for Go's runtime or a command. In all other gaps the kernel took the core away, or the machine stood still.")
	commandTime = histogram(both, "worker_command_seconds", telemetry.GapBounds(), byWorker, "Processor time of the worker that one control plane action took: a scrape, a command, a reload, the regular check of links and storms.")
	rxBurst     = histogram(both, "worker_rx_burst_packets", burstBounds(), byWorker, "Frames that a poll took from a port, of polls that took any; at most 64.")
	txBurst     = histogram(both, "worker_tx_burst_packets", burstBounds(), byWorker, "Frames that a poll gave a port to send, of polls that gave any.")
	gapLongest  = define(both, gaugeKind, "worker_poll_gap_max_seconds", byNode, "Longest time between two polls of a worker so far.", "")
	gapPlanned  = define(switches, gaugeKind, "pfc_response_seconds", byNode, "Poll gap that the headroom allows for, `pfc: response`; absent if `pfc: headroom` is given.", "")
	gapSurvived = define(switches, gaugeKind, "worker_poll_gap_survived_seconds", byNode, "Longest poll gap in "+
		"which no lossless frame is lost: what arrives meanwhile fits into the headroom and the receive descriptors "+
		"of the port that has least, and its peer stays paused. Compare it with "+
		"`photon_worker_poll_gap_max_seconds`.", "")
	info  = define(both, gaugeKind, "node_info", []string{"node", "kind", "scheme"}, "1, labelled with what the node is: `kind` switch or agent, and the scheme in force.", "")
	build = define(both, gaugeKind, "build_info", []string{"version", "goversion", "dpdk"}, "1, labelled with the versions.", "")
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
	for _, t := range fabric.FCTBounds {
		b = append(b, t.Seconds())
	}
	return b
}
