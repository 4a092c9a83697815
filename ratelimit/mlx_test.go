package ratelimit

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// mlxParams are the cards' timers at 10 Gbit/s.
func mlxParams() *MlxParams {
	return &MlxParams{Line: line, Min: 100 * units.Mbps, AI: 40 * units.Mbps, HAI: 100 * units.Mbps, G: 1. / 256,
		AlphaTimer: units.Microsecond, CutTimer: 4 * units.Microsecond, RateTimer: 300 * units.Microsecond, Threshold: 1}
}

// Which of the timers comes first at one instant. That alpha is renewed before
// a cut is the simulator's rule (its cuts are a nanosecond late for it), and so is
// that an increase, which was set up earlier, comes before a cut.
const (
	mlxAlpha = iota
	mlxIncrease
	mlxCut
)

// slowMlx is mode 1 of the HPCC simulator, tick by tick.
type slowMlx struct {
	p                *MlxParams
	n                tally
	agenda           agenda
	rc, rt, alpha    float64
	first            bool // no CNP yet
	forAlpha, forCut bool // CNP arrived
	stage            int
}

func newSlowMlx(p *MlxParams, n tally) *slowMlx {
	return &slowMlx{p: p, n: n, rc: float64(p.Line), rt: float64(p.Line), first: true}
}

func (s *slowMlx) cnp(now units.Time) {
	s.forAlpha, s.forCut = true, true
	if s.first {
		s.first, s.forAlpha, s.alpha = false, false, 1
		s.agenda.set(mlxAlpha, now+s.p.AlphaTimer, s.tickAlpha)
		s.agenda.set(mlxCut, now+s.p.CutTimer+units.Nanosecond, s.tickCut)
	}
}

func (s *slowMlx) tickAlpha(at units.Time) {
	seen := 0.0
	if s.forAlpha {
		seen = 1
		s.n["alpha grows"]++
	}
	s.alpha = (1-s.p.G)*s.alpha + s.p.G*seen
	s.forAlpha = false
	s.agenda.set(mlxAlpha, at+s.p.AlphaTimer, s.tickAlpha)
}

func (s *slowMlx) tickCut(at units.Time) {
	s.agenda.set(mlxCut, at+s.p.CutTimer, s.tickCut)
	if !s.forCut {
		return
	}
	s.forCut = false
	if s.p.Clamp || s.stage > 0 {
		s.rt = s.rc
		s.n["target lowered"]++
	} else {
		s.n["target kept"]++
	}
	if s.rc *= 1 - s.alpha/2; s.rc < float64(s.p.Min) {
		s.rc = float64(s.p.Min)
		s.n["at the minimum"]++
	}
	s.stage = 0
	s.agenda.set(mlxIncrease, at+s.p.RateTimer, s.tickIncrease)
}

func (s *slowMlx) tickIncrease(at units.Time) {
	s.agenda.set(mlxIncrease, at+s.p.RateTimer, s.tickIncrease)
	if s.stage < s.p.Threshold {
		s.n["fast recovery"]++
	} else if s.stage == s.p.Threshold {
		s.rt += float64(s.p.AI)
		s.n["additive"]++
	} else {
		s.rt += float64(s.p.HAI)
		s.n["hyper"]++
	}
	if s.rt > float64(s.p.Line) {
		s.rt = float64(s.p.Line)
	}
	s.rc = s.rc/2 + s.rt/2
	s.stage++
}

func TestMlxAgainstSlowTwin(t *testing.T) {
	n := tally{}
	often(t, func(t *rapid.T) {
		p := &MlxParams{
			Line: mbps(t, 1_000, 400_000, "line"), Min: mbps(t, 1, 1_000, "min"), AI: mbps(t, 0, 500, "ai"), HAI: mbps(t, 0, 5_000, "hai"),
			G: rapid.Float64Range(0.0005, 1).Draw(t, "g"), AlphaTimer: micros(t, 1, 60, "alpha"), CutTimer: micros(t, 1, 60, "cut"),
			RateTimer: micros(t, 5, 400, "rate"), Threshold: rapid.IntRange(0, 5).Draw(t, "threshold"), Clamp: rapid.Bool().Draw(t, "clamp"),
		}
		if rapid.Bool().Draw(t, "odd") { // the alpha timer can meet the cuts
			p.AlphaTimer += units.Nanosecond
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		rp, slow := NewMlx(p), newSlowMlx(p, n)
		now := units.Time(0)
		for range rapid.IntRange(20, 200).Draw(t, "steps") {
			now = slow.agenda.later(t, now, rapid.SampledFrom([]units.Time{p.CutTimer, p.RateTimer, 3 * p.RateTimer}).Draw(t, "scale"))
			slow.agenda.runTo(now)
			switch rapid.IntRange(0, 30).Draw(t, "what") {
			case 0:
				rp.Start(now)
				slow = newSlowMlx(p, n)
			case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10:
				rp.Notify(now, wire.CE, 0)
				slow.cnp(now)
			case 11, 12:
				rp.Sent(now, 1500) // nothing counts bytes
			}
			if got := rp.Rate(now); !same(got, slow.rc) || !near(rp.rt, slow.rt, 1e-9) ||
				!near(visible(rp.alpha, p.G), visible(slow.alpha, p.G), 1e-9) || rp.stage != slow.stage {
				t.Fatalf("at %v: rate %v target %v alpha %v stage %d, want %v %v %v %d", now, got, rp.rt, rp.alpha, rp.stage, slow.rc, slow.rt, slow.alpha, slow.stage)
			}
		}
	})
	n.reached(t, "alpha grows", "target lowered", "target kept", "at the minimum", "fast recovery", "additive", "hyper")
}

// What a card does with one CNP, then two, worked by hand.
func TestMlxByHand(t *testing.T) {
	const us = units.Microsecond
	m := NewMlx(mlxParams())
	decay := func(ticks int) float64 { return math.Pow(255./256, float64(ticks)) }
	expect := func(at units.Time, rc, rt, alpha float64) {
		t.Helper()
		if got := m.Rate(at); !same(got, rc) || !near(m.rt, rt, 1e-12) || !near(m.alpha, alpha, 1e-12) {
			t.Fatalf("at %v: %v target %v alpha %v, want %v %v %v", at, got, m.rt, m.alpha, rc, rt, alpha)
		}
	}
	m.Notify(0, 0, 0)
	expect(0, 1e10, 1e10, 1)
	expect(4*us, 1e10, 1e10, decay(4)) // the cut is a nanosecond late
	cut := 1e10 * (1 - decay(4)/2)
	expect(4*us+units.Nanosecond, cut, 1e10, decay(4))
	// No further CNP: nothing for 300 us, then half the way back.
	expect(304*us, cut, 1e10, decay(304))
	rc := (cut + 1e10) / 2
	expect(304*us+units.Nanosecond, rc, 1e10, decay(304))
	// Two CNPs between ticks are one: alpha grows once, one cut. An increase
	// has come since the last, so the target is lowered.
	m.Notify(305*us+1, 0, 0)
	m.Notify(306*us-1, 0, 0)
	alpha := 255./256*decay(305) + 1./256
	expect(306*us, rc, 1e10, alpha)
	alpha *= decay(2)
	rt := rc
	rc *= 1 - alpha/2
	expect(308*us+units.Nanosecond, rc, rt, alpha)
	// The next cut comes before an increase: the same event, the target stays.
	m.Notify(309*us+1, 0, 0)
	alpha = 255./256*(alpha*decay(1)) + 1./256
	alpha *= decay(2)
	rc *= 1 - alpha/2
	expect(312*us+units.Nanosecond, rc, rt, alpha)
	// Recovery: half the way, then 40 Mbit/s, then 100 with every step.
	for i, add := range []float64{0, 40e6, 100e6, 100e6, 100e6} {
		rt += add
		rc = (rc + rt) / 2
		at := 312*us + units.Nanosecond + units.Time(i+1)*300*us
		expect(at, rc, rt, alpha*decay(300*(i+1)))
	}
}

func TestMlxClamp(t *testing.T) {
	for _, clamp := range []bool{false, true} {
		p := mlxParams()
		p.Clamp = clamp
		m := NewMlx(p)
		m.Notify(0, 0, 0)
		first := float64(m.Rate(5 * units.Microsecond))
		m.Notify(5*units.Microsecond, 0, 0)
		m.Rate(9 * units.Microsecond)
		if want := map[bool]float64{false: 1e10, true: first}[clamp]; !near(m.rt, want, 1e-9) {
			t.Errorf("clamp %v: target %v, want %v", clamp, m.rt, want)
		}
	}
}
