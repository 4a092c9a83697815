package agent

import (
	"unsafe"

	"photon/internal/memory"
	"photon/pfc"
	"photon/ratelimit"
	"photon/units"
)

// Each packet of a flow leaves a gap after the one before: as long as that one takes on the wire at the flow's rate. A
// gap that stays the same is kept beside the flow's timer (sending.gap), so that no packet has to wait for the memory of
// the reaction point.

// limiter is how fast a flow may send.
type limiter struct {
	rp    ratelimit.RP // nil: the flow has ended
	limit units.Rate   // never faster, whatever the reaction point allows; 0: no limit
}

// active reports whether the flow has not ended.
func (l *limiter) active() bool { return l.rp != nil }

// rate is what the reaction point and the limit allow.
func (l *limiter) rate(now units.Time) units.Rate {
	r := l.rp.Rate(now)
	if l.limit > 0 {
		r = min(r, l.limit)
	}
	return r
}

// limited reports whether a rate limiter is associated with the flow: QCN's is from the first notification until the
// rate is the line's again.
func (l *limiter) limited(now units.Time, line units.Rate) bool { return l.rp.Rate(now) < line }

// feedback is what a flow's reaction point takes besides the notifications that all take, and which of those came.
type feedback struct {
	acker      ratelimit.Acker    // nil: it does not want to know of acknowledgements
	windower   ratelimit.Windower // nil: it does not limit how much is under way
	notified   uint64             // notifications that counted
	nextNotice units.Time         // when the next is expected, at the earliest
}

// rpPool keeps the reaction points of flows that have ended, by priority, for other flows.
type rpPool [pfc.Classes][]ratelimit.RP

func (p *rpPool) put(prio uint8, rp ratelimit.RP) { p[prio] = append(p[prio], rp) }

// take is one of them, or a new one.
func (p *rpPool) take(prio uint8, newRP func(*ratelimit.Port) ratelimit.RP, port *ratelimit.Port) ratelimit.RP {
	n := len(p[prio])
	if n == 0 {
		return newRP(port)
	}
	rp := p[prio][n-1]
	p[prio] = p[prio][:n-1]
	return rp
}

// pacing is how fast a flow's packets leave, and in which class.
type pacing struct {
	limiter
	gapBytes   uint16 // length on the wire of the packet sent last: it makes the gap to the next
	prio       uint8
	neverPlain bool // it has no plain packets, see makePacket
	wantsAcks  bool // feedback.acker is there
}

// startRP tells the reaction point that its flow begins. One that never changes
// its rate is held at the first by a limit.
func (p *pacing) startRP(at units.Time, first units.Rate) {
	if s, ok := p.rp.(ratelimit.Starter); ok && first != 0 {
		s.StartAt(at, first)
		return
	}
	p.rp.Start(at)
	if first != 0 && (p.limit == 0 || first < p.limit) {
		p.limit = first
	}
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

// cacheGap notes the gap to the next packet if the reaction point is steady, and that it is to be asked if not.
func (f *flow) cacheGap(now units.Time) {
	f.gap = 0
	if f.neverPlain {
		return
	}
	if s, ok := f.rp.(ratelimit.Steady); ok && s.Steady() {
		f.gap = f.nextGap(now)
	}
}

// SetLimit changes how fast a flow may be at most, whatever its reaction point allows; 0: no limit.
func (h *Host) SetLimit(now units.Time, id int, limit units.Rate) {
	f := &h.flows[id]
	if !f.active() {
		return
	}
	f.spec.Limit, f.limit = limit, limit
	f.cacheGap(now)
	h.reschedule(now, id)
	h.env.Wake(0, h.Next(now, 0))
}

// reschedule moves a flow's next departure to where its rate now puts it. A flow that stands at the port already
// keeps its place. It reports whether anything may happen earlier than it would have.
func (h *Host) reschedule(now units.Time, id int) (earlier bool) {
	f := &h.flows[id]
	if f.isMessage() && !(f.allSent && !f.awaiting) {
		h.repace(now, f.shared)
		return true
	}
	at, waiting := h.pacer.Waiting(id)
	if !waiting || f.awaiting || f.frames() == 0 {
		return false
	}
	to := max(now, f.departure(now))
	h.pacer.Wait(id, f.prio, to)
	return to < at
}

// warm prefetches what the next packets of flows will need besides their timers: the headers, and reaction points
// that must be asked. These are behind a pointer, which is read one call later: by then it has come.
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
