package ratelimit

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// plusParams are the paper's at 10 Gbit/s.
func plusParams() *DCQCNPlusParams {
	return &DCQCNPlusParams{Line: line, Min: units.Mbps, G: 1. / 256, Timer: 55 * units.Microsecond, Short: 50 * units.Microsecond,
		Frame: 1000, Lambda: 2, LambdaA: 1, Threshold: 5, Cut: 0.5, Hyper: 1}
}

// slowPlus is the sender of DCQCN+ (ICNP'18 section IV.B.3). The paper does not
// say that a CNP sets S to 0 and arms both timers, nor what the timers are while
// CNPs come often, nor whether they follow R_C: here they do so when they are
// armed, as in the implementation. At one instant alpha comes first.
type slowPlus struct {
	p             *DCQCNPlusParams
	n             tally
	agenda        agenda
	pauses        *[][2]units.Time // of the port: from, until
	rc, rt, alpha float64
	tau           units.Time
	s             int
}

func newSlowPlus(p *DCQCNPlusParams, n tally, pauses *[][2]units.Time) *slowPlus {
	return &slowPlus{p: p, n: n, pauses: pauses, rc: float64(p.Line), rt: float64(p.Line), alpha: 1}
}

func (s *slowPlus) paused(at units.Time) bool {
	return slices.ContainsFunc(*s.pauses, func(x [2]units.Time) bool { return x[0] <= at && at < x[1] })
}

func (s *slowPlus) cnp(now units.Time, nanoseconds uint32) {
	s.rt = s.rc
	s.rc = max(s.rc*(1-s.alpha*s.p.Cut), float64(s.p.Min))
	s.alpha = float64((1-s.p.G)*s.alpha) + s.p.G
	s.s, s.tau = 0, units.Time(nanoseconds)*1000
	s.agenda.set(0, now+s.period(s.p.LambdaA), s.alphaOut)
	s.agenda.set(1, now+s.period(s.p.Lambda), s.rateOut)
}

// period counts in whole bits per second, and picoseconds rounded up.
func (s *slowPlus) period(lambda int) units.Time {
	if s.tau <= s.p.Short {
		return s.p.Timer
	}
	s.n["stretched timer"]++
	bits, rate := int64(s.p.Frame)*8, int64(s.rc)
	frame := units.Time(bits * 1e12 / rate)
	if bits*1e12%rate != 0 {
		frame++
	}
	if frame > s.tau {
		s.n["timer of a slow flow"]++
		return units.Time(lambda) * frame
	}
	return units.Time(lambda) * s.tau
}

func (s *slowPlus) alphaOut(at units.Time) {
	if !s.paused(at) {
		s.alpha *= 1 - s.p.G
	}
	s.agenda.set(0, at+s.period(s.p.LambdaA), s.alphaOut)
}

func (s *slowPlus) rateOut(at units.Time) {
	if s.paused(at) {
		s.n["paused"]++
	} else {
		s.recover()
	}
	s.agenda.set(1, at+s.period(s.p.Lambda), s.rateOut)
}

func (s *slowPlus) recover() {
	s.s++
	f, rl := s.p.Threshold, float64(s.p.Line)
	if s.s > 4*f {
		s.n["S>4F"]++
		s.rt += s.p.Hyper * min(s.rc, float64(s.s-4*f)/100*rl)
	} else if s.s > f && s.alpha > 0.1 {
		s.n["F<S<=4F, large alpha"]++
		s.rt += min(s.rc/5, rl/50)
	} else if s.s > f {
		s.n["F<S<=4F, small alpha"]++
		s.rt += min(s.rc/10, rl/100)
	} else {
		s.n["S<=F"]++
	}
	s.rt = min(s.rt, rl)
	s.rc = (s.rc + s.rt) / 2
}

func TestDCQCNPlusAgainstSlowTwin(t *testing.T) {
	n := tally{}
	often(t, func(t *rapid.T) {
		p := &DCQCNPlusParams{
			Line: mbps(t, 100, 400_000, "line"), Min: units.Rate(rapid.IntRange(10_000, 10_000_000).Draw(t, "min")), G: rapid.Float64Range(0.001, 0.5).Draw(t, "g"),
			Timer: micros(t, 20, 90, "timer"), Short: micros(t, 10, 90, "short"), Frame: units.Size(rapid.IntRange(64, 9_000).Draw(t, "frame")),
			Lambda: rapid.IntRange(1, 3).Draw(t, "lambda"), LambdaA: rapid.IntRange(1, 3).Draw(t, "lambda_a"), Threshold: rapid.IntRange(1, 5).Draw(t, "threshold"),
			Cut: rapid.SampledFrom([]float64{0.25, 0.5, 0.75, 1}).Draw(t, "cut"), Hyper: rapid.SampledFrom([]float64{0.5, 1, 2, 5}).Draw(t, "hyper"),
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		port := &Port{}
		var pauses [][2]units.Time
		rp, slow := NewDCQCNPlus(p, port), newSlowPlus(p, n, &pauses)
		now := units.Time(0)
		for range rapid.IntRange(20, 200).Draw(t, "steps") {
			now = slow.agenda.later(t, now, 10*max(p.Timer, slow.tau))
			what := rapid.IntRange(0, 15).Draw(t, "what")
			resume := what == 2 && len(pauses) > 0 && pauses[len(pauses)-1][1] == units.Never
			if resume { // nobody tells the reaction point
				port.PausedUntil = now
				pauses[len(pauses)-1][1] = now
			}
			slow.agenda.runTo(now)
			switch what {
			case 0, 1: // several at once are how the rate becomes small
				for range rapid.IntRange(1, 8).Draw(t, "burst") {
					word := rapid.Uint32Range(0, 200).Draw(t, "tau") * 1000
					rp.Notify(now, wire.CE, word)
					slow.cnp(now, word)
				}
			case 2, 3:
				// Only the last pause is known: the timers of the one before are asked
				// for before the next begins.
				if rp.Rate(now); !resume && now >= port.PausedUntil {
					*port = Port{PausedFrom: now, PausedUntil: units.Never}
					pauses = append(pauses, [2]units.Time{now, units.Never})
				}
			case 4:
				if rapid.IntRange(0, 9).Draw(t, "new") == 0 {
					rp.Start(now)
					slow = newSlowPlus(p, n, &pauses)
				}
			case 5:
				rp.Sent(now, 9_000)
			}
			if got := rp.Rate(now); !same(got, slow.rc) || !near(rp.rt, slow.rt, 1e-9) ||
				!near(visible(rp.alpha, p.G), visible(slow.alpha, p.G), 1e-9) || rp.state != slow.s {
				t.Fatalf("at %v: rate %v target %v alpha %v S %d, want %v %v %v %d", now, got, rp.rt, rp.alpha, rp.state, slow.rc, slow.rt, slow.alpha, slow.s)
			}
		}
	})
	n.reached(t, "stretched timer", "timer of a slow flow", "paused", "S<=F", "F<S<=4F, large alpha", "F<S<=4F, small alpha", "S>4F")
}

// Equations 18 to 22 one by one, at 10 Gbit/s: by how much the target grows at
// the expiry that makes S what is given. Mbit/s.
func TestDCQCNPlusSteps(t *testing.T) {
	for _, c := range []struct {
		s               int
		alpha, rc, step float64
	}{
		{1, 1, 1000, 0}, {5, 1, 1000, 0}, // S <= F
		{6, 1, 500, 100},      // F < S <= 4F: a fifth of R_C,
		{6, 1, 2000, 200},     // at most a fiftieth of the line
		{6, 0.11, 1000, 200},  // as much
		{6, 0.1, 1000, 100},   // alpha small: a tenth,
		{6, 0.1, 2000, 100},   // at most a hundredth
		{20, 0.05, 300, 30},   // still
		{20, 0.5, 300, 60},    // still
		{21, 0.5, 2000, 100},  // S > 4F: a hundredth of the line more each time,
		{21, 0.05, 2000, 100}, // whatever alpha,
		{30, 0.5, 2000, 1000},
		{30, 0.5, 700, 700}, // at most R_C
		{40, 0.5, 2500, 2000},
		{500, 0.5, 2500, 2500},
	} {
		d := NewDCQCNPlus(plusParams(), nil)
		d.limited, d.state, d.alpha, d.rc, d.rt = true, c.s-1, c.alpha, c.rc*1e6, 4000e6
		d.alphaAt, d.rateAt = units.Never, 100
		if d.Rate(99); d.state != c.s-1 {
			t.Fatal("early")
		}
		want := (c.rc + 4000 + c.step) / 2 * 1e6
		if got := d.Rate(100); !same(got, want) || !near(d.rt, (4000+c.step)*1e6, 1e-12) || d.state != c.s {
			t.Errorf("S %d alpha %v R_C %v: target %v and %v, want %v more and %v", c.s, c.alpha, c.rc, d.rt, got, c.step, want)
		}
	}
}

// Two cuts and the first six steps, worked by hand.
func TestDCQCNPlusByHand(t *testing.T) {
	d := NewDCQCNPlus(plusParams(), nil)
	d.Notify(0, wire.NotECT, 10_000)
	d.Notify(0, wire.NotECT, 10_000)
	if d.Rate(0) != line/4 || d.rt != 5e9 || d.alpha != 1 {
		t.Fatalf("%v, target %v, alpha %v", d.Rate(0), d.rt, d.alpha)
	}
	for i, want := range []float64{3750, 4375, 4687.5, 4843.75, 4921.875, 5060.9375} { // the last: target 5200
		if got := d.Rate(units.Time(i+1) * 55 * units.Microsecond); !same(got, want*1e6) || !near(d.alpha, math.Pow(255./256, float64(i+1)), 1e-12) {
			t.Errorf("step %d: %v, want %v; alpha %v", i+1, got, want, d.alpha)
		}
	}
	for range 100 {
		d.Notify(units.Millisecond, wire.NotECT, 10_000)
	}
	if d.Rate(units.Millisecond) != units.Mbps {
		t.Errorf("not R_min: %v", d.Rate(units.Millisecond))
	}
}

// K and K_alpha in microseconds (equations 16 and 17), by the CNP period and the
// rate: M/R_C is 8000 bits over the rate.
func TestDCQCNPlusPeriods(t *testing.T) {
	for _, c := range []struct {
		tau       uint32 // us
		rc        float64
		k, kAlpha units.Time
	}{
		{0, 1e10, 55, 55}, {50, 1e10, 55, 55}, {50, 2e6, 55, 55}, // often enough, slow or not
		{51, 1e10, 102, 51}, {1000, 1e10, 2000, 1000}, {100, 80e6, 200, 100}, {100, 20e6, 800, 400}, {100, 2e6, 8000, 4000},
	} {
		d := NewDCQCNPlus(plusParams(), nil)
		d.rc, d.rt, d.alpha = c.rc, c.rc, 0 // alpha 0: the cut leaves the rate
		d.Notify(7, wire.NotECT, c.tau*1000)
		if d.rateAt-7 != c.k*units.Microsecond || d.alphaAt-7 != c.kAlpha*units.Microsecond {
			t.Errorf("tau %d rate %v: K %v K_alpha %v, want %v %v", c.tau, c.rc, d.rateAt-7, d.alphaAt-7, c.k, c.kAlpha)
		}
	}
}

// A timer that runs out during a pause changes nothing, and is armed again.
// PausedFrom belongs to the pause, PausedUntil does not.
func TestDCQCNPlusPaused(t *testing.T) {
	const k = 55 * units.Microsecond
	for _, c := range []struct {
		from, until units.Time
		s           int // of the three timers until 3k
	}{
		{0, 0, 3}, {0, k, 3}, {0, k + 1, 2}, {k, k + 1, 2}, {k + 1, 2 * k, 3}, {k + 1, 2*k + 1, 2}, {k, 2*k + 1, 1}, {k, units.Never, 0}, {3 * k, units.Never, 2}, {3*k + 1, units.Never, 3},
	} {
		port := &Port{}
		d := NewDCQCNPlus(plusParams(), port)
		d.Notify(0, wire.NotECT, 0)
		*port = Port{PausedFrom: c.from, PausedUntil: c.until}
		want := 1e10 - 5e9/math.Pow(2, float64(c.s))
		if got := d.Rate(3 * k); !same(got, want) || d.state != c.s || !near(d.alpha, math.Pow(255./256, float64(c.s)), 1e-12) {
			t.Errorf("paused from %v until %v: %v S %d alpha %v, want %v S %d", c.from, c.until, got, d.state, d.alpha, want, c.s)
		}
		if d.rateAt != 4*k || d.alphaAt != 4*k {
			t.Errorf("paused from %v until %v: next at %v and %v", c.from, c.until, d.rateAt, d.alphaAt)
		}
	}
}

// Before its first CNP a flow is not limited.
func TestDCQCNPlusUnlimited(t *testing.T) {
	d := NewDCQCNPlus(plusParams(), nil)
	d.Sent(0, 1_000_000_000)
	if d.Rate(units.Second) != line || d.alpha != 1 || d.state != 0 {
		t.Errorf("%v alpha %v S %d", d.Rate(units.Second), d.alpha, d.state)
	}
}
