// Package agent is the host: the node at the end of a wire. It sends flows of RoCEv2 packets, each at the rate its
// reaction point allows, and receives them, notifying their senders as its notification point says.
//
// A flow is a reliable connection. It is known by the addresses of both ends and by one queue pair number, which both
// ends use, so that a CNP can name the flow by the pair it came from. The sender's half of it is the requester, the
// receiver's the responder. In the order in which data pass them:
//
//	flow_spec.go, flow_begin.go  what a flow is to be; its slot, its reaction point and its first PSN
//	flow.go                      what is known of it while it is sent
//	pacing.go                    when its next packet may leave
//	transmit.go                  which frame the port sends next
//	packet.go, header.go         a packet of data, and its headers (entropy.go: its source port)
//	requester.go                 which packet is the next, and what has arrived
//	await.go, retransmit.go      a flow waits for an acknowledgement, and sends again what was lost
//
//	receive.go, known.go         a frame arrives; the short way of packets of known flows
//	responder.go                 whether a packet is in order, and what to answer
//	finished.go                  flows that were received whole make room for others
//	ack_send.go, notify.go       the answers: acknowledgements and CNPs
//
//	ack_take.go, notify.go       what they do at the sender
//	flow_end.go                  how a flow ends
//
// A packet carries a sequence number (PSN). One out of order is answered with a NAK, and the sender goes back to the
// packet that is missing (go-back-N), or repeats what is lost and no more (selective.go). A flow of limited size ends
// when its last packet is acknowledged, or its sender gives up, with a reason. Flows may also be messages on permanent
// connections that share a reaction point (shared.go).
//
// There is no exchange before the first packet, which begins an epoch. So either end may be started again at any time:
// nothing that is left of an earlier epoch counts.
//
// What waits to be sent are numbers, not frames: a frame is made when the port takes it, so that a pause or a long
// queue costs no buffers. The order at the port is: the highest priority that is not paused; in it, CNPs, then
// acknowledgements, then data, one frame per flow in turn.
//
// A flow may also go to a queue pair of the InfiniBand specification, as network cards and Soft-RoCE have them (pair.go,
// standard.go). Only there packets have a payload; between agents it is zeros.
//
// A NIC is the same end of a wire for other programs: it carries their frames, told apart by flows, at the pace of the
// reaction points, and shows what arrives to the notification point (nic.go). Its CNPs name the flows of applications,
// see cnp.Name.
//
// Traffic (traffic.go) has a host send flows that are ordered while it runs.
//
// The files of a NIC, in the order in which frames of an application pass them:
//
//	nic.go                        its configuration and its queues
//	nic_send.go                   Receive: frames of the application, and when its port is held
//	nic_classify.go, nic_rule.go  which flow a frame is of; which rules that flow has
//	nic_queue.go, nic_flow.go     where its frames wait; what can be seen of it
//	nic_idle.go                   which flow makes room for another
//	nic_connections.go            which queue pairs of RoCEv2 belong together
//	nic_transmit.go               what goes to the wire, or to the application, next
//	nic_shim.go                   what a scheme needs in packets of applications
//	nic_receive.go                what the wire brings: consumed, shown to the notification point, queued
//	nic_stranger.go               frames from the wire for other hosts
//
// Besides the flows, hosts have:
//
//	host.go                                   the host: configuration, counters, and Next
//	places.go                                 room for flows, which grows with their number
//	announce.go, double.go                    switches learn where the host is; others that have its address
//	delay.go                                  a pause or a CNP is obeyed only after a while, as in hardware
//	punctual.go                               how late the world serves a port
//	credits.go                                credits instead of pauses
//	milestone.go                              what happened to a flow, for those who wait for that
//	pair_send.go, pair_read.go, pair_take.go  a pair's own messages; what it answers to READs; its peer's requests
//	rebase.go                                 the clock is set back
package agent
