package agent

import (
	"errors"
	"fmt"
	"slices"

	"photon/dataplane"
	"photon/flowtable"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// FlowSpec describes a flow to send.
type FlowSpec struct {
	Pair    *Pair // the receiver is not an agent, but a queue pair of the specification; nil: it is an agent
	Peer    wire.IP
	PeerMAC wire.MAC
	QP      uint32 // of the receiver; between agents both ends use it; 24 bits
	SrcPort uint16 // of UDP: what ECMP goes by; 0: made from the QP
	DSCP    uint8  // 0: the host's for data

	// FixedPSN says that the first packet's PSN is the one below; else the host draws one. A pair whose flow has a
	// fixed one must not be used for another before the receiver has forgotten the first.
	FixedPSN bool

	Limit  units.Rate // never faster, whatever the reaction point allows; 0: no limit
	Begin  units.Rate // the reaction point's first rate, as if it had come down to it; 0: line rate
	Size   units.Size // of payload; 0: until stopped
	Start  units.Time
	Weight int // frames per turn when flows wait for the port, 1 to ratelimit.MaxWeight; 0: 1
	Tenant int // of the host's, from 1: shares its cap and its turns; 0: of none

	PSN uint32 // of the first packet, if it is fixed, or there is a Pair

	// Shared makes flows messages: those of a host with the same number, other
	// than 0, are behind one reaction point, which has a permanent connection to
	// each peer. Messages of a connection go one after the other, and switches
	// take them for one flow.
	Shared uint32
}

// Result tells of a flow that ended.
type Result struct {
	FlowSpec
	Why      error      // the sender gave up; nil: all of the flow has arrived
	FirstBit units.Time // when its first packet left
	End      units.Time // when its last acknowledgement came, or the sender gave up
	Frames   uint64     // data frames sent, repetitions included
	Bytes    uint64     // of them on the wire
	Repeated uint64     // of the frames, sent again
	Notified uint64     // CNPs and CNMs that came for it
}

// FCT is the flow completion time: first bit out to last acknowledgement in.
func (r Result) FCT() units.Time { return r.End - r.FirstBit }

// flow is what a sender knows of a flow: how it is paced, and its connection. What
// acknowledgements need is in the first line of the cache.
type flow struct {
	rp       ratelimit.RP
	limit    units.Rate // of spec
	gapBytes uint16     // length on the wire of the packet sent last: it makes the gap to the next
	prio     uint8
	active   bool
	apart    bool // a message, or it has a window or selective repeat: there is more to look at
	listens  bool // there is an acker
	requester

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

// bytes is how much of the flow was sent, on the wire.
func (h *Host) bytes(f *flow) uint64 {
	if f.lasts == 0 {
		return f.frames() * uint64(h.onWire(f, false))
	}
	return (f.frames()-f.lasts)*uint64(h.onWire(f, false)) + f.lasts*uint64(h.onWire(f, true))
}

// onWire is the length of a packet of a flow on the wire: of the last, or of any other.
func (h *Host) onWire(f *flow, last bool) int {
	payload := h.config.Payload
	if last {
		payload = int(f.lastSize)
	}
	return h.config.Link.WireBytes(max(int(f.headers)+payload+wire.ICRCLen, wire.MinFrameLen))
}

// Errors of AddFlow.
var (
	ErrFull      = errors.New("agent: no room for another flow")
	ErrDuplicate = errors.New("agent: the queue pair is in use")
	ErrSelf      = errors.New("agent: the flow would be to the host's own address")
)

// Why a sender gives up.
var (
	ErrNoAnswer  = errors.New("agent: the receiver does not answer")
	ErrForgotten = errors.New("agent: the receiver has lost the connection")
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
	if spec.PSN > psnMask {
		return fmt.Errorf("agent: PSN %d has more than 24 bits", spec.PSN)
	}
	if spec.Pair != nil {
		if err := spec.Pair.check(h.config.Payload, h.config.Memory); err != nil {
			return err
		}
	}
	if spec.Peer == h.config.IP {
		return fmt.Errorf("%w: %v", ErrSelf, spec.Peer)
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
	if h.clash(&spec) {
		return 0, ErrDuplicate
	}
	id, err := h.addFlow(now, keyOf(spec.Peer, spec.QP), spec)
	if err == nil {
		h.stats.FlowsBegun++
	}
	return id, err
}

// addFlow is AddFlow of a flow that is known to be right, under a name.
func (h *Host) addFlow(now units.Time, key peerKey, spec FlowSpec) (int, error) {
	id, fresh := h.byPeer.Insert(key, now)
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
	if spec.Pair != nil && spec.Pair.queue == nil {
		spec.Pair = h.openPair(&spec, id)
	}
	prio := h.config.DSCP[spec.DSCP]
	board := f.board
	*f = flow{spec: spec, limit: spec.Limit, active: true, prio: prio, more: f.more[:0]}
	f.sending = h.pacer.Beside(id)
	*f.sending = sending{}
	if start := max(now, spec.Start); spec.Shared != 0 {
		h.join(f, start)
	} else {
		f.rp = h.takeRP(prio)
		f.startRP(start)
	}
	f.acker, _ = f.rp.(ratelimit.Acker)
	f.windower, _ = f.rp.(ratelimit.Windower)
	f.listens = f.acker != nil
	f.apart = f.shared != nil || f.windower != nil || h.config.Entropy.By != PerFlow || spec.Pair != nil
	psn, packets := spec.PSN, units.Size(0)
	if !spec.FixedPSN && spec.Pair == nil {
		psn = h.drawPSN(now)
	}
	if full := units.Size(h.config.Payload); spec.Pair != nil {
		packets = units.Size(spec.Pair.packets(h.config.Payload))
	} else if spec.Size > 0 {
		packets = (spec.Size + full - 1) / full
		f.lastSize = int32(spec.Size - (packets-1)*full)
	}
	if h.config.Selective != nil {
		f.apart = true
		if f.board = board; board == nil {
			f.board = newScoreboard(h.config.Selective)
		}
	}
	f.requester.start(psn, uint64(packets))
	h.encodeHead(f, id)
	h.pacer.Join(id, max(1, spec.Weight), spec.Tenant-1)
	h.pacer.Wait(id, f.prio, max(now, spec.Start))
	h.env.Wake(0, h.Next(now, 0))
	return id, nil
}

// startRP tells the reaction point that its flow begins. One that never changes
// its rate is held at the first by a limit.
func (f *flow) startRP(at units.Time) {
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

// psnStep is 2^24 by the golden ratio.
const psnStep = 10368889

// drawPSN draws the first PSN of an epoch. Those of a host follow each other by the golden ratio of
// their range, so that each is far from the ones before it: what is left of another flow in the
// network is not taken for this one's.
func (h *Host) drawPSN(now units.Time) uint32 {
	if h.epochs == 0 {
		h.psn = uint32(((h.config.Seed ^ uint64(now+h.laps)) * 0x9E3779B97F4A7C15) >> 40)
	}
	psn := (h.psn + h.epochs*psnStep) & psnMask
	h.epochs++
	return psn
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
	if f.shared != nil {
		delete(f.shared.numbers, id)
	}
	if f.spec.Pair != nil {
		h.detach(f.spec.Pair.queue, id)
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
	r := h.result(now, id, nil)
	bucket, _ := slices.BinarySearch(dataplane.FCTBounds[:], r.FCT())
	h.stats.FCTs[bucket]++
	h.stats.FCTSum = h.stats.FCTSum.Add(r.FCT())
	h.stats.FlowsDone++
	if h.config.Reached != nil {
		h.reach(Milestone{Peer: r.Peer, QP: r.QP, What: Acknowledged})
	}
	h.StopFlow(now, id)
}

// giveUp ends a flow that gets nowhere.
func (h *Host) giveUp(now units.Time, id int, why error) {
	f := &h.flows[id]
	if n := f.acked - uint64(f.first); n > 0 {
		why = fmt.Errorf("%w: %d packets had arrived before", why, n)
	}
	h.result(now, id, why)
	h.StopFlow(now, id)
}

// result notes how a flow ended.
func (h *Host) result(now units.Time, id int, why error) Result {
	f := &h.flows[id]
	r := Result{
		FlowSpec: f.spec, Why: why, FirstBit: f.firstBit, End: now,
		Frames: f.frames(), Bytes: h.bytes(f), Repeated: f.repeated, Notified: f.notified,
	}
	if p := f.spec.Pair; p != nil {
		r.Frames, r.Repeated, r.Bytes = p.queue.sender.counts()
	}
	h.done = append(h.done, r)
	return r
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
	Repeated uint64     // of them, those that were sent again, or are to be
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
	s := FlowState{
		Spec: f.spec, Active: f.active, Prio: f.prio, Frames: f.frames(), Repeated: f.repeated, Bytes: h.bytes(f), Notified: f.notified,
		FirstBit: f.firstBit,
	}
	if p := f.spec.Pair; p != nil {
		s.Frames, s.Repeated, s.Bytes = p.queue.sender.counts()
	}
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
