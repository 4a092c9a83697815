package agent

import (
	"encoding/binary"

	"photon/units"
	"photon/wire"
)

// A flow's headers are made once, when it begins. Each packet gets a copy, and what is its own: opcode, PSN, a timestamp,
// another length.

// headNear is how many bytes of the headers lie beside the timer: all of RoCEv2
// over IPv4.
const headNear = 64

// headMax is the length of all headers of a data packet.
const headMax = wire.CNTagLen + wire.RoCEMaxLen + wire.BTHLen + wire.INTLen + wire.PlaceLen + wire.StampLen

// encodeHead prepares the headers of a full packet in the middle of the flow.
func (h *Host) encodeHead(f *flow, id int) {
	r := wire.RoCE{
		DstMAC: f.spec.PeerMAC, SrcMAC: h.config.MAC, Src: h.config.IP, Dst: f.spec.Peer,
		TOS: f.spec.DSCP<<2 | h.config.Carry.ECT, SrcPort: f.spec.sourcePort(),
	}
	ext := h.config.Carry.Extensions()
	if f.scoreboard != nil {
		ext |= wire.ExtPlace
	}
	tag := 0
	if h.config.Carry.Tag {
		tag = wire.CNTagLen
	}
	var head [headMax]byte
	f.bth = uint8(tag + r.Encode(head[tag:], wire.BTHLen+wire.ExtensionsLen(ext)+h.config.Payload+wire.ICRCLen))
	if h.config.Carry.Tag {
		copy(head[:12], head[tag:])
		binary.BigEndian.PutUint16(head[12:], wire.TypeCNTag)
		binary.BigEndian.PutUint16(head[14:], uint16(id))
	}
	bth := wire.BTH(head[f.bth:])
	bth.Encode(wire.OpSendMiddle, false, f.spec.QP, h.config.Carry.Ack, 0)
	bth.SetExtensions(ext)
	f.l3 = uint8(tag + wire.EthernetLen)
	f.headers = f.bth + uint8(wire.BTHLen+wire.ExtensionsLen(ext))
	if n := copy(f.head[:], head[:]); n < int(f.headers) { // behind the headers are zeros
		f.headFar = append(f.headFar, head[n:f.headers]...)
	}
}

// putHead copies the headers of a full packet, but for what the BTH says of this one,
// and zeros up to a line of the cache: in worlds that keep no payload, what somebody
// looks at there must not be an earlier frame's.
func (h *Host) putHead(b []byte, s *sending, id int) {
	if s.headers <= headNear {
		copy(b, s.head[:])
		return
	}
	copy(b[copy(b, s.head[:]):], h.flows[id].headFar)
}

// putNear is putHead of headers that are all beside the timer. Word by word: a copy of so few
// bytes is mostly the call of it.
func (s *sending) putNear(b *[headNear]byte) {
	head := &s.head
	putLE(b[0:8], le(head[0:8]))
	putLE(b[8:16], le(head[8:16]))
	putLE(b[16:24], le(head[16:24]))
	putLE(b[24:32], le(head[24:32]))
	putLE(b[32:40], le(head[32:40]))
	putLE(b[40:48], le(head[40:48]))
	putLE(b[48:56], le(head[48:56]))
	putLE(b[56:64], le(head[56:64]))
}

// stampAndSeal writes what only some packets have: when they were sent, and in worlds that carry payload, too, the payload,
// which is zeros, and an ICRC.
func (h *Host) stampAndSeal(now units.Time, s *sending, b []byte, length, payload int) {
	if h.stamps {
		binary.BigEndian.PutUint64(b[int(s.headers)-wire.StampLen:], uint64(now+h.laps))
	}
	if len(b) == length {
		clear(b[s.headers:])
		end := int(s.headers) + payload + wire.ICRCLen
		wire.SealICRC(b[s.l3:end], int(s.bth-s.l3))
	}
}

// putPlace writes the PSN of the flow's first packet into another of its packets.
func (f *flow) putPlace(b []byte) {
	ext, at := wire.BTH(b[f.bth:]).Extensions(), int(f.headers)-wire.PlaceLen
	if ext&wire.ExtStamp != 0 {
		at -= wire.StampLen
	}
	putPlace(b[at:], f.first)
}

// setLength corrects the headers of a packet that is not full.
func (f *flow) setLength(b []byte, payload int) {
	udp, l3 := int(f.bth)-wire.UDPLen, int(f.l3)
	length := int(f.headers) - udp + payload + wire.ICRCLen
	b[udp+4], b[udp+5] = byte(length>>8), byte(length)
	wire.SetIPLength(b[l3:], udp-l3+length)
}
