package accept

import (
	"bytes"
	"encoding/binary"
	"slices"

	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Data frames are IPv4 and UDP to an unused port, with the number of the stream and of the frame.
const (
	ipAt     = wire.EthernetLen
	udpAt    = ipAt + wire.IPv4Len
	magicAt  = udpAt + wire.UDPLen
	streamAt = magicAt + 4
	numberAt = streamAt + 2
	prioAt   = numberAt + 8 // the priority that it is sent in
	dscpAt   = prioAt + 1   // and the DSCP
	dataLen  = dscpAt + 1   // at least

	magic   = 0x70686f74 // of this package's frames
	discard = 9          // UDP port of the discard protocol, RFC 863
	longest = 1514       // bytes of a frame, without FCS
)

// template is a frame of a stream, but for its number.
func template(from, to wire.MAC, id, dscp int, ect bool, size int) []byte {
	b := make([]byte, size)
	to.Put(b)
	from.Put(b[6:])
	binary.BigEndian.PutUint16(b[12:], wire.TypeIPv4)
	ip := b[ipAt:]
	ip[0], ip[1], ip[8], ip[9] = 0x45, byte(dscp<<2), 64, wire.ProtoUDP
	if ect {
		ip[1] |= wire.ECT0
	}
	binary.BigEndian.PutUint16(ip[2:], uint16(size-ipAt))
	copy(ip[12:], []byte{198, 18, 0, 1, 198, 18, 0, 2}) // of benchmarks, RFC 2544
	wire.SetIPv4Checksum(ip)
	binary.BigEndian.PutUint16(b[udpAt:], discard)
	binary.BigEndian.PutUint16(b[udpAt+2:], discard)
	binary.BigEndian.PutUint16(b[udpAt+4:], uint16(size-udpAt))
	binary.BigEndian.PutUint32(b[magicAt:], magic)
	binary.BigEndian.PutUint16(b[streamAt:], uint16(id))
	b[prioAt], b[dscpAt] = byte(dscp>>3), byte(dscp)
	return b
}

// tagOf is how many bytes of VLAN tag a frame has: so much further behind is all that follows the addresses.
func tagOf(b []byte) int {
	if _, tagged := wire.VLANTag(b); tagged {
		return wire.VLANLen
	}
	return 0
}

// streamOf returns the stream and the number of a frame of ours.
func streamOf(b []byte) (id int, number uint64, ok bool) {
	tag := tagOf(b)
	if len(b) < dataLen+tag || binary.BigEndian.Uint16(b[tag+12:]) != wire.TypeIPv4 ||
		binary.BigEndian.Uint32(b[tag+magicAt:]) != magic {
		return 0, 0, false
	}
	id = int(binary.BigEndian.Uint16(b[tag+streamAt:]))
	return id, binary.BigEndian.Uint64(b[tag+numberAt:]), id < streams
}

// Addresses of all hosts, and of none that there is.
const broadcast, stranger = wire.MAC(0xFFFFFFFFFFFF), wire.MAC(0x02_00_5E_10_00_01)

// wiringFrames are frames of all that a card must pass as it is: the shortest and the longest, one with a VLAN tag, and
// those for a group and for another host. Each has a length and a content of its own.
func wiringFrames(from, to wire.MAC, id int) (all [][]byte) {
	for i, f := range []struct {
		to   wire.MAC
		size int
	}{{to, 60}, {to, longest}, {to, longest}, {broadcast, 128}, {stranger, 256}} {
		b := template(from, f.to, id, 0, false, f.size)
		fill(b, i)
		if i == 2 {
			b = append(make([]byte, wire.VLANLen), b...)
			wire.PushVLANTag(b, lossless<<13|100)
		}
		all = append(all, b)
	}
	return all
}

// fill gives a frame a content of its own.
func fill(b []byte, i int) {
	for k := dataLen; k < len(b); k++ {
		b[k] = byte(k*7 + i + 1)
	}
}

// unchanged reports whether a frame is one of those that were sent, but for its number.
func unchanged(b []byte, sent [][]byte) bool {
	at := tagOf(b) + numberAt
	return slices.ContainsFunc(sent, func(s []byte) bool {
		return len(s) == len(b) && bytes.Equal(b[:at], s[:at]) && bytes.Equal(b[at+8:], s[at+8:])
	})
}

// priorityOf is the priority in which a frame was sent; -1 if it does not have the DSCP any more with which it was.
func priorityOf(b []byte) int {
	b = b[tagOf(b):]
	if b[ipAt+1]>>2 != b[dscpAt] || b[prioAt] >= pfc.Classes {
		return -1
	}
	return int(b[prioAt])
}

// kindFrames are a frame of each way to say a priority. Those of each priority have all four code points of ECN.
func (w *way) kindFrames(id int) (all [][]byte) {
	for i, k := range w.kinds() {
		b := w.frame(id, k, false, 128)
		ip := b[tagOf(b)+ipAt:]
		ip[1] |= byte(i & 3)
		wire.SetIPv4Checksum(ip)
		all = append(all, b)
	}
	return all
}

// marked is a frame as it is after a switch has marked it.
func marked(b []byte) []byte {
	b = slices.Clone(b)
	ip := b[tagOf(b)+ipAt:]
	ip[1] |= wire.CE
	wire.SetIPv4Checksum(ip)
	return b
}

// asStandard reports whether a PFC frame is as IEEE 802.1Q has it, octet by octet, and says this of one priority alone.
// A card may pad it further.
func asStandard(b []byte, prio int, quanta uint16) bool {
	var want [pfc.FrameLen]byte
	f := pfc.Frame{Enable: 1 << prio}
	f.Quanta[prio] = quanta
	from := wire.MACAt(b[6:])
	f.Encode(want[:], from)
	return len(b) >= len(want) && from.Unicast() && bytes.Equal(b[:len(want)], want[:])
}

// stopFor stops priorities for a time; 0 is an XON.
func stopFor(quanta uint16, priorities ...int) *pfc.Frame {
	f := &pfc.Frame{}
	for _, prio := range priorities {
		f.Enable |= 1 << prio
		f.Quanta[prio] = quanta
	}
	return f
}

// xoff stops one priority for as long as a frame can, xon lets it go.
func xoff(prio int) *pfc.Frame { return stopFor(pfc.MaxQuanta, prio) }
func xon(prio int) *pfc.Frame  { return stopFor(0, prio) }

// everything is a PFC frame that stops all priorities.
func everything() *pfc.Frame { return stopFor(pfc.MaxQuanta, 0, 1, 2, 3, 4, 5, 6, 7) }

// pause is an 802.3x PAUSE of the longest time, or with 0 one that ends it.
func pause(quanta uint16) *pfc.Frame {
	f := &pfc.Frame{Global: true}
	f.Quanta[0] = quanta
	return f
}

// onWire is what a frame takes of the link.
func onWire(size int) units.Size { return units.Size(size) + wire.Overhead }
