package ratelimit

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// qcnParams are the defaults of IEEE8021-CN-MIB, without jitter.
func qcnParams() *QCNParams {
	return &QCNParams{Line: line, Min: 5 * units.Mbps, AI: 5 * units.Mbps, HAI: 50 * units.Mbps, Gd: 1. / 128, MinDec: 0.5,
		ByteReset: 150_000, TimeReset: 15 * units.Millisecond, Threshold: 5}
}

// slowQCN is the rate limiter of IEEE 802.1Q clause 30.3. Where texts differ it
// holds with the implementation: a stage's cycles are halved from the stage
// equal to the threshold on, hyper-active increase begins with one step when
// both stages reach it, and the target does not exceed the line rate.
type slowQCN struct {
	p                     *QCNParams
	n                     tally
	limited               bool
	crate, trate          float64
	byteStage, timerStage int
	sent, cycle           float64 // bytes, of the byte counter's cycle
	agenda                agenda
}

func (s *slowQCN) cnm(now units.Time, quantised uint32) {
	line := float64(s.p.Line)
	if !s.limited { // a limiter is made
		s.limited, s.crate, s.trate = true, line, line
		s.byteStage, s.sent, s.cycle = 0, 0, float64(s.p.ByteReset)
	}
	if s.byteStage > 0 { // not one event with the notification before
		s.trate, s.sent, s.cycle = s.crate, 0, float64(s.p.ByteReset)
	}
	factor := 1 - s.p.Gd*float64(quantised)
	if factor < s.p.MinDec {
		factor = s.p.MinDec
		s.n["cut limited"]++
	}
	s.crate *= factor
	if s.crate < float64(s.p.Min) {
		s.crate = float64(s.p.Min)
	}
	s.byteStage, s.timerStage = 0, 0
	s.agenda.set(0, now+s.p.TimeReset, s.timerOut)
}

func (s *slowQCN) frame(n int) {
	if !s.limited {
		return
	}
	if s.sent += float64(n); s.sent <= s.cycle {
		return
	}
	s.byteStage++
	s.sent, s.cycle = 0, float64(s.p.ByteReset)
	if s.byteStage >= s.p.Threshold {
		s.cycle = float64(s.p.ByteReset) / 2
	}
	s.selfIncrease()
}

func (s *slowQCN) timerOut(at units.Time) {
	s.timerStage++
	if s.timerStage < s.p.Threshold {
		s.agenda.set(0, at+s.p.TimeReset, s.timerOut)
	} else {
		s.agenda.set(0, at+s.p.TimeReset/2, s.timerOut)
	}
	s.selfIncrease()
}

func (s *slowQCN) selfIncrease() {
	line, f := float64(s.p.Line), s.p.Threshold
	ri := 0.0
	if s.byteStage >= f && s.timerStage >= f {
		ri = float64(s.p.HAI) * float64(min(s.byteStage, s.timerStage)-f+1)
		s.n["hyper-active"]++
	} else if s.byteStage >= f || s.timerStage >= f {
		ri = float64(s.p.AI)
		s.n["active"]++
	} else {
		s.n["fast recovery"]++
	}
	if (s.byteStage == 1 || s.timerStage == 1) && s.trate > 10*s.crate {
		s.trate /= 8
		s.n["extra fast recovery"]++
	} else if s.trate += ri; s.trate > line {
		s.trate = line
	}
	if s.crate = (s.crate + s.trate) / 2; s.crate >= line {
		s.crate, s.limited = line, false // the limiter is given up
		s.agenda.cancel(0)
		s.n["released"]++
	}
}

func TestQCNAgainstSlowTwin(t *testing.T) {
	n := tally{}
	often(t, func(t *rapid.T) {
		p := &QCNParams{
			Line: mbps(t, 500, 400_000, "line"), Min: mbps(t, 1, 100, "min"), AI: mbps(t, 0, 500, "ai"), HAI: mbps(t, 0, 5_000, "hai"),
			Gd: 1 / float64(int(64)<<rapid.IntRange(0, 4).Draw(t, "gd")), MinDec: rapid.Float64Range(0.1, 1).Draw(t, "mindec"),
			ByteReset: units.Size(rapid.IntRange(1_000, 20_000).Draw(t, "bytes")), TimeReset: micros(t, 10, 500, "time"),
			Threshold: rapid.IntRange(1, 6).Draw(t, "threshold"),
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		rp := NewQCN(p, 1)
		slow := &slowQCN{p: p, n: n, crate: float64(p.Line)}
		now := units.Time(0)
		for range rapid.IntRange(20, 200).Draw(t, "steps") {
			now = slow.agenda.later(t, now, 3*p.TimeReset)
			slow.agenda.runTo(now)
			switch rapid.IntRange(0, 12).Draw(t, "what") {
			case 0: // several in a row are how the rate gets far below its target
				for range rapid.IntRange(1, 8).Draw(t, "burst") {
					q := rapid.Uint32Range(0, 63).Draw(t, "feedback")
					rp.Notify(now, wire.NotECT, q)
					if q > 0 {
						slow.cnm(now, q)
					}
				}
			case 1:
				now += 200 * p.TimeReset // as far as the end
				slow.agenda.runTo(now)
			case 2, 3, 4, 5, 6, 7, 8:
				frame := rapid.IntRange(64, 9_000).Draw(t, "frame")
				rp.Sent(now, frame)
				slow.frame(frame)
			case 9:
				if rapid.IntRange(0, 9).Draw(t, "new") == 0 {
					rp.Start(now)
					slow = &slowQCN{p: p, n: n, crate: float64(p.Line)}
				}
			}
			if got := rp.Rate(now); !same(got, slow.crate) || rp.associated != slow.limited {
				t.Fatalf("at %v: rate %v limited %v, want %v %v", now, got, rp.associated, slow.crate, slow.limited)
			}
			if slow.limited && (!near(rp.trate, slow.trate, 1e-9) || rp.byteStage != slow.byteStage || rp.timeStage != slow.timerStage) {
				t.Fatalf("at %v: target %v stages %d %d, want %v %d %d", now, rp.trate, rp.byteStage, rp.timeStage, slow.trate, slow.byteStage, slow.timerStage)
			}
		}
	})
	n.reached(t, "cut limited", "fast recovery", "active", "hyper-active", "extra fast recovery", "released")
}

// Rates in Mbit/s, worked by hand. A cycle of bytes ends with the byte after
// 150 000, and with the one after 75 000 from the fifth on.
func TestQCNByHand(t *testing.T) {
	const (
		cnm   = iota // of a feedback
		bytes        // sent
		wait         // microseconds
	)
	type step struct {
		what, n      int
		crate, trate float64
	}
	for name, steps := range map[string][]step{
		"fast recovery, then active increase": {
			{cnm, 63, 5078.125, 10_000},         // 1 - 63/128 = 0.5078125
			{bytes, 150_000, 5078.125, 10_000},  // not over yet
			{bytes, 1, 7539.0625, 10_000},       //
			{cnm, 32, 5654.296875, 7539.0625},   // a new event: 1 - 32/128
			{bytes, 150_001, 6596.6796875, 0},   // half of what is missing,
			{bytes, 150_001, 7067.87109375, 0},  // a quarter,
			{bytes, 150_001, 7303.466796875, 0}, // an eighth,
			{bytes, 150_001, 7421.2646484375, 0},
			{bytes, 150_001, 7482.66357421875, 7544.0625}, // the fifth adds 5
			{bytes, 75_000, 7482.66357421875, 7544.0625},
			{bytes, 1, 7515.863037109375, 7549.0625},
		},
		"hyper-active increase": {
			{cnm, 63, 5078.125, 10_000}, {bytes, 150_001, 7539.0625, 10_000},
			{cnm, 1, 7480.1635742187500, 7539.0625}, // 1 - 1/128
			{wait, 15_000, 7509.613037109375, 0}, {wait, 15_000, 7524.3377685546875, 0}, {wait, 15_000, 7531.70013427734375, 0}, {wait, 15_000, 7535.381317138671875, 0},
			{wait, 14_999, 7535.381317138671875, 7539.0625},
			{wait, 1, 7539.7219085693359375, 7544.0625}, // the timer's fifth: active
			{wait, 7_500, 7544.39220428466796875, 7549.0625},
			{bytes, 150_001, 7549.227352142333984375, 7554.0625}, {bytes, 150_001, 7554.1449260711669921875, 7559.0625},
			{bytes, 150_001, 7559.10371303558349609375, 7564.0625}, {bytes, 150_001, 7564.083106517791748046875, 7569.0625},
			{bytes, 150_001, 7591.5728032588958740234375, 7619.0625}, // both at five: 50
			{bytes, 75_001, 7655.31765162944793701171875, 7719.0625}, // both at six: 100, for the timer has six
			{bytes, 75_001, 7737.190075814723968505859375, 7819.0625},
			{wait, 7_500, 7853.1262879073619842529296875, 7969.0625}, // both at seven: 150
		},
		"extra fast recovery": {
			{cnm, 63, 5078.125, 10_000}, {cnm, 63, 2578.7353515625, 10_000}, {cnm, 63, 1309.51404571533203125, 10_000},
			{cnm, 63, 664.9876013398170471, 10_000}, // one event: the target stays
			{bytes, 150_001, 957.4938006699085236, 1250},
			{wait, 15_000, 1103.7469003349542618, 1250}, // also a first cycle, but 1250 is near enough
		},
		"no extra fast recovery within a factor of ten": {
			{cnm, 63, 5078.125, 10_000}, {cnm, 63, 2578.7353515625, 10_000}, {cnm, 63, 1309.51404571533203125, 10_000},
			{cnm, 30, 1002.5966912508010864, 10_000}, {wait, 15_000, 5501.2983456254005432, 10_000},
		},
		"only in the first cycle": {
			{cnm, 63, 5078.125, 10_000}, {cnm, 63, 2578.7353515625, 10_000}, {wait, 15_000, 6289.36767578125, 10_000},
			// Fast recovery of the bytes has not begun: still the same event.
			{cnm, 63, 3193.8195228576660156, 10_000},
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := NewQCN(qcnParams(), 1)
			now := units.Second
			for i, s := range steps {
				switch s.what {
				case cnm:
					q.Notify(now, wire.NotECT, uint32(s.n))
				case bytes:
					q.Sent(now, s.n)
				case wait:
					now += units.Time(s.n) * units.Microsecond
				}
				if got := q.Rate(now); !same(got, s.crate*1e6) || s.trate != 0 && !near(q.trate, s.trate*1e6, 1e-12) {
					t.Fatalf("step %d: %v, target %v, want %v %v", i, got, q.trate, s.crate, s.trate)
				}
			}
		})
	}
}

func TestQCNLimits(t *testing.T) {
	q := NewQCN(qcnParams(), 1)
	q.Sent(0, 1_000_000_000)
	q.Notify(0, wire.NotECT, 0)
	if q.Rate(units.Second) != line || q.associated {
		t.Error("no feedback, no limiter")
	}
	q.Notify(units.Second, wire.NotECT, 1000) // more than six bits say: 63
	if q.Rate(units.Second) != 5_078_125_000 {
		t.Error(q.Rate(units.Second))
	}
	for range 20 {
		q.Notify(units.Second, wire.NotECT, 63)
	}
	if q.Rate(units.Second) != 5*units.Mbps {
		t.Error(q.Rate(units.Second))
	}
	// The limiter is given up at the line's rate; the next CNM makes a new one,
	// with a whole cycle to go.
	q.Sent(units.Second, 100_000)
	at := 20 * units.Second
	if q.Rate(at) != line || q.associated {
		t.Errorf("%v, limited %v", q.Rate(at), q.associated)
	}
	q.Notify(at, wire.NotECT, 32)
	q.Sent(at, 100_000)
	if q.Rate(at) != line*3/4 || q.byteStage != 0 {
		t.Errorf("%v, stage %d", q.Rate(at), q.byteStage)
	}
}

// Both cycles are as long as they should be within 15 %, all of it is used, and
// the mean is right.
func TestQCNJitter(t *testing.T) {
	p := qcnParams()
	p.Jitter = 0.15
	q := NewQCN(p, 7)
	const n = 10_000
	var least, most, sum [2]float64
	least = [2]float64{2, 2}
	for range n {
		q.Start(0)
		q.Notify(0, wire.NotECT, 10)
		for i, f := range []float64{q.bytes / 150_000, float64(q.timer) / float64(15*units.Millisecond)} {
			least[i], most[i], sum[i] = min(least[i], f), max(most[i], f), sum[i]+f/n
		}
	}
	for i := range 2 {
		if least[i] < 0.85 || least[i] > 0.851 || most[i] > 1.15 || most[i] < 1.149 || sum[i] < 0.995 || sum[i] > 1.005 {
			t.Errorf("from %v to %v, mean %v", least[i], most[i], sum[i])
		}
	}
}

// The cycles that follow have jitter too, the halved ones as well.
func TestQCNJitterOfEveryCycle(t *testing.T) {
	p := qcnParams()
	p.Jitter = 0.15
	q := NewQCN(p, 3)
	q.Notify(0, wire.NotECT, 63)
	for stage := 1; stage <= 12; stage++ {
		end := q.timer
		if q.Rate(end - 1); q.timeStage != stage-1 {
			t.Fatalf("cycle %d ended early", stage)
		}
		q.Rate(end)
		q.Sent(end, 10_000_000)
		if q.timeStage != stage || q.byteStage != stage {
			t.Fatalf("stages %d %d, want %d", q.timeStage, q.byteStage, stage)
		}
		half := 1.
		if stage >= 5 {
			half = 2
		}
		for _, f := range []float64{half * float64(q.timer-end) / float64(p.TimeReset), half * q.bytes / float64(p.ByteReset)} {
			if f < 0.85-1e-9 || f > 1.15 || f == 1 {
				t.Fatalf("after cycle %d: %v of the next", stage, f)
			}
		}
	}
}

// A flow's random sequence is its seed's, whatever other flows do.
func TestQCNSeeds(t *testing.T) {
	p := qcnParams()
	p.Jitter = 0.15
	run := func(seed uint64, other bool) (rates []units.Rate) {
		q, noise := NewQCN(p, seed), NewQCN(p, 99)
		for i := range units.Time(300) {
			at := i * units.Millisecond
			if i%50 == 0 {
				q.Notify(at, wire.NotECT, 40)
			}
			if other {
				noise.Notify(at, wire.NotECT, 5)
			}
			q.Sent(at, 9_000)
			rates = append(rates, q.Rate(at))
		}
		return rates
	}
	one := fmt.Sprint(run(1, false))
	if fmt.Sprint(run(1, true)) != one {
		t.Error("the same seed gives another sequence")
	}
	if fmt.Sprint(run(2, false)) == one {
		t.Error("another seed gives the same sequence")
	}
}
