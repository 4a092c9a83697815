// Package credits is the credit-based flow control of InfiniBand as one end of a link has it, per virtual
// lane: InfiniBand Architecture Specification, volume 1, 7.9.4. A sender sends a packet only if the receiver
// has said that it has room for it, so that nothing has to be stopped.
//
//   - Packet encodes and decodes flow control packets, and the frames that carry them.
//   - Port is one end of a link: it counts what it sent (FCTBS) and what it received (ABR), keeps what the peer
//     takes (FCCL), and says when flow control packets are due, and which lanes wait for credits.
//
// It is a package like pfc: both are flow controls, and know nothing of
// each other. Nothing here knows a clock, a queue or a device: time comes in as an argument.
//
// A lane is what Ethernet calls a priority. Buffer is counted in blocks of 64 bytes, modulo 4096; a receiver
// promises at most 2048 of them, so that a lane carries at most 128 KiB in a round trip: long links are slow.
//
// The files, in the order in which they build on each other:
//
//	config.go  what a port goes by; buffer in blocks
//	packet.go  flow control packets
//	port.go    one end of a link
package credits

// Lanes is the number of virtual lanes.
const Lanes = 8

// Block is the unit of credits, in bytes.
const Block = 64

const (
	wrap = 1<<12 - 1 // counters are modulo 4096
	most = 1 << 11   // blocks that are promised at a time
)
