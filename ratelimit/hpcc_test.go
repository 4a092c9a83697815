package ratelimit

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// hpccParams are the paper's at 10 Gbit/s; the link holds 12 500 B.
func hpccParams() *HPCCParams {
	return &HPCCParams{Line: line, Min: 100 * units.Mbps, BaseRTT: 10 * units.Microsecond, Eta: 0.95, MaxStage: 5, AI: 80}
}

// link is what a switch port has counted since the world began; telemetry shows
// only the low digits of it.
type link struct {
	rate     units.Rate
	at       units.Time
	sent     units.Size
	queue    units.Size
	nameless bool // telemetry cannot name the rate
}

// slowHPCC is algorithm 1 of SIGCOMM'19 with true counters. Windows stay
// between those of the minimum and of the line rate, as rates do in the authors'
// simulator. As in the implementation, the first acknowledgement, and one with
// another number of hops, is only compared with by the next, and a link whose
// clock stood still or whose rate has no name says nothing.
type slowHPCC struct {
	p             *HPCCParams
	n             tally
	w, wc, u      float64
	incStage      int
	lastUpdateSeq uint64
	before        []link
}

// bdp is the bytes of a rate in T, as whole bytes: the test's rates and T are
// whole Mbit/s and microseconds.
func (s *slowHPCC) bdp(r units.Rate) float64 {
	return float64(int64(r/units.Mbps) * int64(s.p.BaseRTT/units.Microsecond) / 8)
}

func newSlowHPCC(p *HPCCParams, n tally) *slowHPCC {
	s := &slowHPCC{p: p, n: n, u: 1}
	s.w = s.bdp(p.Line)
	s.wc = s.w
	return s
}

func (s *slowHPCC) newAck(packet, sndNxt uint64, l []link, got float64) {
	if len(l) != len(s.before) || len(l) == 0 {
		s.n["only stored"]++
		s.before = l
		s.lastUpdateSeq = sndNxt
		return
	}
	ackSeq := packet + 1 // the byte after, if packets were bytes
	update := ackSeq > s.lastUpdateSeq
	s.measureInflight(l, got)
	s.computeWind(update)
	if update {
		s.lastUpdateSeq = sndNxt
	}
	s.before = l
}

// measureInflight leaves open which of several links that are as full as each
// other is the fullest, for rounding decides that: it takes the one that comes
// closest to got.
func (s *slowHPCC) measureInflight(l []link, got float64) {
	const ps = 1e-12
	t := float64(s.p.BaseRTT) * ps
	most, full, tau := -1.0, make([]float64, len(l)), make([]float64, len(l))
	for i := range l {
		full[i] = -1
		tau[i] = float64(l[i].at-s.before[i].at) * ps
		if tau[i] == 0 || l[i].nameless {
			s.n["link says nothing"]++
			continue
		}
		b := float64(l[i].rate)
		txRate := float64(l[i].sent-s.before[i].sent) * 8 / tau[i]
		qlen := float64(min(l[i].queue, s.before[i].queue)) * 8
		full[i] = qlen/(b*t) + txRate/b
		most = max(most, full[i])
		if tau[i] > t {
			s.n["tau > T"]++
			tau[i] = t
		}
	}
	var averages []float64
	for i := range l {
		if full[i] >= 0 && full[i] >= most*(1-1e-12) {
			averages = append(averages, (1-tau[i]/t)*s.u+tau[i]/t*full[i])
		}
	}
	if len(averages) > 0 {
		s.u = slices.MinFunc(averages, func(a, b float64) int { return cmp.Compare(math.Abs(a-got), math.Abs(b-got)) })
	}
}

func (s *slowHPCC) computeWind(update bool) {
	most, least := s.bdp(s.p.Line), s.bdp(s.p.Min)
	if s.u >= s.p.Eta || s.incStage >= s.p.MaxStage {
		s.w = s.wc/(s.u/s.p.Eta) + float64(s.p.AI)
		if update {
			s.n["multiplicative"]++
			s.incStage = 0
		}
	} else {
		s.w = s.wc + float64(s.p.AI)
		if update {
			s.n["additive"]++
			s.incStage++
		}
	}
	if s.w >= most {
		s.n["full window"]++
		s.w = most
	} else if s.w <= least {
		s.n["smallest window"]++
		s.w = least
	}
	if update {
		s.wc = s.w
	} else {
		s.n["by reference"]++
	}
}

// rate is W/T within its limits; a full window, of whole bytes, is line rate.
func (s *slowHPCC) rate() float64 {
	if s.w == s.bdp(s.p.Line) {
		return float64(s.p.Line)
	}
	return min(max(s.w*8/(float64(s.p.BaseRTT)*1e-12), float64(s.p.Min)), float64(s.p.Line))
}

// telemetry is what the switches write about the links.
func telemetry(l []link) wire.INT {
	b := make(wire.INT, wire.INTLen)
	for _, x := range l {
		rate := x.rate
		if x.nameless {
			rate = 7 * units.Gbps
		}
		b.Push(wire.INTHop{Rate: rate, Time: x.at, TxBytes: x.sent, Queue: x.queue})
	}
	return b
}

// drawLinks draws a path. Counters are multiples of what telemetry counts in.
func drawLinks(t *rapid.T) []link {
	l := make([]link, rapid.IntRange(0, wire.INTHops).Draw(t, "hops"))
	for i := range l {
		l[i] = link{
			rate:     rapid.SampledFrom([]units.Rate{10, 25, 100, 40, 400, 1}).Draw(t, "link") * units.Gbps,
			at:       units.Time(rapid.Int64Range(0, 1<<30).Draw(t, "clock")) * units.Nanosecond,
			nameless: rapid.IntRange(0, 40).Draw(t, "nameless") == 40,
		}
		l[i].sent = units.Size(rapid.Int64Range(0, 1<<30).Draw(t, "sent")) * 128 * max(1, units.Size(l[i].rate/(25*units.Gbps)))
	}
	return l
}

// passes lets a time go by on every link, at some load each.
func passes(t *rapid.T, l []link, most units.Time) []link {
	next := append([]link{}, l...)
	dt := most / units.Nanosecond * units.Time(rapid.Int64Range(0, 100).Draw(t, "dt")) / 100 * units.Nanosecond
	for i := range next {
		x := &next[i]
		scale := max(1, units.Size(x.rate/(25*units.Gbps)))
		switch x.at += dt; rapid.IntRange(0, 15).Draw(t, "clock") {
		case 14:
			x.at += units.Nanosecond
		case 15: // stood still
			x.at -= dt
		}
		load := units.Size(rapid.Int64Range(0, 100).Draw(t, "load"))
		x.sent += x.rate.Bytes(dt) * load / 100 / (128 * scale) * (128 * scale)
		if x.queue = 0; rapid.Bool().Draw(t, "queue") {
			x.queue = units.Size(rapid.Int64Range(0, 1000).Draw(t, "cells")) * 80 * scale
		}
	}
	return next
}

func TestHPCCAgainstSlowTwin(t *testing.T) {
	n := tally{}
	often(t, func(t *rapid.T) {
		p := &HPCCParams{
			Line: mbps(t, 1_000, 400_000, "line"), Min: mbps(t, 1, 1_000, "min"), BaseRTT: micros(t, 4, 100, "rtt"),
			// Nothing measured is exactly eta: rounding would decide.
			Eta:      float64(rapid.IntRange(600, 990).Draw(t, "eta"))/1000 + 1e-6/7,
			MaxStage: rapid.IntRange(0, 6).Draw(t, "stages"), AI: units.Size(rapid.IntRange(0, 2_000).Draw(t, "ai")),
			Slack: rapid.SampledFrom([]float64{0, 1, 1.5}).Draw(t, "slack"),
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		rp, slow := NewHPCC(p), newSlowHPCC(p, n)
		links := drawLinks(t)
		packet, next := uint64(0), uint64(rapid.IntRange(1, 100).Draw(t, "window"))
		for range rapid.IntRange(20, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 40).Draw(t, "what") {
			case 40:
				rp.Start(0)
				slow, packet = newSlowHPCC(p, n), 0
				next = uint64(rapid.IntRange(1, 100).Draw(t, "window"))
			case 39:
				rp.Ack(0, &Ack{Packet: packet, Next: next}) // without telemetry
				rp.Notify(0, wire.CE, 1)
				rp.Sent(0, 1500)
			case 38: // another path; telemetry does not tell one of as many hops
				if other := drawLinks(t); len(other) != len(links) {
					links = other
				}
				fallthrough
			default:
				// Up to almost the 16.8 ms after which the clock cannot be told.
				most := p.BaseRTT / 4
				if rapid.IntRange(0, 9).Draw(t, "long") == 9 {
					most = wire.INTTimeWrap - 2*units.Nanosecond
				}
				links = passes(t, links, most)
				rp.Ack(0, &Ack{Packet: packet, Next: next, Hops: telemetry(links)})
				slow.newAck(packet, next, links, rp.u)
				packet++
				next = max(next, packet) + uint64(rapid.IntRange(0, 2).Draw(t, "sent"))
			}
			w := float64(rp.Window())
			allowed := slow.w
			if p.Slack > 0 {
				allowed *= p.Slack
			}
			if got := rp.Rate(0); !same(got, slow.rate()) || !near(rp.w, slow.w, 1e-9) || !near(rp.wc, slow.wc, 1e-9) || !near(rp.u, slow.u, 1e-9) || rp.stage != slow.incStage {
				t.Fatalf("rate %v W %v W_c %v U %v stage %d, want %v %v %v %v %d", got, rp.w, rp.wc, rp.u, rp.stage, slow.rate(), slow.w, slow.wc, slow.u, slow.incStage)
			}
			if w < allowed-1e-3 || w > allowed+1+1e-3 { // rounded up to a byte
				t.Fatalf("window %v, want %v", w, allowed)
			}
		}
	})
	n.reached(t, "only stored", "link says nothing", "tau > T", "multiplicative", "additive", "full window", "smallest window", "by reference")
}

// One hop, worked by hand from the equations. T = 10 us, BT = 12 500 B.
func TestHPCCByHand(t *testing.T) {
	h := NewHPCC(hpccParams())
	l := link{rate: line, at: wire.INTTimeWrap - units.Microsecond, sent: 128<<20 - 6400} // both counters about to wrap
	ack := func(packet, next uint64, dt units.Time, bytes, queue units.Size) {
		l.at, l.sent, l.queue = l.at+dt, l.sent+bytes, queue
		h.Ack(0, &Ack{Packet: packet, Next: next, Hops: telemetry([]link{l})})
	}
	expect := func(u, w, wc float64, rate units.Rate) {
		t.Helper()
		if !near(h.u, u, 1e-12) || !near(h.w, w, 1e-12) || !near(h.wc, wc, 1e-12) || !same(h.Rate(0), float64(rate)) {
			t.Fatalf("U %v W %v W_c %v rate %v, want %v %v %v %v", h.u, h.w, h.wc, h.Rate(0), u, w, wc, rate)
		}
	}
	expect(1, 12_500, 12_500, line)
	ack(0, 1, 0, 0, 0)
	expect(1, 12_500, 12_500, line) // nothing to compare with

	// A whole T at 12 800 B / 12 500 B, and no queue at one of the two ends:
	// W = 12 500 0.95/1.024 + 80.
	ack(1, 11, 10*units.Microsecond, 12_800, 8_000)
	expect(1.024, 11_676.6796875, 11_676.6796875, 9_341_343_750)
	if h.Window() != 11_677 {
		t.Error(h.Window())
	}
	// Half a T: u = 4000/12 500 + 1.024, U = (1.024 + 1.344)/2 = 1.184. Packet 2
	// was sent before that update: W_c stays.
	ack(2, 12, 5*units.Microsecond, 6_400, 4_000)
	w := 11_676.6796875*0.95/1.184 + 80
	expect(1.184, w, 11_676.6796875, 7_559_166_016)
	// The same again gives the same W, for it refers to W_c: U = (1.184 + 1.184)/2
	// with u = 0.16 + 1.024.
	ack(3, 13, 5*units.Microsecond, 6_400, 2_000)
	expect(1.184, w, 11_676.6796875, 7_559_166_016)
	// Packet 11 is the first that was sent after: W_c moves.
	ack(10, 20, 5*units.Microsecond, 6_400, 2_000)
	expect(1.184, w, 11_676.6796875, 7_559_166_016)
	ack(11, 21, 5*units.Microsecond, 6_400, 2_000)
	expect(1.184, w, w, 7_559_166_016)
}

// Below eta the window grows by W_AI once a round trip, five times; then it is
// set by what is measured.
func TestHPCCStages(t *testing.T) {
	h := NewHPCC(hpccParams())
	l := link{rate: line}
	h.Ack(0, &Ack{Hops: telemetry([]link{l})})
	load := func(packet uint64, bytes units.Size) float64 {
		l.at += 10 * units.Microsecond
		l.sent += bytes
		h.Ack(0, &Ack{Packet: packet, Next: packet + 2, Hops: telemetry([]link{l})})
		return h.wc
	}
	w := 12_500*0.95/2.048 + 80
	if got := load(2, 25_600); !near(got, w, 1e-12) {
		t.Fatalf("%v, want %v", got, w)
	}
	for stage := range 5 {
		packet := uint64(4 + 2*stage)
		if got := load(packet-1, 6_400); !near(got, w, 1e-12) || !near(h.w, w+80, 1e-12) || h.stage != stage {
			t.Fatalf("between: W_c %v W %v stage %d, want %v %v %d", got, h.w, h.stage, w, w+80, stage)
		}
		w += 80
		if got := load(packet, 6_400); !near(got, w, 1e-12) || h.stage != stage+1 {
			t.Fatalf("%v stage %d, want %v", got, h.stage, w)
		}
	}
	w = w*0.95/0.512 + 80
	if got := load(14, 6_400); !near(got, w, 1e-12) || h.stage != 0 {
		t.Fatalf("%v stage %d, want %v and 0", got, h.stage, w)
	}
}

// The fullest link decides, and how long it was watched.
func TestHPCCFullestLink(t *testing.T) {
	h := NewHPCC(hpccParams())
	l := []link{{rate: 25 * units.Gbps}, {rate: line}, {rate: 100 * units.Gbps}}
	h.Ack(0, &Ack{Hops: telemetry(l)})
	l[0].at, l[0].sent = 8*units.Microsecond, 12_800                          // 12 800/25 000: 0.512
	l[1].at, l[1].sent = 5*units.Microsecond, 6_400                           // 1.024
	l[2].at, l[2].sent, l[2].queue = 10*units.Microsecond, 102_400, 8_000_000 // 0.8192; the queue was empty before
	h.Ack(0, &Ack{Packet: 1, Next: 2, Hops: telemetry(l)})
	if want := 0.5*1 + 0.5*1.024; !near(h.u, want, 1e-12) {
		t.Errorf("U %v, want %v", h.u, want)
	}
}

// The window stays between the minimum rate's and the line's.
func TestHPCCLimits(t *testing.T) {
	h := NewHPCC(hpccParams())
	l := link{rate: line}
	for i := range uint64(100) {
		h.Ack(0, &Ack{Packet: i, Next: i + 1, Hops: telemetry([]link{l})})
		l.at += 10 * units.Microsecond
		l.sent += 12_800
		l.queue = 80 * 65_535
	}
	// The fixed point of W = W 0.95/U + 80 lies below 125 B, the minimum's.
	if h.Window() != 125 || h.Rate(0) != 100*units.Mbps {
		t.Errorf("%v %v", h.Window(), h.Rate(0))
	}
	l.queue = 0
	for i := range uint64(20) { // a link that is next to idle
		h.Ack(0, &Ack{Packet: 100 + i, Next: 101 + i, Hops: telemetry([]link{l})})
		l.at += 10 * units.Microsecond
		l.sent += 128
	}
	if h.Window() != 12_500 || h.Rate(0) != line {
		t.Errorf("%v %v", h.Window(), h.Rate(0))
	}
}

// Counters of two packets are compared only if both took the same path: those of other links mean nothing, and would
// be read as a full turn of the counter.
func TestTelemetryOfAnotherPath(t *testing.T) {
	hop := func(ns units.Time, sent units.Size, via wire.MAC) wire.INT {
		h := make(wire.INT, wire.INTLen)
		h.Push(wire.INTHop{Rate: 10 * units.Gbps, Time: ns * units.Nanosecond, TxBytes: sent})
		h.Via(via)
		return h
	}
	const us = units.Microsecond
	hpcc := &HPCCParams{Line: 10 * units.Gbps, Min: 10 * units.Mbps, BaseRTT: 10 * us, Eta: 0.95, MaxStage: 5, AI: 80}
	power := &PowerTCPParams{Line: 10 * units.Gbps, Min: 10 * units.Mbps, BaseRTT: 10 * us, Gamma: 0.9}
	type point interface {
		Acker
		Windower
	}
	for name, of := range map[string]func() point{
		"hpcc":     func() point { return NewHPCC(hpcc) },
		"powertcp": func() point { return NewPowerTCP(power) },
	} {
		same, other := of(), of()
		for i, a := range []wire.INT{hop(1000, 128_000, 1), hop(2000, 129_280, 1)} {
			same.Ack(0, &Ack{Packet: uint64(i), Next: uint64(i + 1), Hops: a})
			other.Ack(0, &Ack{Packet: uint64(i), Next: uint64(i + 1), Hops: a})
		}
		other.Ack(0, &Ack{Packet: 2, Next: 3, Hops: hop(3000, 1280, 2)}) // another link has sent less: nothing is learnt
		if same.Window() != other.Window() {
			t.Errorf("%s: window %v after another path, %v before", name, other.Window(), same.Window())
		}
		same.Ack(0, &Ack{Packet: 2, Next: 3, Hops: hop(3000, 130_560, 1)})
		other.Ack(0, &Ack{Packet: 3, Next: 4, Hops: hop(4000, 2560, 2)}) // from here on it is measured as the other was
		if same.Window() != other.Window() {
			t.Errorf("%s: window %v on the other path, %v on the same", name, other.Window(), same.Window())
		}
	}
}

// A link that is used to nine tenths is found to be, whatever the grain of its counter: at 400 Gbit/s that counts 2048
// bytes at a time, and between many acknowledgements it stands still.
func TestHPCCBetweenGrains(t *testing.T) {
	const packet = 320
	for _, rate := range wire.INTRates() {
		p := &HPCCParams{Line: rate, Min: rate / 1000, BaseRTT: 20 * rate.Serialize(packet*20), Eta: 0.95, MaxStage: 5, AI: 80}
		if p.Validate() != nil {
			continue // so slow that the telemetry's clock turns over
		}
		h := NewHPCC(p)
		for i := range 5000 {
			hop := wire.INTHop{Rate: rate, Time: units.Time(i) * rate.Serialize(packet) * 10 / 9, TxBytes: units.Size(i) * packet}
			telemetry := make(wire.INT, wire.INTLen)
			telemetry.Push(hop)
			h.Ack(0, &Ack{Packet: uint64(i), Next: uint64(i + 360), Hops: telemetry})
		}
		if !(h.u > 0.85 && h.u < 0.95) {
			t.Errorf("%v: utilisation %.3f", rate, h.u)
		}
	}
}

// What the sender's clock says of how far apart two packets are may be wrong by nearly half a turn of the telemetry's.
func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string, most units.Time) units.Time {
			return units.Time(rapid.Int64Range(0, int64(most)).Draw(t, what))
		}
		then, span := draw("then", 100*units.Second), draw("span", 10*units.Second)
		off := draw("off", wire.INTTimeWrap-2) - (wire.INTTimeWrap/2 - 1)
		if got := spanOf(then%wire.INTTimeWrap, (then+span)%wire.INTTimeWrap, span+off); got != span {
			t.Fatalf("%v apart, said to be %v: %v", span, span+off, got)
		}
	})
}

// After a silence of any length, and between the packets of a slow flow, a link that was half used is no full one: its
// clock has turned over since, which the sender's own tells.
func TestTelemetryAfterSilence(t *testing.T) {
	const us = units.Microsecond
	hpcc := &HPCCParams{Line: 10 * units.Gbps, Min: 10 * units.Mbps, BaseRTT: 10 * us, Eta: 0.95, MaxStage: 5, AI: 80}
	power := &PowerTCPParams{Line: 10 * units.Gbps, Min: 10 * units.Mbps, BaseRTT: 10 * us, Gamma: 0.9}
	for name, rp := range map[string]interface {
		Acker
		Windower
	}{"hpcc": NewHPCC(hpcc), "powertcp": NewPowerTCP(power)} {
		at, full := units.Time(0), rp.Window()
		for i, silence := range []units.Time{0, us, 8000 * us, 16_777 * us, 16_778 * us, 17_000 * us, 33_560 * us, 100_000 * us, us} {
			at += silence
			hops := make(wire.INT, wire.INTLen)
			hops.Push(wire.INTHop{Rate: 10 * units.Gbps, Time: at, TxBytes: (5 * units.Gbps).Bytes(at)})
			rp.Ack(at+9*us+units.Time(i%3)*us, &Ack{Packet: uint64(i), Next: uint64(i + 1), Hops: hops})
			if rp.Window() != full {
				t.Errorf("%s: a window of %v after a silence of %v", name, rp.Window(), silence)
			}
		}
		hops := make(wire.INT, wire.INTLen) // and a full one, whose queue grows, is no idle one
		sent := (5 * units.Gbps).Bytes(at) + (10 * units.Gbps).Bytes(10*us)
		hops.Push(wire.INTHop{Rate: 10 * units.Gbps, Time: at + 10*us, TxBytes: sent, Queue: 12_480})
		if rp.Ack(at+19*us, &Ack{Packet: 20, Next: 21, Hops: hops}); rp.Window() == full {
			t.Errorf("%s: a full window into a full link, %v after the beginning", name, at)
		}
	}
}
