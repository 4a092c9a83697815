package fabric

import (
	"photon/credits"
	"photon/neighbour"
	"photon/pfc"
	"photon/units"
)

// Reason says why a frame was discarded.
type Reason uint8

// Reasons.
const (
	DropMalformed  Reason = iota // shorter than an Ethernet header
	DropOversize                 // longer than the MTU allows
	DropReserved                 // link-local group address that is not MAC control, or MAC control behind a tag: never forwarded
	DropNoPort                   // nowhere to go: its destination is where it came from, or no other port
	DropHeadroom                 // lossless priority: the peer did not stop; XOFF and headroom are full
	DropBuffer                   // lossy priority: its part of the buffer is full
	DropTail                     // lossy priority: its egress queue is full
	DropNoMemory                 // no frame buffer for a copy
	DropUnknown                  // a host does not know the flow, or it is not for the host
	DropBadICRC                  // a host found the invariant CRC wrong
	DropSequence                 // a host got a packet out of order, or again
	DropStorm                    // lossless priority: its peer storms PAUSE, and the watchdog drops
	DropLink                     // the egress port has no link, or is shut; or the frame came through a port that is shut
	DropTable                    // a host receives as many flows as it can
	DropVLAN                     // its VLAN is none of the port's
	DropUnicast                  // its address is unknown, and such frames are not flooded
	DropFlood                    // more of its kind would be flooded than is allowed, which may be none
	DropBadIP                    // to the router or a host: its IP header is broken
	DropNoRoute                  // no route leads to its destination
	DropTTL                      // its time to live is over
	DropToRouter                 // for the router itself, and nothing that it answers
	DropSource                   // the source address is a group's, or zero
	DropMartian                  // to the router: from an address that no packet on a network may have
	DropFlowQueue                // a flow of an application has as much waiting as it may
	DropProhibited               // to the router: a route says that nothing goes there
	DropTooBig                   // to the router: longer than the next hop takes
	DropForged                   // an application sent a CNP or MAC control, which are not its to send
	DropNeighbour                // to the router: the next hop did not answer, or too much waits for it
	DropWRED                     // lossy priority: the queue was long, and WRED's draw said so
	DropIngress                  // lossy priority: what came through its port takes as much of the buffer as it may
	Reasons                      // how many there are
)

var reasonNames = [Reasons]string{
	"malformed", "oversize", "reserved_address", "no_port", "headroom", "lossy_buffer", "tail_drop", "no_memory",
	"unknown", "bad_icrc", "sequence", "pfc_watchdog", "link_down", "flow_table",
	"vlan", "unknown_unicast", "flood_limit", "bad_ip_header", "no_route", "ttl", "to_router",
	"source_address", "martian_source",
	"flow_queue", "prohibited", "next_hop_mtu", "application_control", "neighbour", "wred", "ingress_limit",
}

func (r Reason) String() string { return reasonNames[r] }

var reasonTexts = [Reasons]string{
	"The frame is shorter than an Ethernet header.",
	"The frame is longer than the MTU allows.",
	"The frame is for a group address of the link (01:80:C2:00:00:0X), or is MAC control behind a tag; those are never forwarded.",
	"The frame has nowhere to go: its destination is behind the port it came from, or there is no other port.",
	"Lossless priority: the peer did not stop; XOFF and headroom are full.",
	"Lossy priority: its part of the buffer is full.",
	"Lossy priority: its egress queue is full.",
	"No frame buffer was free for a copy.",
	"A host does not know the flow, or the frame is not for the host.",
	"A host found a wrong invariant CRC.",
	"A host received a packet out of order, or twice.",
	"Lossless priority: the peer pauses without end, and the watchdog drops.",
	"The egress port has no link or is shut, or the frame came through a port that is shut.",
	"A host already receives as many flows as it can.",
	"The port is not in the frame's VLAN.",
	"The destination address is unknown, and such frames are not flooded.",
	"The port has flooded as much of this kind as storm control allows, or frames to groups are not flooded.",
	"Routing, and hosts: the IP header is malformed, or its checksum is wrong.",
	"Routing: no route leads to the destination.",
	"Routing: the time to live has expired.",
	"The packet is for the router itself, and neither of a kind that it answers nor the answer of a next hop that it asked.",
	"The source address is a group address, or zero.",
	"Routing: the IP source may not be routed: loopback, group, link-local or unspecified.",
	"A flow of an application already has as much waiting as it may.",
	"Routing: a route forbids the destination.",
	"Routing: the packet is longer than the next hop takes, and the router does not fragment.",
	"An application sent a CNP or MAC control, which it may not send.",
	"Routing: the next hop does not answer, or too many packets wait for its answer.",
	"Lossy priority: random early detection (WRED) dropped the frame, because the egress queue was long.",
	"Lossy priority: frames that came in through the port already hold as much of the buffer as they may.",
}

// Explain says in a sentence what happened.
func (r Reason) Explain() string { return reasonTexts[r] }

// Loses reports whether a frame of a lossless priority that a switch discards for this reason is one
// that it should have carried: others were never to be forwarded.
func (r Reason) Loses() bool {
	switch r {
	case DropHeadroom, DropNoMemory, DropStorm, DropLink:
		return true
	}
	return false
}

// PortStats are the counters of one port since the node was made. Frames count
// their bytes without FCS. MAC control frames, LLDP frames and probes have no priority and are counted
// apart.
type PortStats struct {
	RxFrames, RxBytes   [pfc.Classes]uint64
	TxFrames, TxBytes   [pfc.Classes]uint64
	Marked, MarkedBytes [pfc.Classes]uint64 // CE set on the way out
	Undetermined        [pfc.Classes]uint64 // TCD's UE set on the way out
	CNMs, CNPs          [pfc.Classes]uint64 // that the congestion point of a queue here had the switch send; by the queue's priority
	Discards            [Reasons][pfc.Classes]uint64
	// LostAt is when the first frame of a lossless priority was lost (Reason.Loses), by the node's clock of now, or
	// Never. Of a host it is when the first was discarded.
	LostAt      [pfc.Classes]units.Time
	RxControl   uint64              // MAC control, LLDP that is read, probes for deadlocks, received; they end here
	TxControl   uint64              // the same sent; they begin here
	BadControl  uint64              // those that are neither PFC, PAUSE nor a probe, among RxControl
	Routed      uint64              // frames received that were forwarded by their IP address
	ICMPSent    uint64              // ICMP errors that the router sent of what came here
	ICMPLimited uint64              // that it did not send, because it had sent so many
	Shaped      [pfc.Classes]uint64 // frames that the shaper of their queue had wait
	PortShaped  uint64              // the same of the port's shaper

	RxControlBytes, TxControlBytes uint64 // of the frames that RxControl and TxControl count; of switches only

	QueueBytes  [pfc.Classes]units.Size // waiting to leave through this port
	QueueFrames [pfc.Classes]uint64
	QueuePeak   [pfc.Classes]units.Size
	Buffered    [pfc.Classes]units.Size // came in through this port and has not left yet

	Ingress pfc.IngressCounters // what this port did to its peer
	Egress  pfc.EgressCounters  // what the peer did to this port

	Watchdog pfc.WatchdogCounters // whether it overdid it

	Credits credits.Counters // of a link with credits in place of PFC

	Impaired Impaired // what was done on purpose to frames that came

	Deadlocks  [pfc.Classes]uint64 // how often the queue was found in a cycle of paused ones
	Deadlocked uint8               // priorities that are in one now
}

// Impaired counts what package impair did to the frames that came to a port, before the node saw them.
type Impaired struct {
	Lost, Duplicated, Reordered, Delayed, Corrupted, Marked uint64

	CorruptedLost uint64 // corrupted where frames have no payload: their receivers would have found out
	Pauses        uint64 // XOFFs and XONs that no peer sent
	DelayedNow    uint64 // frames that are being delayed now
}

// Discarded is the number of frames discarded for any reason, per priority.
func (p *PortStats) Discarded() (sum [pfc.Classes]uint64) {
	for r := range p.Discards {
		for q, n := range p.Discards[r] {
			sum[q] += n
		}
	}
	return sum
}

// Stats are the counters of a node.
type Stats struct {
	Ports []PortStats

	NIC NICStats // of a host that carries applications only

	// Switches only.
	Neighbours        [len(neighbour.Statuses)]int // next hops that are asked, by state
	NeighbourFailures uint64                       // how often one did not answer
	RemovedRouted     uint64                       // Routed of the ports that have been removed
	Unlearned         uint64                       // how often an address was not learned for want of a place in the table

	// Hosts only.
	NPMarked   uint64 // data frames received with CE
	NPSent     uint64 // CNPs sent
	RPHandled  uint64 // CNPs that changed or confirmed a flow's rate
	RPIgnored  uint64 // CNPs for flows that are not ours or have not sent, that came too soon, or broken ones
	FlowsBegun uint64
	FlowsDone  uint64
	Timeouts   uint64                     // times a flow sent again because no acknowledgement came in time
	NAKs       uint64                     // answers that packets were missing
	FCTs       [len(FCTBounds) + 1]uint64 // flows completed whose completion time is at most FCTBounds[i]; the last: above all
	FCTSum     units.Time                 // of the completion times
}

// FCTBounds are the upper bounds of the histogram of flow completion times.
var FCTBounds = [...]units.Time{
	10 * units.Microsecond, 30 * units.Microsecond, 100 * units.Microsecond, 300 * units.Microsecond, units.Millisecond, 3 * units.Millisecond,
	10 * units.Millisecond, 30 * units.Millisecond, 100 * units.Millisecond, 300 * units.Millisecond, units.Second, 10 * units.Second,
}

// Frames is how many frames crossed the wire in each direction.
func (p *PortStats) Frames() (sent, received uint64) {
	sent, received = p.TxControl, p.RxControl
	for i := range p.TxFrames {
		sent += p.TxFrames[i]
		received += p.RxFrames[i]
	}
	m := &p.Impaired
	received += m.Lost + m.CorruptedLost + m.DelayedNow - m.Duplicated - m.Pauses
	return sent, received
}

// Rebase implements units.Rebaser.
func (s *PortStats) Rebase(by units.Time) {
	for prio := range s.LostAt {
		s.LostAt[prio].RebaseSet(by)
	}
}
