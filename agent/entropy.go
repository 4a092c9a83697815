package agent

import (
	"encoding/binary"
	"fmt"

	"photon/units"
	"photon/wire"
)

// Entropy says what of a flow has its own UDP source port, by which switches that choose paths by a hash of the headers
// (RFC 7424; RoCEv2, InfiniBand annex A17) send it another way.
type Entropy struct {
	By  EntropyKind
	Gap units.Time // PerFlowlet: a flow that sent nothing for longer gets another port
}

// EntropyKind is what has a source port of its own.
type EntropyKind uint8

// Kinds of entropy. All but PerFlow have packets of a flow overtake each other: receivers must place them (selective
// repeat), or senders send them again.
const (
	PerFlow    EntropyKind = iota // a flow has one port, as RoCEv2 NICs do
	PerPacket                     // each packet has the next of all ports
	PerFlowlet                    // what a flow sends without a gap has one
)

// EntropyKinds are their names.
var EntropyKinds = []string{"flow", "packet", "flowlet"}

func (e Entropy) String() string {
	if e.By == PerFlowlet {
		return fmt.Sprintf("%s after %v", EntropyKinds[e.By], e.Gap)
	}
	return EntropyKinds[e.By]
}

func (e Entropy) check() error {
	switch {
	case int(e.By) >= len(EntropyKinds):
		return fmt.Errorf("entropy: there is no kind %d", e.By)
	case e.By == PerFlowlet && e.Gap <= 0:
		return fmt.Errorf("entropy by flowlet: the gap %v must be positive", e.Gap)
	case e.By != PerFlowlet && e.Gap != 0:
		return fmt.Errorf("entropy by %s: a gap is of flowlets", EntropyKinds[e.By])
	}
	return nil
}

// firstPort is the first of 2^14 source ports of RoCEv2: the dynamic range.
const firstPort = 0xC000

// sourcePort is one of the dynamic range for a number. Neighbouring numbers have ports that are far from each other, and
// 2^14 in a row have them all.
func sourcePort(n uint32) uint16 { return firstPort | uint16(n*0x9E35)&0x3FFF }

// renewPort gives the flow another source port if its next packet is to have one.
func (h *Host) renewPort(now units.Time, f *flow) {
	e := &h.config.Entropy
	if e.By == PerFlowlet && (f.frames() == 0 || now-f.base <= e.Gap) {
		return
	}
	h.entropy++
	binary.BigEndian.PutUint16(f.head[f.bth-wire.UDPLen:], sourcePort(h.entropy))
}
