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
	dataLen  = numberAt + 8 // at least

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

// wiringFrames are frames of all that a card must pass as it is: the shortest and the longest, one with a VLAN tag, and
// those for a group and for another host. Each has a length and a content of its own.
func wiringFrames(from, to wire.MAC, id int) (all [][]byte) {
	const broadcast, stranger = 0xFFFFFFFFFFFF, 0x02_00_5E_10_00_01
	for i, f := range []struct {
		to   wire.MAC
		size int
	}{{to, 60}, {to, longest}, {to, longest}, {broadcast, 128}, {stranger, 256}} {
		b := template(from, f.to, id, 0, false, f.size)
		for k := dataLen; k < len(b); k++ {
			b[k] = byte(k*7 + i + 1)
		}
		if i == 2 {
			b = append(make([]byte, wire.VLANLen), b...)
			wire.PushVLANTag(b, lossless<<13|100)
		}
		all = append(all, b)
	}
	return all
}

// unchanged reports whether a frame is one of those that were sent, but for its number.
func unchanged(b []byte, sent [][]byte) bool {
	at := tagOf(b) + numberAt
	return slices.ContainsFunc(sent, func(s []byte) bool {
		return len(s) == len(b) && bytes.Equal(b[:at], s[:at]) && bytes.Equal(b[at+8:], s[at+8:])
	})
}

// xoff stops one priority for as long as a frame can, xon lets it go.
func xoff(prio int) *pfc.Frame {
	f := &pfc.Frame{Enable: 1 << prio}
	f.Quanta[prio] = pfc.MaxQuanta
	return f
}

func xon(prio int) *pfc.Frame { return &pfc.Frame{Enable: 1 << prio} }

// everything is a PFC frame that stops all priorities.
func everything() *pfc.Frame {
	f := &pfc.Frame{Enable: 0xFF}
	for i := range f.Quanta {
		f.Quanta[i] = pfc.MaxQuanta
	}
	return f
}

// pause is an 802.3x PAUSE of the longest time, or with 0 one that ends it.
func pause(quanta uint16) *pfc.Frame {
	f := &pfc.Frame{Global: true}
	f.Quanta[0] = quanta
	return f
}

// onWire is what a frame takes of the link.
func onWire(size int) units.Size { return units.Size(size) + wire.Overhead }
