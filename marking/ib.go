package marking

import (
	"fmt"

	"photon/units"
)

// IBParams are the congestion point of InfiniBand, the attribute SwitchCongestionSetting of a switch (InfiniBand
// Architecture Specification, volume 1, annex A10).
type IBParams struct {
	Weight     int        // Threshold: 0 never marks, 1 marks queues above 15/16 of Reference, 15 above 1/16 of it
	Reference  units.Size // what the threshold is a part of; the specification leaves it to the switch
	PacketSize units.Size // shorter frames are not marked; the attribute counts units of 64 bytes
	Rate       int        // Marking_Rate: frames that could be marked between two that are
	Victims    bool       // Victim_Mask: the port marks also while it is a victim, of a peer that takes too little
}

// Validate says what is wrong with the parameters, in one line.
func (p IBParams) Validate() error {
	switch {
	case p.Weight < 0 || p.Weight > 15:
		return fmt.Errorf("threshold %d must be from 0 to 15", p.Weight)
	case p.Reference <= 0:
		return fmt.Errorf("reference %v must be positive", p.Reference)
	case p.PacketSize < 0 || p.PacketSize > 255*64:
		return fmt.Errorf("packet_size %v must be from 0 to 16320B", p.PacketSize)
	case p.Rate < 0 || p.Rate > 65535:
		return fmt.Errorf("marking_rate %d must be from 0 to 65535", p.Rate)
	}
	return nil
}

// IB marks what leaves a queue above a threshold behind, if the port is the root of the congestion: it had credits
// for the frame. A frame that stood at the head of its queue without them was delayed by the peer; the port is a
// victim when it leaves, and marks it only if so configured. Flow control that pauses stops frames in the same way.
// FECN is the CE of the IP header here, as in RoCEv2 (annex A17.9.3).
type IB struct {
	params    IBParams
	threshold units.Size
	toSkip    int  // frames that are left out before the next is marked
	delayed   bool // the frame at the head of the queue had to wait for the peer
}

var (
	_ Runner  = (*IB)(nil)
	_ Idler   = (*IB)(nil)
	_ Flusher = (*IB)(nil)
)

// NewIB returns the congestion point of InfiniBand.
func NewIB(p IBParams) *IB {
	return &IB{params: p, threshold: p.Reference * units.Size(16-p.Weight) / 16}
}

// Dequeue marks what leaves more than the threshold behind.
func (b *IB) Dequeue(_ units.Time, q Queue, p *Packet) Mark {
	if b.marks(q.Bytes, units.Size(p.Size)) {
		return Congestion
	}
	return Unchanged
}

func (b *IB) marks(left, size units.Size) bool {
	victim := b.delayed
	b.delayed = false
	switch {
	case b.params.Weight == 0 || left <= b.threshold || victim && !b.params.Victims || size < b.params.PacketSize:
		return false
	case b.toSkip > 0:
		b.toSkip--
		return false
	}
	b.toSkip = b.params.Rate
	return true
}

// DequeueRun judges several frames.
func (b *IB) DequeueRun(_ units.Time, q Queue, sizes []uint16) (marked uint64) {
	for i, size := range sizes {
		q.Bytes -= units.Size(size)
		if b.marks(q.Bytes, units.Size(size)) {
			marked |= 1 << (i & 63)
		}
	}
	return marked
}

// LeavesUnqueuedUnchanged says that a frame alone leaves no queue behind, and the threshold is not negative.
func (b *IB) LeavesUnqueuedUnchanged() {}

// Resume notes that the first frame of the queue was delayed.
func (b *IB) Resume(_ units.Time, q Queue) { b.delayed = q.Frames > 0 }

// Flush forgets the frame that was delayed.
func (b *IB) Flush() { b.delayed = false }
