package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"photon/dataplane"
	"photon/flowtable"
	"photon/internal/memory"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// FlowSpec describes a flow to send.
type FlowSpec struct {
	Peer    wire.IP
	PeerMAC wire.MAC
	QP      uint32     // both ends use it; 24 bits
	SrcPort uint16     // of UDP: what ECMP goes by; 0: made from the QP
	DSCP    uint8      // 0: the host's for data
	Limit   units.Rate // never faster, whatever the reaction point allows; 0: no limit
	Begin   units.Rate // the reaction point's first rate, as if it had come down to it; 0: line rate
	Size    units.Size // of payload; 0: until stopped
	Start   units.Time
	Weight  int // frames per turn when flows wait for the port, 1 to ratelimit.MaxWeight; 0: 1
	Tenant  int // of the host's, from 1: shares its cap and its turns; 0: of none

	// Shared makes flows messages: those of a host with the same number, other
	// than 0, are behind one reaction point, which has a permanent connection to
	// each peer. Messages of a connection go one after the other, and switches
	// take them for one flow.
	Shared uint32
}

// Result tells of a flow that ended.
type Result struct {
	FlowSpec
	FirstBit units.Time // when its first packet left
	End      units.Time // when its last acknowledgement came
	Frames   uint64     // data frames sent, repetitions included
	Bytes    uint64     // of them on the wire
	Repeated uint64     // of the frames, sent again
	Notified uint64     // CNPs and CNMs that came for it
}

// FCT is the flow completion time: first bit out to last acknowledgement in.
func (r Result) FCT() units.Time { return r.End - r.FirstBit }

// flow is what a sender knows of a flow, beside what every packet needs.
type flow struct {
	// What acknowledgements need is in the first line of the cache.
	*sending
	rp       ratelimit.RP
	limit    units.Rate // of spec
	packets  uint64     // in all; 0: no end
	acked    uint64     // all packets before it arrived
	gapBytes uint16     // length on the wire of the packet sent last: it makes the gap to the next
	prio     uint8
	awaiting bool // all sent, or the window is full; a timer runs until an acknowledgement comes
	apart    bool // a message, or it has a window: there is more to look at
	active   bool
	listens  bool // there is an acker

	repeated uint64             // packets sent again
	lasts    uint64             // times that the last packet was sent
	lastSize int32              // payload of the last packet
	begun    bool               // a message whose start has come,
	gone     bool               // and that has sent all
	shared   *shared            // whose message it is; nil: of none
	acker    ratelimit.Acker    // the RP, if it wants acknowledgements
	windower ratelimit.Windower // the RP, if it has a window
	spec     FlowSpec
	firstBit units.Time
	notified uint64
	notice   units.Time // when the next notification is expected, at the earliest
	more     []byte     // of headers that are longer than usual
}

// sending is what every packet of a flow needs. It lies beside the flow's timer,
// and is with it two cache lines: with many flows each line is one that the
// processor has to wait for.
//
// The packet sequence number on the wire is the lower 24 bits of a packet's number.
type sending struct {
	head [headNear]byte
	next uint64     // packet to send next
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

// headNear is how many bytes of the headers lie beside the timer: all of RoCEv2
// over IPv4.
const headNear = 64

// mostPlain is how many plain packets are allowed at a time.
const mostPlain = 1 << 30

// frames is how many packets were sent, repetitions included.
func (f *flow) frames() uint64 { return f.next + f.repeated }

// rewind goes back to a packet that was sent.
func (f *flow) rewind(to uint64) {
	f.repeated += f.next - to
	f.next = to
	f.plain = 0
}

// bytes is how much of the flow was sent, on the wire.
func (h *Host) bytes(f *flow) uint64 {
	if f.lasts == 0 {
		return f.frames() * uint64(h.onWire(f, 0))
	}
	return (f.frames()-f.lasts)*uint64(h.onWire(f, 0)) + f.lasts*uint64(h.onWire(f, f.packets-1))
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

// soon fetches what the next packets of flows will need besides their timers: the
// headers, and reaction points that must be asked. These are behind a pointer,
// which is read one call later: by then it has come.
func (h *Host) soon(flows []int32) {
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

// headMax is the length of all headers of a data packet.
const headMax = wire.CNTagLen + wire.RoCEMaxLen + wire.BTHLen + wire.INTLen + wire.StampLen

// Errors of AddFlow.
var (
	ErrFull      = errors.New("agent: no room for another flow")
	ErrDuplicate = errors.New("agent: the queue pair to that peer is in use")
)

// checkSpec says what is wrong with a flow, in one line.
func (h *Host) checkSpec(spec *FlowSpec) error {
	if spec.QP >= 1<<24 {
		return fmt.Errorf("agent: queue pair %d has more than 24 bits", spec.QP)
	}
	if spec.Size < 0 {
		return fmt.Errorf("agent: flow size %v is negative", spec.Size)
	}
	if spec.DSCP > 63 {
		return fmt.Errorf("agent: DSCP %d: there are 0 to 63", spec.DSCP)
	}
	if spec.Weight < 0 || spec.Weight > ratelimit.MaxWeight {
		return fmt.Errorf("agent: weight %d: from 1 to %d", spec.Weight, ratelimit.MaxWeight)
	}
	if spec.Tenant < 0 || spec.Tenant > len(h.config.Tenants) {
		return fmt.Errorf("agent: there is no tenant %d", spec.Tenant)
	}
	if spec.Peer.Is4() != h.config.IP.Is4() {
		return fmt.Errorf("agent: a flow from %v to %v mixes IPv4 and IPv6", h.config.IP, spec.Peer)
	}
	return nil
}

// AddFlow takes up a flow, which begins at its start time, or now if that has
// passed, and returns its slot.
func (h *Host) AddFlow(now units.Time, spec FlowSpec) (int, error) {
	if err := h.checkSpec(&spec); err != nil {
		return 0, err
	}
	id, fresh := h.byPeer.Insert(keyOf(spec.Peer, spec.QP), now)
	switch {
	case id == flowtable.None:
		return 0, ErrFull
	case !fresh:
		return 0, ErrDuplicate
	}
	h.moreFlows()
	f := &h.flows[id]
	if spec.DSCP == 0 {
		spec.DSCP = h.config.DataDSCP
	}
	prio := h.config.DSCP[spec.DSCP]
	*f = flow{sending: h.pacer.Beside(id), spec: spec, limit: spec.Limit, active: true, prio: prio, more: f.more[:0]}
	*f.sending = sending{}
	if start := max(now, spec.Start); spec.Shared != 0 {
		h.join(f, start)
	} else {
		f.rp = h.takeRP(prio)
		f.start(start)
	}
	f.acker, _ = f.rp.(ratelimit.Acker)
	f.windower, _ = f.rp.(ratelimit.Windower)
	f.listens = f.acker != nil
	f.apart = f.shared != nil || f.windower != nil
	if spec.Size > 0 {
		full := units.Size(h.config.Payload)
		f.packets = uint64((spec.Size + full - 1) / full)
		f.lastSize = int32(spec.Size - units.Size(f.packets-1)*full)
	}
	h.encodeHead(f, id)
	h.pacer.Join(id, max(1, spec.Weight), spec.Tenant-1)
	h.pacer.Wait(id, f.prio, max(now, spec.Start))
	h.stats.FlowsBegun++
	h.env.Wake(0, h.Next(now, 0))
	return id, nil
}

// start tells the reaction point that its flow begins. One that never changes
// its rate is held at the first by a limit.
func (f *flow) start(at units.Time) {
	s, ok := f.rp.(ratelimit.Starter)
	switch {
	case f.spec.Begin == 0:
		f.rp.Start(at)
	case ok:
		s.StartAt(at, f.spec.Begin)
	default:
		f.rp.Start(at)
		if f.limit == 0 || f.spec.Begin < f.limit {
			f.limit = f.spec.Begin
		}
	}
}

// encodeHead prepares the headers of a full packet in the middle of the flow.
func (h *Host) encodeHead(f *flow, id int) {
	port := f.spec.SrcPort
	if port == 0 {
		by := f.spec.QP
		if f.shared != nil {
			by = f.spec.Shared
		}
		port = 0xC000 | uint16(by^by>>14)&0x3FFF // the dynamic range, as RoCEv2 NICs do
	}
	r := wire.RoCE{DstMAC: f.spec.PeerMAC, SrcMAC: h.config.MAC, Src: h.config.IP, Dst: f.spec.Peer, TOS: f.spec.DSCP<<2 | h.config.Carry.ECT, SrcPort: port}
	ext := h.config.Carry.Extensions()
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

// StopFlow ends a flow whether it is complete or not.
func (h *Host) StopFlow(now units.Time, id int) {
	f := &h.flows[id]
	if !f.active {
		return
	}
	h.pacer.Stop(id)
	h.byPeer.Delete(id)
	switch {
	case f.shared == nil:
		h.spare[f.prio] = append(h.spare[f.prio], f.rp)
	case !f.gone:
		h.leave(now, id)
	}
	f.active, f.rp, f.acker, f.windower = false, nil, nil, nil
	if id < len(h.heard) {
		h.heard[id].Forget() // what names the flow names another, or none, from now on
	}
}

func (h *Host) takeRP(prio uint8) ratelimit.RP {
	if n := len(h.spare[prio]); n > 0 {
		rp := h.spare[prio][n-1]
		h.spare[prio] = h.spare[prio][:n-1]
		return rp
	}
	return h.config.NewRP(&h.ports[prio])
}

// finish ends a flow whose last packet was acknowledged.
func (h *Host) finish(now units.Time, id int) {
	f := &h.flows[id]
	r := Result{FlowSpec: f.spec, FirstBit: f.firstBit, End: now, Frames: f.frames(), Bytes: h.bytes(f), Repeated: f.repeated, Notified: f.notified}
	h.done = append(h.done, r)
	bucket, _ := slices.BinarySearch(dataplane.FCTBounds[:], r.FCT())
	h.stats.FCTs[bucket]++
	h.stats.FCTSum = h.stats.FCTSum.Add(r.FCT())
	h.stats.FlowsDone++
	h.StopFlow(now, id)
}

// TakeResults returns the flows that ended since the last call. The slice is
// valid until the next flow ends.
func (h *Host) TakeResults() []Result {
	r := h.done
	h.done = h.done[:0]
	return r
}

// FlowState is what can be seen of a flow while it is sent.
type FlowState struct {
	Spec     FlowSpec
	Active   bool
	Prio     uint8
	Rate     units.Rate // that the reaction point allows
	Frames   uint64     // data frames sent
	Bytes    uint64     // of them on the wire
	Notified uint64     // CNPs and CNMs that came for it
	FirstBit units.Time // when its first packet left
	Limited  bool       // a rate limiter is associated with it: its reaction point holds it below the line's rate
}

// Flow returns the state of a slot that AddFlow returned.
func (h *Host) Flow(now units.Time, id int) FlowState {
	f := &h.flows[id]
	if f.sending == nil { // the slot was never taken
		return FlowState{}
	}
	s := FlowState{Spec: f.spec, Active: f.active, Prio: f.prio, Frames: f.frames(), Bytes: h.bytes(f), Notified: f.notified, FirstBit: f.firstBit}
	if f.active {
		s.Rate = f.rate(now)
		s.Limited = f.limited(now, h.config.Link.Rate)
	}
	return s
}

// SetLimit changes how fast a flow may be at most, whatever its reaction point
// allows; 0: no limit.
func (h *Host) SetLimit(now units.Time, id int, limit units.Rate) {
	f := &h.flows[id]
	if !f.active {
		return
	}
	f.spec.Limit, f.limit = limit, limit
	f.keepGap(now)
	h.reschedule(now, id)
	h.env.Wake(0, h.Next(now, 0))
}

// Hash is what switches make of a flow's headers.
func (h *Host) Hash(id int) uint32 {
	var hdr wire.Header
	f := &h.flows[id]
	wire.Parse(append(f.head[:], f.more...), &hdr)
	return hdr.Hash
}

// rate is what the reaction point and the limit allow.
func (f *flow) rate(now units.Time) units.Rate {
	r := f.rp.Rate(now)
	if f.limit > 0 {
		r = min(r, f.limit)
	}
	return r
}

// limited reports whether a rate limiter is associated with the flow: QCN's is
// from the first notification until the rate is the line's again.
func (f *flow) limited(now units.Time, line units.Rate) bool { return f.rp.Rate(now) < line }

// Flows returns the slots that may hold flows: from 0 to Flows()-1.
func (h *Host) Flows() int { return len(h.flows) }

// DataSent is how many bytes of data, on the wire, the host has sent in all.
func (h *Host) DataSent() uint64 { return h.dataSent }
