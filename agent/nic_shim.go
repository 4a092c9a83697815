package agent

import (
	"encoding/binary"

	"photon/cnp"
	"photon/fabric"
	"photon/flowtable"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// Schemes that measure every packet (HPCC, TIMELY) need fields in it for which the
// packets of applications have no room: a number, the sender's clock, telemetry. A NIC
// wraps them: before the IP header goes a RoCEv2 packet of its own, from and to the
// same addresses and with the same DSCP, whose payload is the application's packet.
// Switches stamp and mark it as they do any other. The NIC at the other end takes
// it off again, and answers with an echo, which the sending NIC consumes.
//
//	Ethernet and tags | IP UDP BTH [INT] echo block | IP packet | ICRC
//
// The BTH names the flow by a number of the sender's, which the echo brings back.
// The echo block is the sender's clock (8 bytes), what the flow has sent with this
// frame, on the wire (6), and this frame's length on the wire (2).

// ShimLen is by how much frames of a scheme's flows grow, over IPv6, the scheme's tag included; over IPv4 it
// is 20 bytes less. 0: they are not wrapped, but may have a tag.
func ShimLen(c cnp.Carry) int {
	if !c.Ack {
		return 0
	}
	length := shimFront(c, wire.IPv6Len) + wire.ICRCLen
	if c.Tag {
		length += wire.CNTagLen
	}
	return length
}

func shimFront(c cnp.Carry, ip int) int {
	return ip + wire.UDPLen + wire.BTHLen + wire.ExtensionsLen(shimExtensions(c)) + wire.EchoLen
}

// shimExtensions are those of the BTH's: the clock is in the echo block.
func shimExtensions(c cnp.Carry) uint8 { return c.Extensions() & wire.ExtINT }

// Of a flow's number the lower bits are its slot, and the upper change when it is
// given to another flow.
const (
	shimSlots = 16
	countMask = 1<<48 - 1
)

// isShim reports whether a frame is between two NICs.
func isShim(b []byte, h *wire.Header) bool {
	if h.BTH == 0 {
		return false
	}
	op := wire.BTH(b[h.BTH:]).Opcode()
	return op == wire.OpShim || op == wire.OpShimEcho
}

// room makes sure that a frame of the application's can be wrapped where it is,
// if it is to be.
func (n *NIC) room(f *fabric.Frame, h *wire.Header) bool {
	front := shimFront(n.config.Carry, ipLen(n.env.Header(*f)[h.L3:]))
	if n.config.Carry.Tag {
		front += wire.CNTagLen
	}
	if int(f.Off) >= front {
		return true
	}
	g, ok := n.env.Alloc(int(f.Len) + front)
	if !ok {
		return false
	}
	g.Off, g.Len, g.Prio = g.Off+uint16(front), f.Len, f.Prio
	copy(n.env.Header(g), n.env.Header(*f))
	n.env.Free(*f)
	*f = g
	return true
}

// ipLen is the length of an IP header without options: of the kind that is put before.
func ipLen(ip []byte) int {
	if ip[0]>>4 == 6 {
		return wire.IPv6Len
	}
	return wire.IPv4Len
}

// wrap makes a frame that leaves now the payload of a packet between NICs.
func (n *NIC) wrap(now units.Time, f *fabric.Frame, id int) {
	fl, key := &n.flows[id], n.byKey.Key(id)
	b := n.env.Header(*f)
	var h wire.Header
	wire.Parse(b, &h)
	ext := shimExtensions(n.config.Carry)
	ip := ipLen(b[h.L3:])
	front := shimFront(n.config.Carry, ip)
	var ethernet [wire.EthernetLen + 2*wire.VLANLen + wire.CNTagLen]byte
	head := copy(ethernet[:], b[:h.Payload])
	f.Off -= uint16(front)
	f.Len += uint16(front + wire.ICRCLen)
	b = n.env.Header(*f)
	to := wire.RoCE{Src: key.here, Dst: key.there, TOS: h.TOS&^3 | n.config.Carry.ECT, SrcPort: firstPort | uint16(hashApp(key))&0x3FFF}
	bth := head - wire.EthernetLen
	bth += to.Encode(b[bth:], int(f.Len)-head-ip-wire.UDPLen)
	copy(b, ethernet[:head])
	wire.BTH(b[bth:]).Encode(wire.OpShim, false, fl.shimQP(id), true, uint32(fl.frames))
	wire.BTH(b[bth:]).SetExtensions(ext)
	block := b[bth+wire.BTHLen:]
	clear(block[:wire.ExtensionsLen(ext)])
	block = block[wire.ExtensionsLen(ext):]
	length := n.config.Link.WireBytes(int(f.Len))
	fl.sent += uint64(length)
	binary.BigEndian.PutUint64(block, uint64(now+n.laps))
	binary.BigEndian.PutUint64(block[8:], fl.sent<<16|uint64(length))
	if len(b) == int(f.Len) { // the world carries payload, too
		wire.SealICRC(b[head:], bth-head)
	}
}

func (f *appFlow) shimQP(id int) uint32 { return uint32(f.use)<<shimSlots | uint32(id) }

// unwrap takes off what the NIC at the other end has put on, and notes what is to
// be echoed. It reports whether that was possible; if not, the frame is unusable.
func (n *NIC) unwrap(f *fabric.Frame, h *wire.Header, a *ack) bool {
	b := n.env.Header(*f)
	bth := wire.BTH(b[h.BTH:])
	ext := bth.Extensions()
	at := h.BTH + wire.BTHLen
	end := at + wire.ExtensionsLen(ext) + wire.EchoLen
	if ext&^wire.ExtINT != 0 || int(f.Len) < end+wire.IPv4Len+wire.ICRCLen || len(b) == int(f.Len) && !wire.ICRCOK(b[h.L3:], h.BTH-h.L3) {
		return false
	}
	*a = ack{psn: bth.PSN(), msn: bth.DestQP(), mark: h.TOS & 3, ext: ext}
	if ext&wire.ExtINT != 0 {
		at += copy(a.hops[:], b[at:])
	}
	at += copy(a.stamp[:], b[at:])
	copy(a.count[:], b[at:])
	var inner wire.Header
	var ethernet [wire.EthernetLen + 2*wire.VLANLen + wire.CNTagLen]byte
	head := copy(ethernet[:], b[:h.L3])
	if copy(b[end-head:], ethernet[:head]); !wire.Parse(b[end-head:], &inner) || inner.L3 == 0 || isShim(b[end-head:], &inner) {
		return false
	}
	// The mark of the outer header is the packet's (RFC 6040).
	if h.TOS&3 == wire.CE && !n.config.ClearCE && inner.TOS&3 != wire.NotECT {
		wire.SetECN(b[end-head+inner.L3:], wire.CE)
		inner.TOS |= wire.CE
	}
	f.Off += uint16(end - head)
	f.Len -= uint16(end - head + wire.ICRCLen)
	*h = inner
	return true
}

// fromNIC takes what another NIC has wrapped: the application gets its packet, its
// sender an echo.
func (n *NIC) fromNIC(now units.Time, f fabric.Frame, h *wire.Header) {
	var a ack
	ecn := h.TOS & 3
	if !n.unwrap(&f, h, &a) {
		n.discard(Wire, f, fabric.DropMalformed)
		return
	}
	b := n.env.Header(f)
	if h.CNTagged && n.config.Carry.Tag {
		b = n.untag(&f, h)
	}
	if key, ok := classify(b, h, f.Prio, false); ok {
		if slot := n.showNP(now, key, h, ecn, f); slot != flowtable.None {
			n.queueEcho(slot, &a)
		}
	}
	n.give(f, h)
}

// queueEcho queues the echo of a frame. A flow that has no more room replaces its
// last echo, whose byte count the new one includes.
func (n *NIC) queueEcho(slot int, a *ack) {
	p, q := &n.peers[slot], &n.echoes
	if p.echoes == 0 || q.tail-q.head < q.shared {
		p.lastEcho = q.push()
		p.echoes++
	}
	a.slot = int32(slot)
	*q.at(p.lastEcho) = *a
}

// echo makes the next echo; stop says that there is no memory for one.
func (n *NIC) echo() (f fabric.Frame, made, stop bool) {
	a := n.echoes.at(n.echoes.head)
	length := wire.BTHLen + wire.ExtensionsLen(a.ext) + wire.EchoLen + wire.ICRCLen
	if f, made = n.env.Alloc(wire.RoCEMaxLen + length); !made {
		return f, false, true
	}
	n.echoes.pop()
	slot := int(a.slot)
	p, key := &n.peers[slot], n.table.Key(slot)
	p.echoes--
	b := n.env.Header(f)
	to := wire.RoCE{DstMAC: p.there, SrcMAC: p.here, Src: key.here, Dst: key.there, TOS: n.config.ControlDSCP << 2, SrcPort: p.srcPort}
	at := to.Encode(b, length)
	bth := wire.BTH(b[at:])
	bth.Encode(wire.OpShimEcho, false, a.msn, false, a.psn)
	bth.SetExtensions(a.ext)
	bth.SetECNEcho(n.config.Carry.ECT == wire.ECT1 && a.mark == wire.ECT0, a.mark == wire.CE)
	rest := b[at+wire.BTHLen:]
	if a.ext&wire.ExtINT != 0 {
		rest = rest[copy(rest, a.hops[:]):]
	}
	copy(rest[copy(rest, a.stamp[:]):], a.count[:])
	f.Len = uint16(at + length)
	wire.SealICRC(b[wire.EthernetLen:f.Len], at-wire.EthernetLen)
	n.made[n.cnpPrio]++
	n.stats.NIC.EchoesSent++
	return f, true, false
}

// takeEcho passes an echo to its flow's reaction point. It counts if it is about a frame
// that the flow has sent, and no echo of a later frame was accepted.
func (n *NIC) takeEcho(now units.Time, b []byte, h *wire.Header) (malformed bool) {
	bth := wire.BTH(b[h.BTH:])
	ext := bth.Extensions()
	at := h.BTH + wire.BTHLen
	end := at + wire.ExtensionsLen(ext) + wire.EchoLen + wire.ICRCLen
	if len(b) < end || ext&^wire.ExtINT != 0 || !wire.ICRCOK(b[h.L3:end], h.BTH-h.L3) {
		n.refuse(fabric.CNPMalformed)
		return true
	}
	id := int(bth.DestQP() & (1<<shimSlots - 1))
	src, dst := wire.Addresses(b[h.L3:])
	if id >= len(n.flows) || !n.flows[id].active() || n.flows[id].acker == nil || n.flows[id].shimQP(id) != bth.DestQP() || n.byKey.Key(id).there != src || n.byKey.Key(id).here != dst {
		n.refuse(fabric.CNPUnknown)
		return false
	}
	f := &n.flows[id]
	block := b[end-wire.ICRCLen-wire.EchoLen:]
	count := binary.BigEndian.Uint64(block[8:])
	upTo := f.sent - (f.sent-count>>16)&countMask
	packet := f.frames - uint64((uint32(f.frames)-bth.PSN())&psnMask)
	switch {
	case f.frames == 0:
		n.refuse(fabric.CNPNotSent)
		return false
	case upTo <= f.arrived || upTo > f.sent || packet >= f.frames:
		n.refuse(fabric.CNPUnknown)
		return false
	}
	f.arrived = upTo
	f.lastNotice = now
	n.ack = ratelimit.Ack{Packet: packet, Next: f.frames, CE: bth.BECN(), UE: bth.FECN()}
	if ext&wire.ExtINT != 0 {
		n.ack.Hops = wire.INT(b[at : at+wire.INTLen])
	}
	// The clock is in the echo whatever the scheme is, but one that asks for none gets none, as from a host.
	if left := units.Time(binary.BigEndian.Uint64(block)) - n.laps; n.config.Carry.Stamp && left > 0 && left < now {
		n.ack.RTT = max(now-left-n.config.Link.Rate.Serialize(units.Size(count&0xFFFF)), 1)
	}
	f.acker.Ack(now, &n.ack)
	n.stats.NIC.EchoesTaken++
	n.replace(now, id)
	if _, waiting := n.pacer.Waiting(id); waiting {
		f.awaiting = false
		n.schedule(now, id)
	}
	return false
}

// schedule says when a flow's next frame leaves: a gap after the last was due; if
// its window is full, when an echo has come, or all of them are lost. A frame
// must wait, and the flow must not be ready at the port already.
func (n *NIC) schedule(now units.Time, id int) {
	f := &n.flows[id]
	if f.windower != nil && f.sent > f.arrived && units.Size(f.sent-f.arrived) >= f.windower.Window() {
		f.awaiting = true
		n.pacer.Wait(id, f.prio, now+echoTimeout)
		return
	}
	n.pacer.Wait(id, f.prio, f.departure(now, n.pacer))
}

// echoTimeout is when frames without an echo are assumed to have arrived, so that a lost
// echo does not stop a flow for ever.
const echoTimeout = 100 * units.Millisecond
