package ratelimit

import (
	"fmt"

	"photon/internal/memory"
	"photon/units"
)

// TimelyParams are TIMELY's (SIGCOMM'15) in the per-packet form of its author's
// code, and those of patched TIMELY (CoNEXT'16).
type TimelyParams struct {
	Line   units.Rate
	Min    units.Rate
	Alpha  float64    // weight of the newest difference of round-trip times; 0.02
	Beta   float64    // decrease; 0.8
	AI     units.Rate // delta, additive increase per update; 10 Mbit/s at 10 Gbit/s
	HAI    int        // updates in a row with a falling RTT before the increase is larger; 5
	Hyper  float64    // how many times larger it is then; 0: 5
	MinRTT units.Time // what gradients are measured by
	Low    units.Time // T_low: below it only increases; 0 with per-packet pacing
	High   units.Time // T_high: above it only decreases; 1 ms
	// Segment is how many packets make one sample, that of the last of them: TIMELY
	// looks at segments. 0 is as 1.
	Segment int
	// Patched: the gradient decides how much the distance to Low counts, instead
	// of whether to increase or decrease.
	Patched bool
	Gain    float64 // of patched TIMELY's decrease; 0.008
	// MarkedOnly: a decrease needs a packet that met congestion (TCD); at another,
	// an additive increase stands in its place.
	MarkedOnly bool
	// PerRTT: one update in a round-trip time, at the acknowledgement of a packet
	// that was sent after the last, as in the paper's algorithm 1. Steps are whole
	// then, HAI counts increases in a row, of whatever reason, and a decrease has no
	// bound but Min.
	PerRTT bool
}

// Validate says what is wrong with the parameters, in one line.
func (p TimelyParams) Validate() error {
	switch {
	case p.Line <= 0:
		return fmt.Errorf("line rate %v must be positive", p.Line)
	case p.Min <= 0 || p.Min > p.Line:
		return badMin(p.Min, p.Line)
	case !(p.Alpha > 0 && p.Alpha <= 1) || !(p.Beta > 0 && p.Beta <= 1):
		return fmt.Errorf("alpha %v and beta %v must be above 0 and at most 1", p.Alpha, p.Beta)
	case p.AI < 0 || p.HAI < 1 || !(p.Hyper >= 0):
		return fmt.Errorf("increase %v and its multiple %v must not be negative, and hai %d at least 1", p.AI, p.Hyper, p.HAI)
	case p.Segment < 0:
		return fmt.Errorf("segment of %d packets", p.Segment)
	case p.MinRTT <= 0 || p.Low < 0 || p.High <= p.Low:
		return fmt.Errorf("minimum RTT %v must be positive, and t_low %v below t_high %v", p.MinRTT, p.Low, p.High)
	case p.Patched && (p.Low == 0 || !(p.Gain > 0 && p.Gain <= 1)):
		return fmt.Errorf("patched TIMELY needs a t_low, and a gain above 0 and at most 1")
	}
	return nil
}

// hyper is how many times larger the increase is after HAI updates, if nothing else is said.
const hyper = 5

// Timely adjusts the rate at every acknowledgement by the round-trip time and
// its gradient. One update changes no more than half of the rate. The first
// sample only is what the second is compared with.
//
// Products are converted to float64 one by one, see PCN.
type Timely struct {
	params *TimelyParams
	rate   float64
	prev   units.Time // last RTT; 0: none yet
	diff   float64    // average difference of RTTs, ps
	falls  int        // updates in a row with a falling RTT; increases in a row, if PerRTT
	last   units.Time // last update
	until  uint64     // packet whose acknowledgement is the next update, if PerRTT
}

var _ interface {
	Acker
	Starter
} = (*Timely)(nil)

// NewTimely returns the reaction point of one flow; many may share p.
func NewTimely(p *TimelyParams) *Timely {
	t := memory.Alone[Timely]()
	t.params = p
	t.Start(0)
	return t
}

// Start begins at line rate.
func (t *Timely) Start(units.Time) { *t = Timely{params: t.params, rate: float64(t.params.Line)} }

// Rate is the sending rate.
func (t *Timely) Rate(units.Time) units.Rate { return units.Rate(t.rate) }

// Notify does nothing: TIMELY has no notifications.
func (t *Timely) Notify(units.Time, uint8, uint32) {}

// Sent does nothing.
func (t *Timely) Sent(units.Time, int) {}

// Ack is one update.
func (t *Timely) Ack(now units.Time, a *Ack) {
	p := t.params
	if a.RTT <= 0 || p.Segment > 1 && (a.Packet+1)%uint64(p.Segment) != 0 {
		return
	}
	if p.PerRTT {
		if t.prev > 0 && a.Packet < t.until {
			return
		}
		t.until = a.Next
	}
	if t.prev == 0 { // the first sample is what the next is compared with
		t.prev, t.last = a.RTT, now
		return
	}
	raw := float64(a.RTT - t.prev)
	t.prev = a.RTT
	t.diff = float64((1-p.Alpha)*t.diff) + float64(p.Alpha*raw)
	// Updates that come faster than round-trip times count for less.
	part := min(float64(now-t.last)/float64(p.MinRTT), 1)
	t.last = now
	if p.PerRTT {
		t.wholeStep(a, t.diff/float64(p.MinRTT))
		return
	}
	if t.falls++; raw >= 0 {
		t.falls = 0
	}
	rate := t.next(float64(a.RTT), t.diff/float64(p.MinRTT), part)
	if p.MarkedOnly && !a.CE && rate < t.rate {
		rate = t.rate + float64(float64(p.AI)*part)
	}
	rate = max(rate, t.rate/2)
	t.rate = min(max(rate, float64(p.Min)), float64(p.Line))
}

// wholeStep is the update of a round-trip time.
func (t *Timely) wholeStep(a *Ack, gradient float64) {
	p := t.params
	rate := t.next(float64(a.RTT), gradient, 1)
	if p.MarkedOnly && !a.CE && rate < t.rate {
		rate = t.rate + float64(p.AI)
	}
	if t.falls++; rate < t.rate {
		t.falls = 0
	}
	t.rate = min(max(rate, float64(p.Min)), float64(p.Line))
}

// increase is the additive step, larger after HAI updates.
func (p *TimelyParams) increase(updates int) float64 {
	switch {
	case updates < p.HAI:
		return float64(p.AI)
	case p.Hyper > 0:
		return float64(float64(p.AI) * p.Hyper)
	}
	return float64(p.AI) * hyper
}

// next is the rate that follows from an RTT and a normalised gradient.
func (t *Timely) next(rtt, gradient, part float64) float64 {
	p := t.params
	ai := float64(p.AI)
	switch {
	case rtt < float64(p.Low) && p.PerRTT:
		return t.rate + p.increase(t.falls)
	case rtt < float64(p.Low):
		return t.rate + float64(ai*part)
	case rtt > float64(p.High):
		return float64(t.rate * (1 - float64(part*p.Beta)*(1-float64(p.High)/rtt)))
	case p.Patched:
		w := min(max(2*gradient+0.5, 0), 1)
		off := (rtt - float64(p.Low)) / float64(p.Low)
		return float64((1-w)*ai) + float64(t.rate*(1-float64(p.Gain*w)*off))
	case gradient <= 0:
		return t.rate + float64(p.increase(t.falls)*part)
	}
	return float64(t.rate * (1 - float64(p.Beta*gradient)))
}

// StartAt begins at a rate.
func (t *Timely) StartAt(now units.Time, rate units.Rate) {
	t.Start(now)
	t.rate = within(rate, t.params.Min, t.params.Line)
}

// Rebase implements units.Rebaser.
func (t *Timely) Rebase(by units.Time) { t.last.Rebase(by) }
