package ratelimit

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

func swiftParams() *SwiftParams {
	return &SwiftParams{
		Line: 10 * units.Gbps, Packet: 1000, Base: 20 * units.Microsecond, Hop: 2 * units.Microsecond, Hops: 4, AI: 1, Beta: 0.8, MaxMDF: 0.5,
		Range: 100 * units.Microsecond, FSMin: 0.1, FSMax: 100, Min: 0.001, Max: 40,
	}
}

// The windows here were computed once from algorithm 1 and the equations of section 3.1 of the paper, in another
// language.
func TestSwiftStepByStep(t *testing.T) {
	s := NewSwift(swiftParams())
	for _, x := range []struct {
		at     int // us
		packet uint64
		rtt    int // us
		cwnd   float64
	}{
		{100, 0, 25, 40},
		{130, 1, 60, 23.9454581103},
		{140, 2, 60, 23.9454581103},
		{200, 5, 90, 23.9454581103},
		{300, 6, 400, 23.9454581103},
		{800, 7, 800, 23.9454581103},
		{1700, 8, 900, 11.9727290551},
		{2700, 9, 1000, 5.98636452757},
		{3800, 10, 1100, 2.99318226379},
		{5000, 11, 1200, 1.49659113189},
		{6300, 12, 1300, 0.748295565947},
		{7700, 13, 1400, 0.374147782973},
		{7800, 14, 90, 0.334641938801},
		{7900, 15, 90, 0.308419772049},
		{8000, 18, 35, 3.30841977205},
	} {
		s.Ack(units.Time(x.at)*units.Microsecond, &Ack{Packet: x.packet, Next: x.packet + 1, RTT: units.Time(x.rtt) * units.Microsecond})
		if !near(s.cwnd, x.cwnd, 1e-9) {
			t.Errorf("after %d us: %v packets, want %v", x.at, s.cwnd, x.cwnd)
		}
		if want := units.Size(math.Ceil(max(1, x.cwnd) * 1000)); s.Window() != want {
			t.Errorf("after %d us: window %v, want %v", x.at, s.Window(), want)
		}
		rate := 10 * units.Gbps
		if x.cwnd < 1 {
			rate = units.Rate(8000 * x.cwnd / (float64(x.rtt) * 1e-6))
		}
		if !near(float64(s.Rate(0)), float64(rate), 1e-6) {
			t.Errorf("after %d us: %v, want %v", x.at, s.Rate(0), rate)
		}
	}
}

// slowSwift is the paper's text: TargetDelay of equation 3 with the a and b that it solves for, and algorithm 1 with
// the times of all decreases.
type slowSwift struct {
	p         *SwiftParams
	cwnd      float64
	decreases []units.Time
}

func (s *slowSwift) ack(now, rtt units.Time, packets int) {
	p := s.p
	x := func(cwnd float64) float64 { return math.Pow(cwnd, -0.5) }
	a := p.Range.Seconds() / (x(p.FSMin) - x(p.FSMax))
	b := -a * x(p.FSMax)
	target := p.Base.Seconds() + float64(p.Hops)*p.Hop.Seconds()
	switch scaling := a*x(s.cwnd) + b; {
	case scaling > p.Range.Seconds():
		target += p.Range.Seconds()
	case scaling > 0:
		target += scaling
	}
	over := rtt.Seconds() - target
	n := len(s.decreases)
	switch {
	case over < 0 && s.cwnd < 1:
		s.cwnd += p.AI * float64(packets)
	case over < 0:
		s.cwnd += p.AI * float64(packets) / s.cwnd
	case n == 0 || s.decreases[n-1]+rtt <= now:
		factor := 1 - p.Beta*over/rtt.Seconds()
		if factor < 1-p.MaxMDF {
			factor = 1 - p.MaxMDF
		}
		s.cwnd *= factor
		s.decreases = append(s.decreases, now)
	}
	if s.cwnd > p.Max {
		s.cwnd = p.Max
	}
	if s.cwnd < p.Min {
		s.cwnd = p.Min
	}
}

func TestSwiftAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := swiftParams()
		p.AI = rapid.SampledFrom([]float64{0.5, 1, 3}).Draw(t, "ai")
		s, twin := NewSwift(p), &slowSwift{p: p, cwnd: p.Max}
		now, packet := units.Time(0), uint64(0)
		for range rapid.IntRange(1, 60).Draw(t, "acknowledgements") {
			// About the target most often: windows grow and shrink.
			ns := rapid.OneOf(rapid.IntRange(15_000, 150_000), rapid.IntRange(1, 2_000_000)).Draw(t, "rtt")
			rtt := units.Time(ns) * units.Nanosecond
			now += units.Time(rapid.IntRange(0, 200).Draw(t, "after")) * units.Microsecond
			packets := rapid.IntRange(1, 4).Draw(t, "packets") // acknowledgements of those before it were lost
			packet += uint64(packets)
			s.Ack(now, &Ack{Packet: packet - 1, Next: packet + 9, RTT: rtt})
			if twin.ack(now, rtt, packets); !near(s.cwnd, twin.cwnd, 1e-9) {
				t.Fatalf("%v packets, want %v", s.cwnd, twin.cwnd)
			}
		}
	})
}

// What makes no sense is refused.
func TestSwiftValidates(t *testing.T) {
	for i, change := range []func(*SwiftParams){
		func(p *SwiftParams) { p.Line = 0 }, func(p *SwiftParams) { p.Packet = 0 },
		func(p *SwiftParams) { p.Base = 0 }, func(p *SwiftParams) { p.Hop = -1 },
		func(p *SwiftParams) { p.Range = -1 }, func(p *SwiftParams) { p.Hops = -1 },
		func(p *SwiftParams) { p.AI = 0 }, func(p *SwiftParams) { p.AI = math.NaN() },
		func(p *SwiftParams) { p.Beta = 0 }, func(p *SwiftParams) { p.Beta = 1.01 },
		func(p *SwiftParams) { p.MaxMDF = 0 }, func(p *SwiftParams) { p.MaxMDF = 1 },
		func(p *SwiftParams) { p.FSMin = 0 }, func(p *SwiftParams) { p.FSMin = p.FSMax },
		func(p *SwiftParams) { p.Min = 0 }, func(p *SwiftParams) { p.Min = p.Max + 1 },
		func(p *SwiftParams) { p.Max = 2e9 },
	} {
		p := swiftParams()
		if p.Validate() != nil {
			t.Fatal(p.Validate())
		}
		if change(p); p.Validate() == nil {
			t.Errorf("change %d is taken: %+v", i, p)
		}
	}
}

// Whatever delays come: a window shrinks at most once in a round-trip time, and by no more than max_mdf; it grows by
// no more than ai in one; and it stays in its bounds.
func TestSwiftIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := swiftParams()
		s := NewSwift(p)
		now, last := units.Time(0), units.Time(-units.Second)
		for packet := range uint64(rapid.IntRange(1, 200).Draw(t, "packets")) {
			rtt := units.Time(rapid.IntRange(1, 500).Draw(t, "rtt")) * units.Microsecond
			now += units.Time(rapid.IntRange(0, 100).Draw(t, "after")) * units.Microsecond
			before := s.cwnd
			s.Ack(now, &Ack{Packet: packet, Next: packet + 1, RTT: rtt})
			switch {
			case s.cwnd < before:
				if now-last < rtt || s.cwnd < before*(1-p.MaxMDF)-1e-12 {
					t.Fatalf("from %v to %v packets, %v after the last time, with %v", before, s.cwnd, now-last, rtt)
				}
				last = now
			case s.cwnd > before+1/max(1, before)+1e-12:
				t.Fatalf("from %v to %v packets", before, s.cwnd)
			}
			if s.cwnd < p.Min || s.cwnd > p.Max {
				t.Fatalf("%v packets", s.cwnd)
			}
		}
	})
}
