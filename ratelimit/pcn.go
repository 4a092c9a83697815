package ratelimit

import (
	"fmt"

	"photon/internal/memory"
	"photon/units"
	"photon/wire"
)

// PCNParams are the reaction point of PCN (NSDI'20 algorithm 1, section 6.2).
type PCNParams struct {
	Line units.Rate // line rate: where flows start and what they grow towards
	WMin float64    // discount on a decrease and first weight of an increase; 0.1/N is recommended
	WMax float64    // largest weight of an increase; 0.5
	Min  units.Rate // a flow never goes below, or a RecRate of next to nothing would silence it
}

// Validate says what is wrong with the parameters, in one line.
func (p PCNParams) Validate() error {
	switch {
	case p.Line <= 0:
		return fmt.Errorf("line rate %v must be positive", p.Line)
	case !(p.WMin > 0 && p.WMin < 1):
		return fmt.Errorf("wmin %v must be between 0 and 1", p.WMin)
	case !(p.WMax >= p.WMin && p.WMax < 1):
		return fmt.Errorf("wmax %v must be at least wmin (%v) and below 1", p.WMax, p.WMin)
	case p.Min <= 0 || p.Min > p.Line:
		return badMin(p.Min, p.Line)
	}
	return nil
}

// PCN goes to the receiving rate at once when its flow is congested, and
// otherwise closes the distance to the line rate, gently at first.
//
// Products are converted to float64 one by one: that forbids the compiler to
// fuse them with the addition, which would round differently on other machines.
type PCN struct {
	params *PCNParams
	rate   float64 // bit/s
	w      float64
}

var _ interface {
	Starter
	Steady
} = (*PCN)(nil)

// NewPCN returns the reaction point of one flow; many may share p.
func NewPCN(p *PCNParams) *PCN {
	r := memory.Alone[PCN]()
	r.params = p
	r.Start(0)
	return r
}

// Start begins at line rate with the smallest weight (algorithm 1, lines 1-2).
func (p *PCN) Start(units.Time) { p.rate, p.w = float64(p.params.Line), p.params.WMin }

// Rate is the sending rate.
func (p *PCN) Rate(units.Time) units.Rate { return units.Rate(p.rate) }

// Notify is algorithm 1, lines 4-11; word is RecRate in Mbit/s.
func (p *PCN) Notify(_ units.Time, ecn uint8, word uint32) {
	wmin, wmax, line := p.params.WMin, p.params.WMax, float64(p.params.Line)
	if ecn == wire.CE {
		p.rate = min(p.rate, float64(word)*float64(units.Mbps)*(1-wmin))
		p.w = wmin
	} else {
		p.rate = float64(p.rate*(1-p.w)) + float64(line*p.w)
		p.w = float64(p.w*(1-p.w)) + float64(wmax*p.w)
	}
	p.rate = min(max(p.rate, float64(p.params.Min)), line)
}

// Sent does nothing: PCN counts no bytes at the sender.
func (p *PCN) Sent(units.Time, int) {}

// StartAt begins at a rate.
func (p *PCN) StartAt(now units.Time, rate units.Rate) {
	p.Start(now)
	p.rate = within(rate, p.params.Min, p.params.Line)
}

// Steady is true: all that PCN's sender does, it does at a CNP.
func (*PCN) Steady() bool { return true }
