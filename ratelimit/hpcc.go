package ratelimit

import (
	"fmt"
	"math"

	"photon/internal/memory"
	"photon/units"
	"photon/wire"
)

// HPCCParams are HPCC's sender (SIGCOMM'19 algorithm 1).
type HPCCParams struct {
	Line     units.Rate
	Min      units.Rate
	BaseRTT  units.Time // T: a little above the largest base round-trip time
	Eta      float64    // target utilisation; 0.95
	MaxStage int        // additive increases between two multiplicative ones; 5
	AI       units.Size // W_AI: additive increase of the window, bytes
	Slack    float64    // what may be under way is so many times W; 0: once
}

// Validate says what is wrong with the parameters, in one line.
func (p HPCCParams) Validate() error {
	switch {
	case p.Line <= 0:
		return fmt.Errorf("line rate %v must be positive", p.Line)
	case p.Min <= 0 || p.Min > p.Line:
		return badMin(p.Min, p.Line)
	case badBaseRTT(p.BaseRTT) != nil:
		return badBaseRTT(p.BaseRTT)
	case !(p.Eta > 0 && p.Eta <= 1):
		return fmt.Errorf("eta %v must be above 0 and at most 1", p.Eta)
	case p.MaxStage < 0 || p.AI < 0:
		return fmt.Errorf("stages %d and increase %v must not be negative", p.MaxStage, p.AI)
	case !(p.Slack >= 0 && p.Slack <= 1000):
		return fmt.Errorf("slack %v must be from 0 to 1000", p.Slack)
	}
	return nil
}

// badBaseRTT says what is wrong with a base round-trip time; nil: nothing.
func badBaseRTT(t units.Time) error {
	if t <= 0 || t > wire.INTTimeWrap/2 {
		return fmt.Errorf("base RTT %v must be positive and at most %v, half of what the telemetry's clock shows", t, wire.INTTimeWrap/2)
	}
	return nil
}

// HPCC keeps the bytes under way at eta of what the fullest link on the path
// holds in a round-trip time, as its telemetry says. Every acknowledgement
// moves the window W, by reference to W_c, which moves once per round trip; the
// rate is W/T.
//
// Products are converted to float64 one by one, see PCN.
type HPCC struct {
	params *HPCCParams
	w, wc  float64    // bytes
	u      float64    // estimated utilisation of the fullest link
	stage  int        // incStage
	until  uint64     // lastUpdateSeq: packet whose acknowledgement moves W_c next
	hops   int        // of last; 0: no acknowledgement yet
	path   uint16     // of last
	acked  units.Time // when last was acknowledged
	last   [wire.INTHops]wire.INTHop
}

var _ interface {
	Acker
	Windower
	Starter
} = (*HPCC)(nil)

// NewHPCC returns the reaction point of one flow; many may share p.
func NewHPCC(p *HPCCParams) *HPCC {
	h := memory.Alone[HPCC]()
	h.params = p
	h.Start(0)
	return h
}

// Start begins with the window of a full link: line rate times T.
func (h *HPCC) Start(units.Time) {
	w := h.full()
	*h = HPCC{params: h.params, w: w, wc: w, u: 1}
}

func (h *HPCC) full() float64 { return fullWindow(h.params.Line, h.params.BaseRTT) }

// fullWindow is what a line carries in a base round-trip time, and no less than a byte: a window of nothing would let
// no packet go.
func fullWindow(line units.Rate, baseRTT units.Time) float64 {
	return float64(max(1, line.Bytes(baseRTT)))
}

// Rate is W/T; a full window, which is of whole bytes, is the line rate.
func (h *HPCC) Rate(units.Time) units.Rate {
	if h.w >= h.full() {
		return h.params.Line
	}
	r := units.Rate(h.w * 8 / h.params.BaseRTT.Seconds())
	return min(max(r, h.params.Min), h.params.Line)
}

// Window is W, or so many times it.
func (h *HPCC) Window() units.Size {
	if h.params.Slack > 0 {
		return units.Size(math.Ceil(float64(h.w * h.params.Slack)))
	}
	return units.Size(math.Ceil(h.w))
}

// Notify does nothing: HPCC has no notifications.
func (h *HPCC) Notify(units.Time, uint8, uint32) {}

// Sent does nothing.
func (h *HPCC) Sent(units.Time, int) {}

// Ack is NewAck of algorithm 1. The first acknowledgement is only compared with
// by the next; so is one of a
// packet that took another path: its counters are of other links.
func (h *HPCC) Ack(now units.Time, a *Ack) {
	if a.Hops == nil {
		return
	}
	n := a.Hops.Hops()
	if n == h.hops && n > 0 && a.Hops.Path() == h.path {
		h.measure(a.Hops, now-h.acked)
		update := a.Packet >= h.until
		h.adjust(update)
		if update {
			h.until = a.Next
		}
	} else {
		h.until = a.Next
	}
	h.hops, h.path, h.acked = n, a.Hops.Path(), now
	for i := range n {
		h.last[i] = a.Hops.Hop(i)
	}
}

// spanOf is how far a link's clock went on from one packet to another, whose acknowledgements came so far apart: these
// tell how often it has turned over after a silence, or between packets of a slow flow.
func spanOf(then, now, apart units.Time) units.Time {
	span := now - then
	if span < 0 {
		span += wire.INTTimeWrap
	}
	return span + max(0, (apart-span+wire.INTTimeWrap/2)/wire.INTTimeWrap*wire.INTTimeWrap)
}

// measure is MeasureInflight: the largest of the links' utilisations, averaged
// over a round-trip time.
func (h *HPCC) measure(hops wire.INT, apart units.Time) {
	t := h.params.BaseRTT.Seconds()
	most, over := -1.0, 0.0
	for i := range h.hops {
		now, then := hops.Hop(i), h.last[i]
		dt := spanOf(then.Time, now.Time, apart)
		if dt <= 0 || now.Rate <= 0 {
			continue
		}
		sent := now.TxBytes - then.TxBytes
		if sent < 0 {
			sent += now.TxWrap()
		}
		rate := float64(now.Rate) / 8 // bytes per second
		u := float64(min(now.Queue, then.Queue))/float64(rate*t) + float64(sent)/dt.Seconds()/rate
		if u > most {
			most, over = u, dt.Seconds()
		}
	}
	if over == 0 {
		return
	}
	part := min(over, t) / t
	h.u = float64((1-part)*h.u) + float64(part*most)
}

// adjust is ComputeWind.
func (h *HPCC) adjust(update bool) {
	p := h.params
	if h.u >= p.Eta || h.stage >= p.MaxStage {
		h.w = h.wc/(h.u/p.Eta) + float64(p.AI)
		if update {
			h.stage = 0
		}
	} else {
		h.w = h.wc + float64(p.AI)
		if update {
			h.stage++
		}
	}
	floor := float64(p.Min.Bytes(p.BaseRTT))
	h.w = min(max(h.w, floor), h.full())
	if update {
		h.wc = h.w
	}
}

// StartAt begins with the window that makes a rate.
func (h *HPCC) StartAt(now units.Time, rate units.Rate) {
	h.Start(now)
	h.w = h.full() * within(rate, h.params.Min, h.params.Line) / float64(h.params.Line)
	h.wc = h.w
}

// Rebase implements units.Rebaser.
func (h *HPCC) Rebase(by units.Time) { h.acked.Rebase(by) }
