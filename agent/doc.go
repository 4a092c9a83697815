// Package agent is the host: the node at the end of a wire. It sends flows of
// RoCEv2 packets, each at the rate its reaction point allows, and receives
// them, notifying their senders as its notification point says.
//
// A flow is a reliable connection. It is identified by the addresses of both ends and by one queue
// pair number, which both ends use, so that a CNP can name the flow by the pair it came from. The
// sender's half of it is the requester, the receiver's the responder:
//
//	flow.go → packet.go → transmit.go         requester.go: which packet is next, timer, going back
//	          receive.go (known.go) → ack.go  responder.go: in order or not, what to answer
//
// A packet carries a sequence number (PSN). One out of order is answered with a NAK, and the sender
// goes back to the packet that is missing (go-back-N). A flow of limited size ends when its last
// packet is acknowledged, or its sender gives up, with a reason. Flows may also be messages on
// permanent connections that share a reaction point.
//
// There is no exchange before the first packet, which begins an epoch. So either end may be
// restarted at any time: packets of an earlier epoch are ignored.
//
// What waits to be sent are numbers, not frames: a frame is made when the port
// takes it, so that a pause or a long queue costs no buffers. The order at the
// port is: the highest priority that is not paused; in it, CNPs, then
// acknowledgements, then data, one frame per flow in turn.
//
// A NIC is the same end of a wire for other programs: it carries their frames,
// distinguished by flows, at the pace of the reaction points, and passes what
// arrives to the notification point. Its CNPs name the flows of applications, see
// cnp.Name.
//
// A flow may also go to a queue pair of the InfiniBand specification, as network cards and Soft-RoCE
// have them: see Pair. Only there packets have a payload; between agents it is zeros.
package agent
