package ratelimit

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// timelyParams are those of the author's code at 10 Gbit/s.
func timelyParams() *TimelyParams {
	return &TimelyParams{Line: line, Min: 10 * units.Mbps, Alpha: 0.02, Beta: 0.8, AI: 10 * units.Mbps, HAI: 5,
		MinRTT: 10 * units.Microsecond, High: units.Millisecond}
}

// slowTimely is the per-packet form of TIMELY's author and, between the two
// thresholds, patched TIMELY's (CoNEXT'16) if asked for. The first sample is
// only what the next is compared with; with MarkedOnly, a packet without a mark
// turns a decrease into one additive increase: both are the implementation's.
// float64() keeps products from being fused with sums: where differences cancel
// to nothing, the sign counts.
type slowTimely struct {
	p        *TimelyParams
	n        tally
	rate     float64
	samples  int
	prev     float64 // ps
	avg      float64
	negative int
	last     units.Time
	// Of the form with one update in a round-trip time.
	awaited   uint64
	increases int
}

func (s *slowTimely) ack(now units.Time, rtt float64, a *Ack) {
	p, ce := s.p, a.CE
	if p.PerRTT {
		if s.samples > 0 && a.Packet < s.awaited {
			s.n["within a round trip"]++
			return
		}
		s.awaited = a.Next
	}
	s.samples++
	if s.samples == 1 {
		s.prev, s.last = rtt, now
		return
	}
	minRTT, high, low, ai := float64(p.MinRTT), float64(p.High), float64(p.Low), float64(p.AI)
	diff := rtt - s.prev
	if diff < 0 {
		s.negative++
	} else {
		s.negative = 0
	}
	s.avg = float64((1-p.Alpha)*s.avg) + float64(p.Alpha*diff)
	gradient := s.avg / minRTT
	deltaFactor := float64(now-s.last) / minRTT
	if deltaFactor > 1 {
		deltaFactor = 1
	}
	s.prev, s.last = rtt, now
	times := 5.0
	if p.Hyper > 0 {
		times = p.Hyper
	}
	hyper := s.negative >= p.HAI
	if p.PerRTT {
		deltaFactor, hyper = 1, s.increases >= p.HAI
	}

	var rate float64
	if rtt < low {
		s.n["below T_low"]++
		if p.PerRTT && hyper {
			s.n["hyper below T_low"]++
			rate = s.rate + float64(ai*times)
		} else {
			rate = s.rate + ai*deltaFactor
		}
	} else if rtt > high {
		s.n["above T_high"]++
		rate = s.rate * (1 - deltaFactor*p.Beta*(1-high/rtt))
	} else if p.Patched {
		weight := 2*gradient + 0.5
		if gradient <= -0.25 {
			s.n["falls steeply"]++
			weight = 0
		} else if gradient >= 0.25 {
			s.n["rises steeply"]++
			weight = 1
		} else {
			s.n["in between"]++
		}
		rate = (1-weight)*ai + s.rate*(1-p.Gain*weight*(rtt-low)/low)
	} else if gradient <= 0 {
		steps := 1.0
		if hyper {
			steps = times
			s.n["hyper"]++
		}
		rate = s.rate + float64(ai*steps)*deltaFactor
	} else {
		s.n["rises"]++
		rate = s.rate * (1 - p.Beta*gradient)
	}
	if p.MarkedOnly && !ce && rate < s.rate {
		s.n["spared"]++
		rate = s.rate + ai*deltaFactor
	}
	if p.PerRTT {
		if s.increases++; rate < s.rate {
			s.increases = 0
		}
		if rate < s.rate/2 {
			s.n["less than half"]++
		}
	} else if rate < s.rate/2 {
		s.n["halved"]++
		rate = s.rate / 2
	}
	s.rate = min(max(rate, float64(p.Min)), float64(p.Line))
}

func TestTimelyAgainstSlowTwin(t *testing.T) {
	n := tally{}
	often(t, func(t *rapid.T) {
		p := &TimelyParams{
			Line: mbps(t, 1_000, 400_000, "line"), Min: mbps(t, 1, 1_000, "min"), Alpha: rapid.Float64Range(0.005, 1).Draw(t, "alpha"), Beta: rapid.Float64Range(0.05, 1).Draw(t, "beta"),
			AI: mbps(t, 0, 500, "ai"), HAI: rapid.IntRange(1, 5).Draw(t, "hai"), MinRTT: micros(t, 5, 50, "minrtt"), Low: micros(t, 0, 60, "low"),
			Patched: rapid.Bool().Draw(t, "patched"), Gain: rapid.Float64Range(0.001, 1).Draw(t, "gain"), MarkedOnly: rapid.Bool().Draw(t, "marked"),
			PerRTT: rapid.Bool().Draw(t, "perrtt"), Hyper: rapid.SampledFrom([]float64{0, 1, 2.5, 8}).Draw(t, "hyper"),
		}
		if p.Patched {
			p.Low += units.Microsecond
		}
		p.High = p.Low + micros(t, 1, 500, "high")
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		rp, slow := NewTimely(p), &slowTimely{p: p, n: n, rate: float64(p.Line)}
		now, rtt := units.Time(0), p.MinRTT
		packet, next := uint64(0), uint64(1)
		for range rapid.IntRange(20, 200).Draw(t, "steps") {
			now += p.MinRTT * units.Time(rapid.IntRange(0, 20).Draw(t, "dt")) / 10
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0: // anything, a threshold included
				rtt = rapid.SampledFrom([]units.Time{p.Low, p.Low - 1, p.High, p.High + 1, p.MinRTT, 2 * p.High, 10 * p.High}).Draw(t, "rtt")
			case 1:
				if rapid.IntRange(0, 15).Draw(t, "new") == 0 {
					rp.Start(now)
					slow = &slowTimely{p: p, n: n, rate: float64(p.Line)}
					packet, next = 0, 1
				}
			case 2, 3:
				rtt += p.MinRTT / 10 * units.Time(rapid.IntRange(0, 20).Draw(t, "rise"))
			default:
				rtt -= rtt / 100 * units.Time(rapid.IntRange(0, 10).Draw(t, "fall"))
			}
			ack := Ack{Packet: packet, Next: next, RTT: max(rtt, 0), CE: rapid.Bool().Draw(t, "ce")}
			packet++
			next = max(next, packet) + uint64(rapid.IntRange(0, 2).Draw(t, "sent"))
			rp.Ack(now, &ack)
			if ack.RTT > 0 { // else it was not measured
				slow.ack(now, float64(ack.RTT), &ack)
			} else {
				n["not measured"]++
				rtt = p.MinRTT
			}
			if got := rp.Rate(now); !same(got, slow.rate) {
				t.Fatalf("at %v RTT %v: %v, want %v", now, rtt, got, slow.rate)
			}
		}
	})
	n.reached(t, "below T_low", "above T_high", "falls steeply", "rises steeply", "in between", "hyper", "rises", "spared", "halved", "not measured",
		"within a round trip", "less than half", "hyper below T_low")
}

// The first samples, worked by hand; the minimum RTT is 10 us, T_high 1000 us.
func TestTimelyByHand(t *testing.T) {
	type sample struct {
		at, rtt float64 // us
		ce      bool
		want    float64 // Mbit/s
	}
	for name, c := range map[string]struct {
		change  func(*TimelyParams)
		samples []sample
	}{
		"gradient": {func(*TimelyParams) {}, []sample{
			{100, 20, false, 10_000},          // the first
			{110, 25, false, 9_920},           // +5: average 0.1, gradient 0.01: 1 - 0.8 0.01
			{115, 15, false, 9_925},           // -10: average -0.102: half of 10, for half of the minimum RTT
			{125, 14, false, 9_935},           // -1: average -0.11996
			{135, 24, false, 9_869.47732384},  // +10: gradient 0.00824392
			{135, 24, false, 9_805.688589544}, // 0: gradient 0.00807904; a decrease does not ask for how long
		}},
		"hyper increase after five": {func(p *TimelyParams) { p.Line = 40 * units.Gbps }, []sample{
			{0, 30, false, 40_000}, {10, 80, false, 36_800}, // +50: average 1: 1 - 0.8 0.1
			{20, 20, false, 36_810}, // -60: average 0.98 - 1.2
			{30, 19, false, 36_820}, {40, 18, false, 36_830}, {50, 17, false, 36_840},
			{60, 16, false, 36_890}, // the fifth: 50
			{65, 15, false, 36_915},
			{75, 15, false, 36_925}, // does not fall: from one again
			{85, 14, false, 36_935},
		}},
		"above T_high": {func(*TimelyParams) {}, []sample{
			{0, 1000, false, 10_000}, {10, 2000, false, 6_000}, // 1 - 0.8 (1 - 1/2)
			{15, 2000, false, 4_800},   // 1 - 0.5 0.8 (1 - 1/2)
			{25, 10_000, false, 2_400}, // 1 - 0.8 0.9 is less than a half
			{35, 1001, false, 2_400 - 2_400*0.8/1001},
		}},
		"at T_high": {func(*TimelyParams) {}, []sample{
			{0, 1000, false, 10_000}, {10, 2000, false, 6_000},
			{20, 1000, false, 6_010}, // average 19.6 - 20: the gradient decides
		}},
		"below T_low": {func(p *TimelyParams) { p.Low = 50 * units.Microsecond }, []sample{
			{0, 200, false, 10_000}, {10, 210, false, 9_840}, {20, 220, false, 9_840 * (1 - 0.8*0.0396)},
			{30, 49.999, false, 9_840*(1-0.8*0.0396) + 10}, {32, 48, false, 9_840*(1-0.8*0.0396) + 12},
		}},
		"patched": {func(p *TimelyParams) { p.Patched, p.Gain, p.Low = true, 0.008, 50*units.Microsecond }, []sample{
			{0, 100, false, 10_000},
			{10, 100, false, 9_965},          // w = 1/2, off by one T_low: 10/2 + 10 000 (1 - 0.008/2)
			{15, 100, false, 9_930.14},       // half a round trip counts in full
			{30, 150, false, 9_821.922432},   // gradient 0.1, w = 0.7, off by two
			{40, 400, false, 9_271.89477581}, // gradient 0.598, w = 1, off by seven
			{50, 50, false, 9_279.17397581},  // gradient -0.11396, w = 0.27208, not off
			{60, 49, false, 9_289.17397581},  // below T_low
		}},
		"marked only": {func(p *TimelyParams) { p.MarkedOnly = true }, []sample{
			{0, 1000, false, 10_000}, {10, 2000, true, 6_000},
			{20, 2000, false, 6_010}, {25, 2500, false, 6_015}, // no mark: grows
			{35, 2000, true, 3_609}, {45, 500, false, 3_619}, {55, 400, true, 3_629},
		}},
		"floor": {func(p *TimelyParams) { p.Min = 4 * units.Gbps }, []sample{
			{0, 1000, false, 10_000}, {10, 100_000, false, 5_000}, {20, 100_000, false, 4_000},
		}},
		// Packet k is acknowledged as the k-th, when all before it and none after were sent.
		"once per round trip": {func(p *TimelyParams) {
			p.PerRTT, p.Hyper, p.HAI, p.Alpha, p.Low = true, 3, 2, 0.5, 20*units.Microsecond
		}, []sample{
			{0, 30, false, 10_000},
			{1, 40, false, 6_000}, // +10: average 5, gradient 0.5: 1 - 0.8 0.5
			{2, 30, false, 6_010}, // -10: average -2.5; a whole step although little time has passed
			{3, 10, false, 6_020}, // below T_low
			{4, 10, false, 6_050}, // two increases in a row, of either reason: three times
			{5, 80, false, 0},     // +70: average 32, gradient 3.2: the rate would be negative
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := timelyParams()
			c.change(p)
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
			rp := NewTimely(p)
			for i, s := range c.samples {
				now := units.Time(s.at * float64(units.Microsecond))
				rp.Ack(now, &Ack{Packet: uint64(i), Next: uint64(i + 1), RTT: units.Time(s.rtt * float64(units.Microsecond)), CE: s.ce})
				if got := rp.Rate(now); !same(got, max(s.want*1e6, float64(p.Min))) {
					t.Errorf("sample %d: %v, want %v Mbit/s", i+1, got, s.want)
				}
			}
		})
	}
}

// What was not measured is no sample, and notifications are not TIMELY's.
func TestTimelyIgnores(t *testing.T) {
	rp := NewTimely(timelyParams())
	rp.Ack(0, &Ack{RTT: 2 * units.Millisecond})
	rp.Ack(units.Millisecond, &Ack{CE: true})
	rp.Notify(units.Millisecond, 3, 1)
	rp.Sent(units.Millisecond, 9_000)
	if rp.Rate(units.Second) != line || rp.prev != 2*units.Millisecond || rp.last != 0 {
		t.Errorf("%v, RTT %v at %v", rp.Rate(units.Second), rp.prev, rp.last)
	}
}

// With segments, TIMELY sees the last packet of each and nothing else.
func TestTimelySegments(t *testing.T) {
	params := timelyParams()
	params.Segment = 4
	segments, packets := NewTimely(params), NewTimely(timelyParams())
	for n := range uint64(40) {
		now := units.Time(n+1) * units.Microsecond
		rtt := 20*units.Microsecond + units.Time(n*n)*units.Microsecond
		segments.Ack(now, &Ack{Packet: n, RTT: rtt})
		if n%4 == 3 {
			packets.Ack(now, &Ack{Packet: n, RTT: rtt})
		}
		if segments.rate != packets.rate {
			t.Fatalf("packet %d: %v, not %v", n, segments.rate, packets.rate)
		}
	}
	if segments.rate >= float64(line) {
		t.Error("a growing round-trip time left the rate as it was")
	}
}
