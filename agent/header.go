package agent

import (
	"encoding/binary"

	"photon/units"
	"photon/wire"
)

// A flow's headers are made once, when it begins. Each packet gets a copy, and what is its own: opcode, PSN, a timestamp,
// another length.

// headInlineLen is how many bytes of the headers lie beside the timer: all of RoCEv2 over IPv4.
const headInlineLen = 64

// headMax is the length of all headers of a data packet.
const headMax = wire.CNTagLen + wire.RoCEMaxLen + wire.BTHLen + wire.INTLen + wire.PlaceLen + wire.StampLen

// PacketLen is how many bytes a full packet of the host's flows to other hosts has behind the Ethernet header and
// before the FCS. Packets to queue pairs of the specification have up to wire.RETHLen more headers, and none of a
// scheme's.
func (c *Config) PacketLen() int {
	n := wire.IPv6Len
	if c.IP.Is4() {
		n = wire.IPv4Len
	}
	ext := c.Carry.Extensions()
	if c.Selective != nil {
		ext |= wire.ExtPlace
	}
	if c.Carry.Tag {
		n += wire.CNTagLen
	}
	return n + wire.UDPLen + wire.BTHLen + wire.ExtensionsLen(ext) + c.Payload + wire.ICRCLen
}

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
		f.headOverflow = append(f.headOverflow, head[n:f.headers]...)
	}
}

// putHead copies the headers of a full packet, but for what the BTH says of this one, and zeros up to a line of the
// cache: in worlds that keep no payload, what somebody looks at there must not be an earlier frame's.
func (h *Host) putHead(b []byte, s *sending, id int) {
	if s.headers <= headInlineLen {
		copy(b, s.head[:])
		return
	}
	copy(b[copy(b, s.head[:]):], h.flows[id].headOverflow)
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
	_, at, _ := extensions(b[f.bth+wire.BTHLen:], wire.BTH(b[f.bth:]).Extensions())
	putPlace(at, f.first)
}

// extensions are what a packet carries for its scheme, behind the headers of data and of acknowledgements: telemetry, a PSN
// of selective repeat, a timestamp. Each that ext does not name is empty.
func extensions(b []byte, ext uint8) (telemetry, psn, stamp []byte) {
	if ext&wire.ExtINT != 0 {
		telemetry, b = b[:wire.INTLen], b[wire.INTLen:]
	}
	if ext&wire.ExtPlace != 0 {
		psn, b = b[:wire.PlaceLen], b[wire.PlaceLen:]
	}
	if ext&wire.ExtStamp != 0 {
		stamp = b[:wire.StampLen]
	}
	return telemetry, psn, stamp
}

// setLength corrects the headers of a packet that is not full.
func (f *flow) setLength(b []byte, payload int) {
	udp, l3 := int(f.bth)-wire.UDPLen, int(f.l3)
	length := int(f.headers) - udp + payload + wire.ICRCLen
	b[udp+4], b[udp+5] = byte(length>>8), byte(length)
	wire.SetIPLength(b[l3:], udp-l3+length)
}
