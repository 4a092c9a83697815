package ratelimit

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// ue is the mark of TCD's undetermined ports.
const ue = wire.ECT0

// slowTCD is DCQCN's reaction point with the rule of TCD's authors' simulator
// for a CNP that says only UE. As with DCQCN, the i of hyper increase is the
// smaller stage less F.
type slowTCD struct {
	p              *DCQCNParams
	clamp          bool
	n              tally
	agenda         agenda
	limited        bool
	rc, rt, alpha  float64
	timer, counter int
	sent           int // bytes since recovery began
}

func newSlowTCD(p *DCQCNParams, clamp bool, n tally) *slowTCD {
	return &slowTCD{p: p, clamp: clamp, n: n, rc: float64(p.Line), rt: float64(p.Line), alpha: 1}
}

func (s *slowTCD) cnp(now units.Time, ce bool) {
	if ce {
		s.limited = true
		s.rt = s.rc
		s.rc = max(s.rc*(1-s.alpha/2), float64(s.p.Min))
		s.alpha = (1-s.p.G)*s.alpha + s.p.G
	} else {
		if s.n["UE"]++; !s.limited {
			s.limited = true
			s.n["UE before CE"]++
		}
		if s.clamp {
			s.rt = s.rc
		}
	}
	s.timer, s.counter, s.sent = 0, 0, 0
	s.agenda.set(0, now+s.p.AlphaTimer, s.alphaOut)
	s.agenda.set(1, now+s.p.RateTimer, s.timerOut)
}

func (s *slowTCD) alphaOut(at units.Time) {
	s.alpha *= 1 - s.p.G
	s.agenda.set(0, at+s.p.AlphaTimer, s.alphaOut)
}

func (s *slowTCD) timerOut(at units.Time) {
	s.timer++
	s.raise()
	s.agenda.set(1, at+s.p.RateTimer, s.timerOut)
}

func (s *slowTCD) frame(n int) {
	if !s.limited {
		return
	}
	for range n { // byte by byte
		if s.sent++; s.sent%int(s.p.ByteCount) == 0 {
			s.counter++
			s.raise()
		}
	}
}

func (s *slowTCD) raise() {
	f := s.p.Threshold
	if s.timer > f && s.counter > f {
		s.rt += float64(min(s.timer, s.counter)-f) * float64(s.p.HAI)
		s.n["hyper"]++
	} else if s.timer >= f || s.counter >= f {
		s.rt += float64(s.p.AI)
		s.n["additive"]++
	} else {
		s.n["fast recovery"]++
	}
	s.rt = min(s.rt, float64(s.p.Line))
	s.rc = (s.rc + s.rt) / 2
}

func TestTCDAgainstSlowTwin(t *testing.T) {
	n := tally{}
	often(t, func(t *rapid.T) {
		p := &DCQCNParams{
			Line: mbps(t, 1_000, 400_000, "line"), Min: mbps(t, 1, 1_000, "min"), AI: mbps(t, 0, 500, "ai"), HAI: mbps(t, 0, 5_000, "hai"),
			G: rapid.Float64Range(0.0005, 1).Draw(t, "g"), AlphaTimer: micros(t, 10, 90, "alpha"), RateTimer: micros(t, 10, 90, "rate"),
			ByteCount: units.Size(rapid.IntRange(500, 5_000).Draw(t, "bytes")), Threshold: rapid.IntRange(1, 6).Draw(t, "threshold"),
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		clamp := rapid.Bool().Draw(t, "clamp")
		rp, slow := NewTCD(p, clamp), newSlowTCD(p, clamp, n)
		now := units.Time(0)
		for range rapid.IntRange(20, 200).Draw(t, "steps") {
			now = slow.agenda.later(t, now, 2*p.RateTimer)
			slow.agenda.runTo(now)
			switch rapid.IntRange(0, 19).Draw(t, "what") {
			case 0:
				rp.Notify(now, ue, 0)
				slow.cnp(now, false)
			case 1:
				rp.Notify(now, wire.CE, 0)
				slow.cnp(now, true)
			case 2:
				if rapid.IntRange(0, 9).Draw(t, "new") == 0 {
					rp.Start(now)
					slow = newSlowTCD(p, clamp, n)
				}
			default:
				frame := rapid.IntRange(64, 2_000).Draw(t, "frame")
				rp.Sent(now, frame)
				slow.frame(frame)
			}
			if got := rp.Rate(now); !same(got, slow.rc) || !near(rp.rt, slow.rt, 1e-9) ||
				!near(visible(rp.alpha, p.G), visible(slow.alpha, p.G), 1e-9) ||
				rp.timeStage != slow.timer || rp.byteStage != slow.counter {
				t.Fatalf("at %v: rate %v target %v alpha %v stages %d %d, want %v %v %v %d %d", now,
					got, rp.rt, rp.alpha, rp.timeStage, rp.byteStage, slow.rc, slow.rt, slow.alpha, slow.timer, slow.counter)
			}
		}
	})
	n.reached(t, "UE before CE", "UE", "fast recovery", "additive", "hyper")
}

// Two cuts to 2.5 Gbit/s, three steps towards 5, then a CNP with UE 10 us after
// the third: rate and alpha stay, and the next step comes 55 us later, again as
// the first of fast recovery.
func TestTCDByHand(t *testing.T) {
	for _, c := range []struct {
		clamp  bool
		target float64
		after  []float64 // Mbit/s, with the timer's steps
	}{
		{false, 5e9, []float64{4843.75, 4921.875, 4960.9375, 4980.46875, 5010.234375}},
		{true, 4.6875e9, []float64{4687.5, 4687.5, 4687.5, 4687.5, 4707.5}}, // target = rate: nothing until 40 Mbit/s are added
	} {
		p := dcqcnParams()
		d := NewTCD(p, c.clamp)
		d.Notify(0, wire.CE, 0)
		d.Notify(0, wire.CE, 0)
		at := 3*p.RateTimer + 10*units.Microsecond
		d.Sent(at, int(p.ByteCount)-1)
		d.Notify(at, ue, 0)
		if d.Rate(at) != 4_687_500_000 || d.rt != c.target || !near(d.alpha, math.Pow(255./256, 3), 1e-12) {
			t.Fatalf("clamp %v: %v, target %v, alpha %v", c.clamp, d.Rate(at), d.rt, d.alpha)
		}
		d.Sent(at, int(p.ByteCount)-1) // the counter began anew
		if d.Rate(at+p.RateTimer-1) != 4_687_500_000 || d.byteStage != 0 || !near(d.alpha, math.Pow(255./256, 3), 1e-12) {
			t.Errorf("clamp %v: something happened early", c.clamp)
		}
		for i, want := range c.after {
			at += p.RateTimer
			if got := d.Rate(at); float64(got) != want*1e6 {
				t.Errorf("clamp %v: step %d: %v, want %v", c.clamp, i+1, got, want)
			}
		}
	}
}

// A flow that was never cut stays at line rate at UE, but its alpha decays from then on, so that the first
// cut is smaller: the authors' simulator begins its decay at the first CNP, whatever that says.
func TestTCDNeverCut(t *testing.T) {
	p := dcqcnParams()
	for _, clamp := range []bool{false, true} {
		d := NewTCD(p, clamp)
		d.Notify(0, ue, 0)
		d.Sent(0, 100_000_000)
		at := 10*p.AlphaTimer + units.Microsecond
		if want := math.Pow(255./256, 10); d.Rate(at) != line || !near(d.alpha, want, 1e-12) {
			t.Errorf("%v, alpha %v, want %v", d.Rate(at), d.alpha, want)
		}
		alpha := d.alpha
		if d.Notify(at, wire.CE, 0); !near(float64(d.Rate(at)), float64(line)*(1-alpha/2), 1e-6) {
			t.Errorf("cut to %v with alpha %v", d.Rate(at), alpha)
		}
	}
}

// Without UE it is DCQCN to the last bit.
func TestTCDIsDCQCN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := dcqcnParams()
		p.ByteCount = 20_000
		plain, rp := NewDCQCN(p), NewTCD(p, rapid.Bool().Draw(t, "clamp"))
		now := units.Time(0)
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			now += micros(t, 0, 100, "dt")
			for _, r := range []RP{plain, rp} {
				if r.Sent(now, 9_000); now%7 == 0 {
					r.Notify(now, wire.CE, 0)
				}
			}
			if plain.Rate(now) != rp.Rate(now) || *plain != rp.DCQCN {
				t.Fatalf("at %v: %+v, want %+v", now, rp.DCQCN, *plain)
			}
		}
	})
}
