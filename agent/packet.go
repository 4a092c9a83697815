package agent

import (
	"encoding/binary"
	"unsafe"

	"photon/dataplane"
	"photon/internal/memory"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// A flow's packets are made here, when its turn at the port comes:
//
//	data → packet         all packets but for
//	     → particular     the first, the last, those that ask to be acknowledged, those of messages
//	                      and windows, and the one after a timeout
//
// Both schedule the flow's next.

// sending is what every packet of a flow needs. It lies next to the flow's timer,
// in two cache lines together: with many flows the processor waits for each line.
type sending struct {
	head [headNear]byte
	next uint64     // number of the packet to send next; its lower 24 bits are the PSN
	base units.Time // departure time of the packet sent last
	gap  units.Time // to the next packet, while the reaction point is steady; 0: it must be asked
	// How many packets may be sent that are like all others: full, in the middle,
	// of a flow that waits for nothing, behind another such packet. Only for others
	// is there anything to look at in the flow.
	plain   uint32
	l3, bth uint8 // offsets in the headers
	headers uint8 // their length
	_       uint8
}

// headNear is how many bytes of the headers lie next to the timer: all of RoCEv2
// over IPv4.
const headNear = 64

// headMax is the length of all headers of a data packet.
const headMax = wire.CNTagLen + wire.RoCEMaxLen + wire.BTHLen + wire.INTLen + wire.PlaceLen + wire.StampLen

// mostPlain is how many plain packets there may be in a row: the timer is looked at in between.
const mostPlain = 1024

// sourcePort is the UDP source port of a flow.
func (s *FlowSpec) sourcePort() uint16 {
	if s.SrcPort != 0 {
		return s.SrcPort
	}
	by := s.QP
	if s.Shared != 0 {
		by = s.Shared
	}
	return firstPort | uint16(by^by>>14)&0x3FFF // as RoCEv2 NICs do
}

// encodeHead prepares the headers of a full packet in the middle of the flow.
func (h *Host) encodeHead(f *flow, id int) {
	r := wire.RoCE{
		DstMAC: f.spec.PeerMAC, SrcMAC: h.config.MAC, Src: h.config.IP, Dst: f.spec.Peer,
		TOS: f.spec.DSCP<<2 | h.config.Carry.ECT, SrcPort: f.spec.sourcePort(),
	}
	ext := h.config.Carry.Extensions()
	if f.board != nil {
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
		f.more = append(f.more, head[n:f.headers]...)
	}
}

// data makes the next packet of the first flow of a class.
func (h *Host) data(now units.Time, frame *dataplane.Frame, prio uint8) (made, stop bool) {
	id, due := h.pacer.Pop(int(prio))
	return h.packet(now, frame, id, due, prio)
}

// packet makes the next packet of a flow that the pacer gave out. stop says that there is no memory.
func (h *Host) packet(now units.Time, frame *dataplane.Frame, id int, due units.Time, prio uint8) (made, stop bool) {
	s := h.pacer.Beside(id)
	if s.plain == 0 {
		return h.particular(now, frame, id, due)
	}
	length := max(int(s.headers)+int(h.payload)+wire.ICRCLen, wire.MinFrameLen)
	if !h.env.AllocAt(frame, length) {
		h.pacer.Wait(id, prio, due)
		return false, true
	}
	if b := h.env.Start(frame); b != nil && s.headers <= headNear && !h.stamps && !h.env.Whole(length) {
		s.put(b)
		wire.BTH(b[s.bth&63:]).SetPSN(uint32(s.next), h.ackEach)
	} else {
		b := h.env.Bytes(frame)
		h.putHead(b, s, id)
		wire.BTH(b[s.bth:]).SetPSN(uint32(s.next), h.ackEach)
		h.complete(now, s, b, length, int(h.payload))
	}
	s.plain--
	s.next++
	onWire := h.onLink(length)
	h.dataSent += uint64(onWire)
	h.pacer.Sent(now, id, onWire)
	s.base = due
	gap := s.gap
	if gap == 0 {
		f := &h.flows[id]
		f.rp.Sent(now, onWire)
		gap = f.rate(now).Serialize(units.Size(onWire))
	}
	h.pacer.Wait(id, prio, h.pacer.Departure(now, due, gap))
	return true, false
}

// particular is packet for those that are not plain.
func (h *Host) particular(now units.Time, frame *dataplane.Frame, id int, due units.Time) (made, stop bool) {
	f := &h.flows[id]
	if f.apart {
		if f.spec.Pair != nil {
			return h.pairTurn(now, frame, id, due)
		}
		if f.shared != nil && !h.begin(now, id) {
			return false, false
		}
	}
	if !h.mayGoOn(now, id) {
		return false, false
	}
	first, last, asks := f.index() == 0, f.isLast(), h.ackEach || f.asks(h.patience.every)
	payload := int(h.payload)
	if last {
		payload = int(f.lastSize)
	}
	length := max(int(f.headers)+payload+wire.ICRCLen, wire.MinFrameLen)
	if !h.env.AllocAt(frame, length) {
		h.pacer.Wait(id, f.prio, due)
		return false, true
	}
	if h.config.Entropy.By != PerFlow {
		h.renewPort(now, f)
	}
	b := h.env.Bytes(frame)
	h.putHead(b, f.sending, id)
	bth := wire.BTH(b[f.bth:])
	bth.SetOpcode(wire.SendOpcode(first, last))
	bth.SetPSN(uint32(f.next), asks)
	if f.board != nil {
		f.putPlace(b)
	}
	if payload != int(h.payload) {
		f.setLength(b, payload)
	}
	h.complete(now, f.sending, b, length, payload)
	if f.frames() == 0 {
		f.firstBit = now
	}
	f.sentNext(now, asks, &h.patience)
	h.sent(now, id, due, length, last)
	return true, false
}

// mayGoOn looks at the timer of a flow whose turn has come, and reports whether it has a packet to send.
func (h *Host) mayGoOn(now units.Time, id int) bool {
	f := &h.flows[id]
	switch {
	case f.overdue(now, &h.patience):
		if !f.retry(now, &h.patience) {
			h.giveUp(now, id, ErrNoAnswer)
			return false
		}
	case f.awaiting, // there was progress, and there is still nothing to send
		f.board != nil && h.blocked(f): // what it was to repeat has arrived meanwhile
		h.await(now, id)
		return false
	}
	return true
}

// await has a flow wait for an acknowledgement, until it is overdue.
func (h *Host) await(now units.Time, id int) {
	f := &h.flows[id]
	f.awaiting = true
	if f.deadline == units.Never {
		f.await(now, &h.patience)
	}
	h.pacer.Wait(id, f.prio, f.deadline)
}

// sent accounts a packet that is not plain and schedules what comes next: the
// flow's next packet, or the timeout of the acknowledgement that it must wait for.
func (h *Host) sent(now units.Time, id int, due units.Time, length int, last bool) {
	f := &h.flows[id]
	onWire := h.onLink(length)
	h.dataSent += uint64(onWire)
	f.rp.Sent(now, onWire)
	h.pacer.Sent(now, id, onWire)
	f.base, f.gapBytes, f.gap = due, uint16(onWire), 0
	if f.apart && f.shared != nil && f.listens {
		f.shared.count(id, max(f.next, f.high)+f.before())
	}
	message := f.apart && f.shared != nil && !f.gone
	if message {
		h.took(now, id, last)
	}
	if last {
		f.lasts++
	}
	if h.blocked(f) {
		h.await(now, id)
		return
	}
	if message {
		return // took has scheduled it
	}
	if !f.apart {
		f.plain = f.run(h.patience.every)
		f.keepGap(now)
	}
	h.pacer.Wait(id, f.prio, h.pacer.Departure(now, due, f.nextGap(now)))
}

// run is how many packets from the next on are plain.
func (f *flow) run(every uint64) uint32 {
	plain := min(mostPlain, every-1-f.index()%every)
	if f.end > 0 {
		plain = min(plain, f.end-1-f.next)
	}
	return uint32(plain)
}

// blocked reports whether a flow can send nothing before an acknowledgement comes.
func (h *Host) blocked(f *flow) bool {
	if f.requester.blocked(&h.patience) || f.apart && f.spec.Pair != nil && f.awaitsRead() {
		return true
	}
	return f.windower != nil && units.Size(f.next-f.acked)*units.Size(f.gapBytes) >= f.windower.Window()
}

// departure is when the next packet may leave at the rate of now.
func (f *flow) departure(now units.Time) units.Time { return f.base.Add(f.nextGap(now)) }

// nextGap is the time between the packet sent last and the next at the rate of now.
func (f *flow) nextGap(now units.Time) units.Time {
	if f.gap != 0 {
		return f.gap
	}
	return f.rate(now).Serialize(units.Size(f.gapBytes))
}

// keepGap notes the gap to the next packet if the reaction point is steady, and
// that it is to be asked if not.
func (f *flow) keepGap(now units.Time) {
	f.gap = 0
	if f.apart {
		return
	}
	if s, ok := f.rp.(ratelimit.Steady); ok && s.Steady() {
		f.gap = f.rate(now).Serialize(units.Size(f.gapBytes))
	}
}

// warm prefetches what the next packets of flows will need besides their timers: the
// headers, and reaction points that must be asked. These are behind a pointer,
// which is read one call later: by then it has come.
func (h *Host) warm(flows []int32) {
	for _, id := range h.warming {
		memory.Prefetch(pointer(h.flows[id].rp), 1)
	}
	h.warming = h.warming[:0]
	for _, id := range flows {
		s := h.pacer.Beside(int(id))
		memory.Prefetch(unsafe.Pointer(s), 1)
		if s.gap == 0 || s.plain == 0 {
			memory.Prefetch(unsafe.Pointer(&h.flows[id]), 1)
			h.warming = append(h.warming, id)
		}
	}
}

// putHead copies the headers of a full packet, but for what the BTH says of this one,
// and zeros up to a line of the cache: in worlds that keep no payload, a reader of these
// bytes must not see an earlier frame's.
func (h *Host) putHead(b []byte, s *sending, id int) {
	if s.headers <= headNear {
		copy(b, s.head[:])
		return
	}
	copy(b[copy(b, s.head[:]):], h.flows[id].more)
}

// put is putHead of headers that all lie next to the timer. It copies words, because for so few
// bytes a call of copy costs more than the copying.
func (s *sending) put(b *[headNear]byte) {
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

// complete writes what only some packets have.
func (h *Host) complete(now units.Time, s *sending, b []byte, length, payload int) {
	if h.stamps {
		binary.BigEndian.PutUint64(b[int(s.headers)-wire.StampLen:], uint64(now+h.laps))
	}
	if len(b) == length { // the world carries payload, too
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
