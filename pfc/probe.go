package pfc

import (
	"encoding/binary"

	"photon/wire"
)

// Probe asks along a chain of paused queues whether it leads back to where it
// began: each switch whose queue is paused sends it to the peer that paused it,
// and that one on to those that pause what keeps it from resuming (Chandy, Misra
// and Haas, Distributed deadlock detection, ACM TOCS 1983, section 3: edge
// chasing). It is photon's own; other switches do not answer.
type Probe struct {
	Switch   uint64 // where it began: who sent it,
	Port     uint16 // from which port
	Priority uint8  // and the priority of the queue that is paused
	Hops     uint8  // switches that sent it on
}

// ProbeType is the EtherType for local experiments (IEEE 802 clause 9.2.3).
const ProbeType = 0x88B5

// ProbeDestination is the nearest bridge (802.1Q table 8-1): no bridge forwards it.
const ProbeDestination wire.MAC = 0x0180_C200_000E

// ProbeLen is its length without FCS.
const ProbeLen = FrameLen

// MaxHops bounds how far a probe goes.
const MaxHops = 64

// probeMagic tells photon's probes from others' experiments; the last byte is the version.
const probeMagic = 0x7068_6401

// Encode writes the probe's frame into b, ProbeLen bytes.
func (p *Probe) Encode(b []byte, src wire.MAC) {
	clear(b[:ProbeLen])
	ProbeDestination.Put(b)
	src.Put(b[6:])
	binary.BigEndian.PutUint16(b[12:], ProbeType)
	binary.BigEndian.PutUint32(b[14:], probeMagic)
	binary.BigEndian.PutUint64(b[18:], p.Switch)
	binary.BigEndian.PutUint16(b[26:], p.Port)
	b[28], b[29] = p.Priority, p.Hops
}

// Decode reads a frame of ProbeType, and reports whether it is a probe.
func (p *Probe) Decode(b []byte) bool {
	if len(b) < 30 || binary.BigEndian.Uint32(b[14:]) != probeMagic {
		return false
	}
	*p = Probe{Switch: binary.BigEndian.Uint64(b[18:]), Port: binary.BigEndian.Uint16(b[26:]), Priority: b[28], Hops: b[29]}
	return p.Priority < Classes && p.Hops < MaxHops
}
