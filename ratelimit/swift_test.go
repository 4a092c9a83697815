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
