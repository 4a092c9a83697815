package ratelimit

import (
	"testing"

	"photon/units"
	"photon/wire"
)

// The windows here were computed once from algorithm 1 of the paper, in another language and in exact fractions: two
// links of 10 Gbit/s, tau 10 us, gamma 0.9, beta 1250 B. Counters are multiples of what telemetry can tell.
func TestPowerTCPStepByStep(t *testing.T) {
	p := &PowerTCPParams{Line: 10 * units.Gbps, Min: 100 * units.Mbps, BaseRTT: 10 * units.Microsecond, Gamma: 0.9, AI: 1250}
	x := NewPowerTCP(p)
	at := func(ns units.Time, sent, queue units.Size) wire.INTHop {
		return wire.INTHop{Rate: 10 * units.Gbps, Time: ns * units.Nanosecond, TxBytes: sent, Queue: queue}
	}
	for _, c := range []struct {
		packet, next uint64
		hops         []wire.INTHop
		window       float64
	}{
		{0, 10, []wire.INTHop{at(1000, 1280, 0), at(1500, 12800, 8000)}, 12500},
		{1, 11, []wire.INTHop{at(2000, 2560, 0), at(2500, 14080, 16000)}, 6714.15281223},
		{2, 12, []wire.INTHop{at(3000, 3840, 0), at(3500, 15360, 24000)}, 4295.74168499},
		{5, 14, []wire.INTHop{at(6000, 6400, 800), at(6500, 19200, 32000)}, 3279.27220745},
		{10, 18, []wire.INTHop{at(11000, 12800, 80), at(11500, 25600, 16000)}, 4478.13841114},
		{12, 19, []wire.INTHop{at(26000, 12928, 0), at(26500, 26880, 0)}, 12500},
		{18, 22, []wire.INTHop{at(36000, 14080, 0), at(36500, 39040, 800)}, 6028.45199844},
		{22, 30, []wire.INTHop{at(37000, 15360, 0), at(37400, 40320, 4000)}, 5401.34320916},
	} {
		telemetry := make(wire.INT, wire.INTLen)
		for _, h := range c.hops {
			telemetry.Push(h)
		}
		x.Ack(0, &Ack{Packet: c.packet, Next: c.next, Hops: telemetry})
		if !near(x.w, c.window, 1e-9) {
			t.Errorf("packet %d: window %.9g, want %.9g", c.packet, x.w, c.window)
		}
		rate := min(10e9, c.window*8/10e-6)
		if !near(float64(x.Rate(0)), rate, 1e-6) {
			t.Errorf("packet %d: %v, want %v", c.packet, x.Rate(0), rate)
		}
	}
}

// Telemetry that says nothing changes nothing: none, another number of hops, a clock that stands still.
func TestPowerTCPOfNothing(t *testing.T) {
	p := &PowerTCPParams{Line: 10 * units.Gbps, Min: 100 * units.Mbps, BaseRTT: 10 * units.Microsecond, Gamma: 1, AI: 0}
	x := NewPowerTCP(p)
	telemetry := func(hops int, ns units.Time) wire.INT {
		h := make(wire.INT, wire.INTLen)
		for range hops {
			h.Push(wire.INTHop{Rate: 10 * units.Gbps, Time: ns * units.Nanosecond, Queue: 80_000})
		}
		return h
	}
	for i, h := range []wire.INT{nil, telemetry(1, 1000), telemetry(2, 2000), telemetry(2, 2000), telemetry(0, 0)} {
		x.Ack(0, &Ack{Packet: uint64(i), Next: uint64(i + 1), Hops: h})
		if x.w != x.full() || x.Rate(0) != p.Line {
			t.Errorf("acknowledgement %d: %v", i, x.w)
		}
	}
}
