package ratelimit

import (
	"fmt"
	"math"

	"photon/internal/memory"
	"photon/units"
	"photon/wire"
)

// PowerTCPParams are PowerTCP's (NSDI'22 algorithm 1).
type PowerTCPParams struct {
	Line    units.Rate
	Min     units.Rate
	BaseRTT units.Time // tau: the largest base round-trip time
	Gamma   float64    // weight of what an acknowledgement says; 0.9
	AI      units.Size // beta: additive increase, bytes
}

// Validate says what is wrong with the parameters, in one line.
func (p PowerTCPParams) Validate() error {
	switch {
	case p.Line <= 0:
		return fmt.Errorf("line rate %v must be positive", p.Line)
	case p.Min <= 0 || p.Min > p.Line:
		return badMin(p.Min, p.Line)
	case badBaseRTT(p.BaseRTT) != nil:
		return badBaseRTT(p.BaseRTT)
	case !(p.Gamma > 0 && p.Gamma <= 1):
		return fmt.Errorf("gamma %v must be above 0 and at most 1", p.Gamma)
	case p.AI < 0:
		return fmt.Errorf("increase %v must not be negative", p.AI)
	}
	return nil
}

// PowerTCP goes by the power of the fullest link of the path: its current (what arrives: what it sent, and what its
// queue grew by) times its voltage (what is in the queue and on the wire). Every acknowledgement moves the window to
// that of a round-trip time before, divided by the power over that of a link that is just full, and the rate is
// window by base round-trip time.
//
// Products are converted to float64 one by one, see PCN.
type PowerTCP struct {
	params *PowerTCPParams
	w, old float64    // bytes: now, and a round-trip time ago
	power  float64    // smoothed, by that of a full link without a queue
	until  uint64     // packet whose acknowledgement ends the round trip
	hops   int        // of last; 0: no acknowledgement yet
	path   uint16     // of last
	acked  units.Time // when last was acknowledged
	last   [wire.INTHops]wire.INTHop
}

var _ interface {
	Acker
	Windower
	Starter
} = (*PowerTCP)(nil)

// NewPowerTCP returns the reaction point of one flow; many may share p.
func NewPowerTCP(p *PowerTCPParams) *PowerTCP {
	x := memory.Alone[PowerTCP]()
	x.params = p
	x.Start(0)
	return x
}

// Start begins with the window of a full link: line rate times tau.
func (x *PowerTCP) Start(units.Time) {
	w := x.full()
	*x = PowerTCP{params: x.params, w: w, old: w, power: 1}
}

func (x *PowerTCP) full() float64 { return fullWindow(x.params.Line, x.params.BaseRTT) }

// Rate is window by tau; a full window, which is of whole bytes, is the line rate.
func (x *PowerTCP) Rate(units.Time) units.Rate {
	if x.w >= x.full() {
		return x.params.Line
	}
	r := units.Rate(x.w * 8 / x.params.BaseRTT.Seconds())
	return min(max(r, x.params.Min), x.params.Line)
}

// Window is what may be under way.
func (x *PowerTCP) Window() units.Size { return units.Size(math.Ceil(x.w)) }

// Notify does nothing: PowerTCP has no notifications.
func (x *PowerTCP) Notify(units.Time, uint8, uint32) {}

// Sent does nothing.
func (x *PowerTCP) Sent(units.Time, int) {}

// Ack is NewAck. The first acknowledgement is only compared with by the next; so is one of a
// packet that took another path: its counters are of other links.
func (x *PowerTCP) Ack(now units.Time, a *Ack) {
	if a.Hops == nil {
		return
	}
	n := a.Hops.Hops()
	if n == x.hops && n > 0 && a.Hops.Path() == x.path {
		x.measure(a.Hops, now-x.acked)
		p := x.params
		w := float64(p.Gamma*(x.old/x.power+float64(p.AI))) + float64((1-p.Gamma)*x.w)
		x.w = min(max(w, float64(p.Min.Bytes(p.BaseRTT))), x.full())
	}
	if a.Packet >= x.until {
		x.old, x.until = x.w, a.Next
	}
	x.hops, x.path, x.acked = n, a.Hops.Path(), now
	for i := range n {
		x.last[i] = a.Hops.Hop(i)
	}
}

// measure is NormPower: the largest of the links' powers, averaged over tau. One that is a small part of a full link's
// counts as a hundredth of it, so that windows stay finite.
func (x *PowerTCP) measure(hops wire.INT, apart units.Time) {
	const least = 0.01
	tau := x.params.BaseRTT.Seconds()
	most, over := -1.0, 0.0
	for i := range x.hops {
		now, then := hops.Hop(i), x.last[i]
		dt := spanOf(then.Time, now.Time, apart)
		if dt <= 0 || now.Rate <= 0 {
			continue
		}
		sent := now.TxBytes - then.TxBytes
		if sent < 0 {
			sent += now.TxWrap()
		}
		b := float64(now.Rate) / 8 // bytes per second
		current := float64(now.Queue-then.Queue+sent) / dt.Seconds()
		voltage := float64(now.Queue) + float64(b*tau)
		if power := float64(current*voltage) / float64(float64(b*b)*tau); power > most {
			most, over = power, dt.Seconds()
		}
	}
	if over == 0 {
		return
	}
	part := min(over, tau) / tau
	x.power = max(least, float64((1-part)*x.power)+float64(part*most))
}

// StartAt begins with the window that makes a rate.
func (x *PowerTCP) StartAt(now units.Time, rate units.Rate) {
	x.Start(now)
	x.w = x.full() * within(rate, x.params.Min, x.params.Line) / float64(x.params.Line)
	x.old = x.w
}

// Rebase implements units.Rebaser.
func (x *PowerTCP) Rebase(by units.Time) { x.acked.Rebase(by) }
