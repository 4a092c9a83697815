package ratelimit

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// The loops below let every timer tick one by one, however long a silence was: what a silence leaves behind is to be
// as they leave it, to the last bit. They come before every call, which finds nothing due then.

func tickMlx(m *Mlx, now units.Time) (n int) {
	for ; m.limited; n++ {
		switch {
		case m.alphaAt <= now && m.alphaAt <= m.cutAt && m.alphaAt <= m.rateAt:
			m.alpha = float64((1 - m.params.G) * m.alpha)
			if m.alphaSeen {
				m.alpha += m.params.G
				m.alphaSeen = false
			}
			m.alphaAt += m.params.AlphaTimer
		case m.cutAt <= now && m.cutAt < m.rateAt:
			if m.cutSeen {
				m.cut()
			}
			m.cutAt += m.params.CutTimer
		case m.rateAt <= now:
			m.increase()
			m.rateAt += m.params.RateTimer
		default:
			return n
		}
	}
	return n
}

func tickQCN(q *QCN, now units.Time) (n int) {
	for ; q.associated && q.timer <= now; n++ {
		q.timeStage++
		reset := float64(q.params.TimeReset)
		if q.timeStage >= q.params.Threshold {
			reset /= 2
		}
		q.timer += units.Time(q.jitter() * reset)
		q.increase()
	}
	return n
}

func tickDCQCN(d *DCQCN, now units.Time) (n int) {
	for ; d.limited && (d.alphaTimer <= now || d.rateTimer <= now); n++ {
		if d.alphaTimer <= d.rateTimer {
			d.alpha = float64((1 - d.params.G) * d.alpha)
			d.alphaTimer += d.params.AlphaTimer
			continue
		}
		d.timeStage++
		d.rateTimer += d.params.RateTimer
		d.increase()
	}
	return n
}

// pausedEver asks the port as its words say: the last pause, and before that those before it.
func pausedEver(p *Port, t units.Time) bool {
	if t >= p.PausedFrom {
		return t < p.PausedUntil
	}
	for _, b := range p.before {
		if t >= b.from && t < b.until {
			return true
		}
	}
	return false
}

func tickPlus(d *DCQCNPlus, now units.Time) (n int) {
	for ; d.limited && (d.alphaAt <= now || d.rateAt <= now); n++ {
		if d.alphaAt <= d.rateAt {
			if !pausedEver(d.port, d.alphaAt) {
				d.alpha = float64((1 - d.params.G) * d.alpha)
			}
			d.alphaAt += d.period(d.params.LambdaA)
			continue
		}
		if !pausedEver(d.port, d.rateAt) {
			d.state++
			d.increase()
		}
		d.rateAt += d.period(d.params.Lambda)
	}
	return n
}

// visible is an alpha, but for what is too small to be told from nothing.
func visible(alpha, g float64) float64 {
	if alpha < g*negligible {
		return 0
	}
	return alpha
}

// silent draws how long nothing happens: often for a moment, and at times for as much as twenty thousand ticks.
func silent(t *rapid.T, now *units.Time, timer units.Time) {
	switch rapid.IntRange(0, 9).Draw(t, "silence") {
	case 0, 1, 2, 3, 4:
		*now += timer * units.Time(rapid.IntRange(0, 3000).Draw(t, "dt")) / 1000
	case 5, 6, 7, 8:
		*now += timer*units.Time(rapid.IntRange(0, 300).Draw(t, "ticks")) + units.Time(rapid.IntRange(0, 1).Draw(t, "and"))
	default:
		*now += timer * units.Time(rapid.IntRange(0, 20_000).Draw(t, "many ticks"))
	}
}

// happen is one event at both of two reaction points.
func happen(t *rapid.T, now units.Time, line units.Rate, both ...Starter) {
	what, n := rapid.IntRange(0, 15).Draw(t, "what"), rapid.IntRange(1, 4).Draw(t, "n")
	word := rapid.Uint32Range(0, 200_000).Draw(t, "word")
	start := units.Rate(rapid.Int64Range(1, int64(line)).Draw(t, "rate"))
	for _, rp := range both {
		switch what {
		case 0:
			rp.Start(now)
		case 1:
			rp.StartAt(now, start)
		case 2, 3, 4, 5, 6:
			for range n {
				rp.Notify(now, wire.CE, word)
			}
		case 7:
			rp.Notify(now, ue, word)
		case 8, 9, 10:
			rp.Sent(now, 1500*n)
		}
	}
}

// Parameters at which little or nothing grows are those at which a rate stands still short of the line's.
func bps(t *rapid.T, line units.Rate, name string) units.Rate {
	least := int64(line+mostSteps-1) / mostSteps
	some := rapid.OneOf(rapid.Just[int64](0), rapid.Int64Range(least, least+1000), rapid.Int64Range(least, 5e9))
	return units.Rate(some.Draw(t, name))
}

func lineRate(t *rapid.T) units.Rate  { return units.Rate(rapid.Int64Range(1e6, 4e11).Draw(t, "line")) }
func leastRate(t *rapid.T) units.Rate { return units.Rate(rapid.Int64Range(1, 1e6).Draw(t, "min")) }

func weight(t *rapid.T) float64 {
	large, small := rapid.Float64Range(1e-3, 1), rapid.Float64Range(leastG, 1e-3)
	return rapid.OneOf(rapid.Just(1./256), rapid.Just(1.), large, small).Draw(t, "g")
}

func TestMlxSilence(t *testing.T) {
	n := tally{}
	often(t, func(t *rapid.T) {
		line := lineRate(t)
		p := &MlxParams{
			Line: line, Min: leastRate(t),
			AI: bps(t, line, "ai"), HAI: bps(t, line, "hai"), G: weight(t),
			AlphaTimer: micros(t, 1, 60, "alpha"), CutTimer: micros(t, 1, 60, "cut"), RateTimer: micros(t, 1, 60, "rate"),
			Threshold: rapid.SampledFrom([]int{0, 1, 5, 100, 3000, 1 << 40}).Draw(t, "threshold"),
			Clamp:     rapid.Bool().Draw(t, "clamp"),
		}
		if rapid.Bool().Draw(t, "odd") { // the timers can meet the cuts
			p.AlphaTimer += units.Nanosecond
			p.RateTimer += units.Nanosecond
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		rp, slow := NewMlx(p), NewMlx(p)
		now := units.Time(0)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			silent(t, &now, p.RateTimer)
			if tickMlx(slow, now) > 1000 {
				n["long"]++
			}
			happen(t, now, p.Line, rp, slow)
			rp.Rate(now)
			x, y := *rp, *slow
			x.alpha, y.alpha = visible(x.alpha, p.G), visible(y.alpha, p.G)
			if x != y {
				t.Fatalf("at %v: %+v, want %+v", now, x, y)
			}
		}
	})
	n.reached(t, "long")
}

func TestDCQCNSilence(t *testing.T) {
	n := tally{}
	often(t, func(t *rapid.T) {
		line := lineRate(t)
		p := &DCQCNParams{
			Line: line, Min: leastRate(t),
			AI: bps(t, line, "ai"), HAI: bps(t, line, "hai"), G: weight(t),
			AlphaTimer: micros(t, 1, 60, "alpha"), RateTimer: micros(t, 1, 60, "rate"),
			ByteCount:  units.Size(rapid.IntRange(500, 5_000).Draw(t, "bytes")),
			Threshold:  rapid.SampledFrom([]int{1, 5, 100, 3000, 1 << 40}).Draw(t, "threshold"),
			AlphaFirst: rapid.Bool().Draw(t, "alpha first"),
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		clamp := rapid.Bool().Draw(t, "clamp") // TCD has the same timers, and more ways to begin them
		rp, slow := NewTCD(p, clamp), NewTCD(p, clamp)
		now := units.Time(0)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			silent(t, &now, p.RateTimer)
			if tickDCQCN(&slow.DCQCN, now) > 1000 {
				n["long"]++
			}
			happen(t, now, p.Line, rp, slow)
			rp.Rate(now)
			x, y := rp.DCQCN, slow.DCQCN
			x.alpha, y.alpha = visible(x.alpha, p.G), visible(y.alpha, p.G)
			if x != y {
				t.Fatalf("at %v: %+v, want %+v", now, x, y)
			}
		}
	})
	n.reached(t, "long")
}

// Cycles of QCN draw from a random sequence, which goes on by cycles that are skipped no further: without jitter it does
// not matter.
func TestQCNSilence(t *testing.T) {
	n := tally{}
	often(t, func(t *rapid.T) {
		line := lineRate(t)
		p := &QCNParams{
			Line: line, Min: leastRate(t), AI: bps(t, line, "ai"), HAI: bps(t, line, "hai"), Gd: 1. / 128, MinDec: 0.5,
			ByteReset: units.Size(rapid.IntRange(500, 5_000).Draw(t, "bytes")), TimeReset: micros(t, 1, 60, "time"),
			Threshold: rapid.SampledFrom([]int{1, 5, 100, 3000, 1 << 40}).Draw(t, "threshold"),
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		rp, slow := NewQCN(p, 1), NewQCN(p, 1)
		now := units.Time(0)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			silent(t, &now, p.TimeReset)
			if tickQCN(slow, now) > 2*fewCycles {
				n["long"]++
			}
			happen(t, now, p.Line, rp, slow)
			rp.Rate(now)
			x, y := *rp, *slow
			if x.random != y.random {
				n["skipped"]++
			}
			x.random = y.random
			for _, q := range []*QCN{&x, &y} {
				if !q.associated { // what a limiter that is gone leaves behind counts no more
					q.byteStage, q.timeStage, q.bytes, q.timer = 0, 0, 0, 0
				}
			}
			if x != y {
				t.Fatalf("at %v: %+v, want %+v", now, x, y)
			}
		}
	})
	n.reached(t, "long", "skipped")
}

func TestDCQCNPlusSilence(t *testing.T) {
	n := tally{}
	often(t, func(t *rapid.T) {
		p := &DCQCNPlusParams{
			Line: lineRate(t), Min: leastRate(t), G: weight(t),
			Timer: micros(t, 1, 90, "timer"), Short: micros(t, 10, 190, "short"),
			Frame:  units.Size(rapid.IntRange(64, 9_000).Draw(t, "frame")),
			Lambda: rapid.IntRange(1, 3).Draw(t, "lambda"), LambdaA: rapid.IntRange(1, 3).Draw(t, "lambda_a"),
			Threshold: rapid.SampledFrom([]int{1, 5, 100, 3000, 1 << 40}).Draw(t, "threshold"),
			Cut:       rapid.SampledFrom([]float64{0.25, 0.5, 1}).Draw(t, "cut"),
			Hyper:     rapid.SampledFrom([]float64{1e-3, 0.5, 1, 5}).Draw(t, "hyper"),
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		port := &Port{}
		rp, slow := NewDCQCNPlus(p, port), NewDCQCNPlus(p, port)
		now := units.Time(0)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			before := now
			silent(t, &now, p.Timer)
			// Pauses come meanwhile, and are told of late; the last may go on.
			at := before
			for range rapid.IntRange(0, 20).Draw(t, "pauses") {
				from := at + (now-at)*units.Time(rapid.IntRange(0, 99).Draw(t, "from"))/100
				until := from + (now-from)*units.Time(rapid.IntRange(0, 100).Draw(t, "for"))/100
				if from <= port.PausedFrom {
					break
				}
				n["pause"]++
				port.Note(from, until)
				at = until
			}
			if rapid.IntRange(0, 5).Draw(t, "for good") == 0 && now > port.PausedFrom {
				port.Note(port.PausedFrom, units.Never)
			}
			if tickPlus(slow, now) > 1000 {
				n["long"]++
			}
			happen(t, now, p.Line, rp, slow)
			rp.Rate(now)
			x, y := *rp, *slow
			x.alpha, y.alpha = visible(x.alpha, p.G), visible(y.alpha, p.G)
			if x != y {
				t.Fatalf("at %v: %+v, want %+v", now, x, y)
			}
		}
	})
	n.reached(t, "long", "pause")
}

// An alpha that is negligible could as well be none: the next CNPs find the same.
func TestNegligibleAlphas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.OneOf(rapid.Just(1./256), rapid.Just(1.), rapid.Float64Range(leastG, 1)).Draw(t, "g")
		alpha := g * negligible * rapid.Float64Range(0, 1).Draw(t, "alpha")
		if float64((1-g)*alpha)+g != g || 1-alpha != 1 {
			t.Fatalf("g %v, alpha %v: it shows", g, alpha)
		}
	})
}

// A silence of a year, by a clock that is set back meanwhile, is over at once, whatever keeps the rate from the
// line's: nothing grows, recovery does not end, the port is paused for good.
func TestSilenceOfAYear(t *testing.T) {
	mlx, fast, still := mlxParams(), mlxParams(), mlxParams()
	fast.Threshold = 1 << 40
	still.AI, still.HAI = 0, 0
	paper, slow, staged := dcqcnParams(), dcqcnParams(), dcqcnParams()
	paper.AlphaTimer, paper.RateTimer = units.Microsecond, units.Microsecond
	slow.AI, slow.HAI, slow.G = 0, 0, 1
	staged.Threshold = 1 << 40
	plus, long := plusParams(), plusParams()
	plus.Timer = units.Microsecond
	long.Threshold = 1 << 40
	cycles, steady, waits := qcnParams(), qcnParams(), qcnParams()
	for _, p := range []*QCNParams{cycles, steady, waits} {
		p.TimeReset, p.Jitter = units.Microsecond, 0.15
	}
	steady.AI, steady.HAI = 0, 0
	waits.Threshold = 1 << 40
	paused := &Port{PausedFrom: 1, PausedUntil: units.Never}
	for name, rp := range map[string]Starter{
		"mlx": NewMlx(mlx), "mlx, fast recovery": NewMlx(fast), "mlx, no increase": NewMlx(still),
		"dcqcn": NewDCQCN(paper), "dcqcn, no increase": NewDCQCN(slow), "dcqcn, fast recovery": NewDCQCN(staged),
		"tcd": NewTCD(paper, true), "dcqcn+": NewDCQCNPlus(plus, nil),
		"dcqcn+, fast recovery": NewDCQCNPlus(long, nil), "dcqcn+, paused": NewDCQCNPlus(plus, paused),
		"qcn": NewQCN(cycles, 1), "qcn, no increase": NewQCN(steady, 1), "qcn, fast recovery": NewQCN(waits, 1),
	} {
		for _, asked := range []bool{true, false} { // every month, or only at the end
			rp.Start(0)
			now := units.Lap
			for range 3 {
				rp.Notify(now, wire.CE, 60_000)
				rp.Sent(now, 30_000_000)
				now += 7 * units.Microsecond
			}
			for range 14 {
				if now += units.Lap; asked {
					rp.Rate(now)
				}
				units.Rebase(rp, units.Lap)
				now -= units.Lap
			}
			if rate := rp.Rate(now); rate <= 0 || rate > line {
				t.Errorf("%s: %v", name, rate)
			}
			var next []units.Time
			switch x := rp.(type) {
			case *Mlx:
				next = []units.Time{x.alphaAt, x.cutAt, x.rateAt}
			case *DCQCN:
				next = []units.Time{x.alphaTimer, x.rateTimer}
			case *TCD:
				next = []units.Time{x.alphaTimer, x.rateTimer}
			case *DCQCNPlus:
				next = []units.Time{x.alphaAt, x.rateAt}
			case *QCN:
				if x.associated {
					next = []units.Time{x.timer}
				}
			}
			for i, at := range next {
				if at <= now || at > now+units.Millisecond {
					t.Errorf("%s: timer %d is due %v from now", name, i, at-now)
				}
			}
		}
	}
}
