// Package agent is the host: the node at the end of a wire. It sends flows of
// RoCEv2 packets, each at the rate its reaction point allows, and receives
// them, notifying their senders as its notification point says.
//
// A flow is known by the addresses of both ends and by one queue pair number,
// which both ends use, so that a CNP can name the flow by the pair it came from.
// A packet carries a sequence number; one out of order is answered with a NAK,
// and the sender goes back to it. A flow of limited size ends when its last
// packet is acknowledged. Flows may also be messages on permanent connections
// that share a reaction point.
//
// What waits to be sent are numbers, not frames: a frame is made when the port
// takes it, so that a pause or a long queue costs no buffers. The order at the
// port is: the highest priority that is not paused; in it, CNPs, then
// acknowledgements, then data, one frame per flow in turn.
//
// A NIC is the same end of a wire for other programs: it carries their frames,
// told apart by flows, at the pace of the reaction points, and shows what arrives
// to the notification point. Its CNPs name the flows of applications, see
// cnp.Name.
//
// Left out: RDMA verbs and memory. A packet's payload is zeros.
package agent
