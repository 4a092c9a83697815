package agent

import (
	"photon/units"
	"photon/wire"
)

// flow is what a host knows of a flow that it sends. It has five lines of the cache; what an acknowledgement needs is in
// the first.
type flow struct {
	pacing                  // when packets leave
	requester               // which packet is next, and what has arrived
	last         lastPacket // how the flow ends
	message                 // what it has to do with other flows
	feedback                // what it hears of the network
	spec         FlowSpec
	firstBit     units.Time // when the first packet left
	headOverflow []byte     // what of the headers does not fit into sending.head
}

// sending is what every packet of a flow needs. It lies beside the flow's timer, and is with it two cache lines: with
// many flows each line is one that the processor has to wait for.
type sending struct {
	head    [headInlineLen]byte
	next    uint64     // number of the packet to send next; its lower 24 bits are the PSN
	base    units.Time // departure time of the packet sent last
	gap     units.Time // to the next packet, while the reaction point is steady; 0: it must be asked
	plain   uint32     // how many packets from the next on are plain, see makePacket
	l3, bth uint8      // offsets in the headers
	headers uint8      // their length
	_       uint8
}

// lastPacket is a flow's last packet, which may be shorter than the others.
type lastPacket struct {
	sent    uint32 // how often: it may have been sent again
	payload uint16
}

// isMessage reports whether the flow shares its reaction point. Like isPair it looks into the first line of the cache
// before it looks into others.
func (f *flow) isMessage() bool { return f.neverPlain && f.shared != nil }

// isPair reports whether the flow is one of a queue pair of the specification.
func (f *flow) isPair() bool { return f.neverPlain && f.spec.Pair != nil }

// payloadOf is how much payload a packet of a flow has: its last, or any other.
func (h *Host) payloadOf(f *flow, last bool) int {
	if last {
		return int(f.last.payload)
	}
	return int(h.payload)
}

// onWire is the length of such a packet on the wire.
func (h *Host) onWire(f *flow, last bool) int {
	return h.onLink(frameLen(int(f.headers) + h.payloadOf(f, last)))
}

// frameLen is the length of a frame with so many bytes before the ICRC.
func frameLen(bytes int) int { return max(bytes+wire.ICRCLen, wire.MinFrameLen) }

// FlowCounts are what was counted of a flow that is sent.
type FlowCounts struct {
	FirstBit units.Time // when its first packet left; 0: none has
	Frames   uint64     // data frames sent, repetitions included
	Repeated uint64     // of them, those that were sent again, or are to be
	Bytes    uint64     // of them on the wire
	Notified uint64     // CNPs and CNMs that came for it
}

// fill says what was counted of a flow. It writes into the place of the result: returned, it would be copied, which costs
// as much as all the rest of Flow.
func (c *FlowCounts) fill(h *Host, f *flow) {
	c.FirstBit, c.Frames, c.Repeated, c.Notified = f.firstBit, f.frames(), f.repeated, f.notified
	if p := f.spec.Pair; p != nil {
		s := &p.queue.sender
		c.Frames, c.Repeated, c.Bytes = s.frames, s.again, s.bytes
		return
	}
	last := uint64(f.last.sent)
	c.Bytes = (c.Frames-last)*uint64(h.onWire(f, false)) + last*uint64(h.onWire(f, true))
}

// FlowState is what can be seen of a flow while it is sent.
type FlowState struct {
	Spec FlowSpec
	FlowCounts
	Active   bool
	Prio     uint8
	Rate     units.Rate // that the reaction point allows
	NoWindow bool       // no byte may be under way: the window of its reaction point is 0 or less
	Limited  bool       // a rate limiter is associated with it: its reaction point holds it below the line's rate

	// Responses are those of the flow's Pair. While there are any to be sent they are a flow of their own, with
	// the same Spec.Pair but for its own counts: those of a pair's messages.
	Responses Responses
}

// Flow returns the state of a slot that AddFlow returned.
func (h *Host) Flow(now units.Time, id int) (s FlowState) {
	f := &h.flows[id]
	if f.sending == nil { // the slot was never taken
		return s
	}
	s.Spec, s.Active, s.Prio = f.spec, f.active(), f.prio
	s.fill(h, f)
	if p := f.spec.Pair; p != nil {
		s.Responses = p.queue.responses
	}
	if s.Active {
		s.Rate, s.Limited = f.rate(now), f.limited(now, h.config.Link.Rate)
		s.NoWindow = f.windower != nil && f.windower.Window() <= 0
	}
	return s
}

// Flows returns the slots that may hold flows: from 0 to Flows()-1.
func (h *Host) Flows() int { return len(h.flows) }

// Hash is what switches make of a flow's headers.
func (h *Host) Hash(id int) uint32 {
	var hdr wire.Header
	f := &h.flows[id]
	wire.Parse(append(f.head[:], f.headOverflow...), &hdr)
	return hdr.Hash
}

// Timeouts is how often a sender sent again because nothing was acknowledged in time.
func (h *Host) Timeouts() uint64 { return h.timeouts }

// DataSent is how many bytes of data, on the wire, the host has sent in all.
func (h *Host) DataSent() uint64 { return h.dataSent }
