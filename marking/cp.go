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
}

// Port is what a Stamper tells of the port.
type Port struct {
	Queued units.Size // bytes in all of its queues
	Sent   units.Size // so far, on the wire, without the frame at hand
}

// Packet is what a CP may know of a frame.
type Packet struct {
	Size  int    // bytes, without FCS
	hash  uint32 // see Hash
	known bool   // the hash is
	L3    int    // offset of the IP header; 0: none
	Bytes []byte // the headers at hand, from Ethernet on; only to be read
}

// Show makes p a frame of so many bytes with its IP header at l3. Field by field: a literal is made elsewhere and
// copied, for which the processor waits.
func (p *Packet) Show(size, l3 int, b []byte) {
	p.Size, p.L3, p.Bytes, p.known = size, l3, b, false
}

// ECN is the codepoint that the frame carries; 0: it has no IP header. Few ask for it.
func (p *Packet) ECN() uint8 {
	if p.L3 == 0 {
		return 0
	}
	return wire.ECN(p.Bytes[p.L3:])
}

// Hash is that of the frame's flow. Few ask for it, and it takes longer than all else that they are shown.
func (p *Packet) Hash() uint32 {
	if p.known {
		return p.hash
	}
	hash := wire.FlowHash(p.Bytes)
	p.hash, p.known = hash, true
	return hash
}

// Mark is the verdict on one frame.
type Mark uint8

// Verdicts.
const (
	Unchanged    Mark = iota // leave the ECN field alone
	Congestion               // set CE
	Undetermined             // set TCD's UE, 0b10, unless the frame has CE
)

// CP is the congestion point of one egress queue. One goroutine at a time calls it, in the order of time. It shares
// nothing that changes with those of other ports: these may be ahead of it or behind.
type CP interface {
	// Dequeue judges a frame that just left the queue; q is what it leaves behind.
	Dequeue(now units.Time, q Queue, p *Packet) Mark
	// Resume tells that the queue may send again after a pause, by XON or because the pause timer ran out.
	Resume(now units.Time, q Queue)
}

// Runner is a CP to which nothing of a frame but its size matters: it judges the frames that leave
// together in one call. It is there for speed only: a CP need not have it.
type Runner interface {
	CP
	// DequeueRun judges frames that leave one after the other, at most 63, as so many calls of Dequeue
	// would: a bit is set for each that is to be marked Congestion, the lowest for the first. q is the queue
	// before the first leaves.
	DequeueRun(now units.Time, q Queue, sizes []uint16) (marked uint64)
}

// ByLength is a CP whose marks follow from how long a queue is, and from chance: who fills a queue can say how many
// frames will be marked, as an acceptance run does.
type ByLength interface {
	CP
	// Thresholds are how much may be queued so that no frame is marked, and so that not every frame is.
	Thresholds() (kmin, kmax units.Size)
}

// Flusher is a CP that remembers something of frames in its queue.
type Flusher interface {
	CP
	// Flush tells that all frames of the queue were discarded.
	Flush()
}

// Idler is a CP whose Dequeue leaves every frame unchanged that meets an empty queue and is sent at once, and does not change
// the CP's state by it: it need not be asked. It is there for speed only.
type Idler interface {
	CP
	LeavesUnqueuedUnchanged()
}

// Sampler is a CP that looks at frames as they are queued, and may answer to their sources: QCN samples
// them, PACC counts them.
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
	// Next is when Poll will have something, or Never. Only if it is Never can a frame that is queued bring it nearer.
	Next() units.Time
	// Poll does what is due at now and returns the next flow to whose sender a
	// CNP goes; q is the queue as it stands. It is called until Next is later than now.
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
	// Stamp is what is written into a frame that just left its queue, which is not counted in what the port has queued.
	Stamp(now units.Time, p Port) wire.INTHop
}
