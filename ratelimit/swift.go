package ratelimit

import (
	"fmt"
	"math"

	"photon/internal/memory"
	"photon/units"
)

// SwiftParams are Swift's (SIGCOMM'20, algorithm 1 and section 3.1).
type SwiftParams struct {
	Line   units.Rate
	Packet units.Size // a full packet on the wire: windows count these
	Base   units.Time // base target delay, of a path without hops
	Hop    units.Time // that a hop adds to the target
	Hops   int        // of the path
	AI     float64    // additive increase, packets in a round-trip time
	Beta   float64    // multiplicative decrease; 0.8
	MaxMDF float64    // most that one decrease takes; 0.5
	Range  units.Time // most that flow scaling adds to the target
	FSMin  float64    // window, in packets, at which it adds all of that
	FSMax  float64    // and at which it adds nothing
	Min    float64    // least window, in packets
	Max    float64    // largest, and the first
}

const mostPackets = 1_000_000_000 // of a window

// Validate says what is wrong with the parameters, in one line.
func (p SwiftParams) Validate() error {
	switch {
	case p.Line <= 0 || p.Packet <= 0:
		return fmt.Errorf("line rate %v and packet %v must be positive", p.Line, p.Packet)
	case p.Base <= 0 || p.Hop < 0 || p.Range < 0 || p.Hops < 0:
		return fmt.Errorf("base target %v must be positive, and hop %v and fs_range %v not negative", p.Base, p.Hop, p.Range)
	case !(p.AI > 0) || !(p.Beta > 0 && p.Beta <= 1) || !(p.MaxMDF > 0 && p.MaxMDF < 1):
		return fmt.Errorf("ai %v must be above 0, beta %v above 0 and at most 1, max_mdf %v between 0 and 1", p.AI, p.Beta, p.MaxMDF)
	case !(p.FSMin > 0 && p.FSMin < p.FSMax):
		return fmt.Errorf("fs_min_cwnd %v must be above 0 and below fs_max_cwnd %v", p.FSMin, p.FSMax)
	case !(p.Min > 0 && p.Min <= p.Max && p.Max <= mostPackets):
		return fmt.Errorf("min_cwnd %v must be above 0 and at most max_cwnd %v, and that at most %v", p.Min, p.Max, float64(mostPackets))
	}
	return nil
}

// Swift keeps the delay of packets near a target that is longer where the path has more hops, and
// where windows are small: many flows share a queue then. A window below one packet becomes a rate.
//
// Products are converted to float64 one by one, see PCN.
type Swift struct {
	params *SwiftParams
	cwnd   float64    // packets
	rtt    units.Time // the last; 0: none yet
	last   units.Time // of the last decrease
	fresh  bool       // there was none yet
	acked  uint64     // one more than the packet that was acknowledged last
}

var _ interface {
	Acker
	Windower
} = (*Swift)(nil)

// NewSwift returns the reaction point of one flow; many may share p.
func NewSwift(p *SwiftParams) *Swift {
	s := memory.Alone[Swift]()
	s.params = p
	s.Start(0)
	return s
}

// Start begins with the largest window, at line rate.
func (s *Swift) Start(units.Time) { *s = Swift{params: s.params, cwnd: s.params.Max, fresh: true} }

// Rate is the line rate: the window holds a flow back, unless it is less than a packet. Then one goes in each
// rtt/cwnd.
func (s *Swift) Rate(units.Time) units.Rate {
	p := s.params
	if s.cwnd >= 1 || s.rtt <= 0 {
		return p.Line
	}
	r := units.Rate(float64(p.Packet) * 8 * s.cwnd / s.rtt.Seconds())
	return min(max(r, 1), p.Line)
}

// Window is the congestion window in bytes on the wire, one packet at least.
func (s *Swift) Window() units.Size {
	return units.Size(math.Ceil(max(1, s.cwnd) * float64(s.params.Packet)))
}

// Notify does nothing: Swift has no notifications.
func (s *Swift) Notify(units.Time, uint8, uint32) {}

// Sent does nothing.
func (s *Swift) Sent(units.Time, int) {}

// target is TargetDelay: base, hops, and flow scaling, which falls with the square root of the window.
func (s *Swift) target() float64 {
	p := s.params
	alpha := float64(p.Range) / (1/math.Sqrt(p.FSMin) - 1/math.Sqrt(p.FSMax))
	scaling := float64(alpha/math.Sqrt(s.cwnd)) - float64(alpha/math.Sqrt(p.FSMax))
	return float64(p.Base) + float64(p.Hops)*float64(p.Hop) + max(0, min(scaling, float64(p.Range)))
}

// Ack is algorithm 1 at an acknowledgement. A decrease is at most one in a round-trip time.
func (s *Swift) Ack(now units.Time, a *Ack) {
	if a.RTT <= 0 {
		return
	}
	p, delay := s.params, float64(a.RTT)
	n := float64(1) // packets that are acknowledged by it
	if a.Packet+1 > s.acked {
		n = float64(a.Packet + 1 - s.acked)
	}
	s.acked = max(s.acked, a.Packet+1)
	s.rtt = a.RTT
	target := s.target()
	switch {
	case delay < target && s.cwnd >= 1:
		s.cwnd += float64(float64(p.AI/s.cwnd) * n)
	case delay < target:
		s.cwnd += float64(p.AI * n)
	case s.fresh || now-s.last >= a.RTT:
		s.cwnd *= max(1-float64(p.Beta*((delay-target)/delay)), 1-p.MaxMDF)
		s.last, s.fresh = now, false
	}
	s.cwnd = min(max(s.cwnd, p.Min), p.Max)
}

// Rebase implements units.Rebaser.
func (s *Swift) Rebase(by units.Time) { s.last.Rebase(by) }
