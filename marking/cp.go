package marking

import (
	"photon/units"
	"photon/wire"
)

// Place is the egress queue that a congestion point belongs to.
type Place struct {
	Port, Prio int
	Rate       units.Rate // of the link
}

// Queue is what a CP may know of its egress queue at one moment.
type Queue struct {
	Bytes  units.Size
	Frames int
	Port   units.Size // bytes in all queues of the port
	Sent   units.Size // by the port so far, on the wire, without the frame at hand
}

// Packet is what a CP may know of a frame.
type Packet struct {
	Size  int    // bytes, without FCS
	Hash  uint32 // of its flow
	ECN   uint8  // codepoint it carries
	L3    int    // offset of the IP header; 0: none
	Bytes []byte // the headers at hand, from Ethernet on; only to be read
}

// Mark is the verdict on one frame.
type Mark uint8

// Verdicts.
const (
	Keep         Mark = iota // leave the ECN field alone
	Congestion               // set CE
	Undetermined             // set TCD's UE, 0b10, unless the frame has CE
)

// CP is the congestion point of one egress queue. One goroutine at a time calls it.
type CP interface {
	// Dequeue judges a frame that just left the queue; q is what it leaves behind.
	Dequeue(now units.Time, q Queue, p *Packet) Mark
	// Resume tells that the queue may send again after a pause, by XON or because the pause timer ran out.
	Resume(now units.Time, q Queue)
}

// Burst is a CP that can judge the frames that leave a queue together in one
// call, since all it wants to know of a frame is its size. It is there for speed
// only: a CP need not have it.
type Burst interface {
	CP
	// DequeueBurst judges len(sizes) frames that leave one after the other, as so
	// many calls of Dequeue would, and sets their marks, Keep or Congestion. q is the
	// queue before the first leaves, without Port and Sent.
	DequeueBurst(now units.Time, q Queue, sizes []uint16, marks []Mark)
}

// Spanner is a Burst that marks none of the frames that leave together, or some
// that follow each other: it need not look at each. It is there for speed only.
type Spanner interface {
	Burst
	// DequeueSpan does what DequeueBurst does for n frames, of so many bytes
	// together and none of them empty: marked are those from the first result on and
	// before the second.
	DequeueSpan(now units.Time, q Queue, n int, bytes units.Size) (from, to int)
}

// Keeper is a CP that keeps every frame that leaves at most so many bytes behind, in
// this priority's queue, and whose state does not change by it: it need not be
// asked. It is there for speed only.
type Keeper interface {
	Burst
	Keeps() units.Size
}

// Sampler is a CP that samples frames as they are queued and answers to their
// sources (QCN).
type Sampler interface {
	CP
	// Enqueue tells that a frame was queued; q includes it. If ok, the switch
	// sends a congestion notification message to the frame's source.
	Enqueue(now units.Time, q Queue, p *Packet) (s Sample, ok bool)
}

// Sample is what QCN says about a frame it sampled.
type Sample struct {
	QntzFb  uint8      // quantised feedback, 1 to 63
	QOffset units.Size // set point less queue
	QDelta  units.Size // growth of the queue since the last sample
}

// Notifier is a CP that sends CNPs of its own accord (PACC).
type Notifier interface {
	CP
	// Next is when Poll will have something, or Never.
	Next() units.Time
	// Poll does what is due at now and returns the next flow to whose sender a
	// CNP goes; q is the queue as it stands.
	Poll(now units.Time, q Queue) (f Flow, ok bool)
}

// Flow is where the CNPs of a flow go.
type Flow struct {
	SrcMAC, DstMAC wire.MAC
	Src, Dst       wire.IP
	QP             uint32
}

// Stamper is a CP that writes telemetry into frames that have room for it (HPCC).
type Stamper interface {
	CP
	// Stamp is what is written into a frame that just left the queue.
	Stamp(now units.Time, q Queue) wire.INTHop
}
