package ratelimit

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

const line = 10 * units.Gbps

func near(a, b, relative float64) bool {
	return math.Abs(a-b) <= relative*max(math.Abs(a), math.Abs(b))
}

// The evolution of w and rate from zero under CNPs that allow an increase,
// w_min = 1/128 and w_max = 1/2 (NSDI'20 figure 10), worked by hand from
// algorithm 1. "No more than 10 % in the first 5, 95 % after 15."
func TestPCNFigure10(t *testing.T) {
	want := map[int][2]float64{
		1: {.0078, .01166}, 2: {.0194, .01735}, 3: {.0364, .02572}, 4: {.0612, .03793}, 5: {.0968, .05545}, 6: {.1469, .0801},
		7: {.2152, .11373}, 8: {.3045, .15767}, 9: {.4141, .21164}, 10: {.5381, .27267}, 12: {.7765, .38999}, 15: {.9584, .47952}, 20: {.9986, .49931},
	}
	p := NewPCN(&PCNParams{Line: line, WMin: 1. / 128, WMax: 0.5, Min: 1})
	p.rate = 0
	for n := 1; n <= 20; n++ {
		p.Notify(0, wire.NotECT, 12345)
		if v, ok := want[n]; ok && (math.Abs(p.rate/float64(line)-v[0]) > 5e-5 || math.Abs(p.w-v[1]) > 5e-6) {
			t.Errorf("CNP %d: rate %.4f w %.5f, want %.4f %.5f", n, p.rate/float64(line), p.w, v[0], v[1])
		}
	}
}

// slowPCN is algorithm 1 as printed.
type slowPCN struct{ lineRate, sendRate, w, wmin, wmax float64 }

func (s *slowPCN) cnp(ce bool, recRate float64) {
	if ce {
		s.sendRate = min(s.sendRate, recRate*(1-s.wmin))
		s.w = s.wmin
	} else {
		s.sendRate = s.sendRate*(1-s.w) + s.lineRate*s.w
		s.w = s.w*(1-s.w) + s.wmax*s.w
	}
}

func TestPCNAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		params := &PCNParams{Line: line, WMin: rapid.Float64Range(1e-4, 0.1).Draw(t, "wmin"), WMax: rapid.Float64Range(0.1, 0.9).Draw(t, "wmax"), Min: units.Mbps}
		rp := NewPCN(params)
		slow := slowPCN{float64(line), float64(line), params.WMin, params.WMin, params.WMax}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			ce := rapid.Bool().Draw(t, "ce")
			rec := rapid.Uint32Range(0, 12_000).Draw(t, "rec")
			ecn := wire.NotECT
			if ce {
				ecn = wire.CE
			}
			rp.Notify(0, ecn, rec)
			slow.cnp(ce, float64(rec)*1e6)
			slow.sendRate = max(slow.sendRate, 1e6) // ours: never silent
			if !near(float64(rp.Rate(0)), slow.sendRate, 1e-6) || !near(rp.w, slow.w, 1e-9) {
				t.Fatalf("rate %v w %v, want %v %v", rp.Rate(0), rp.w, slow.sendRate, slow.w)
			}
		}
		rp.Start(0)
		if rp.Rate(0) != line || rp.w != params.WMin {
			t.Fatal("a new flow begins at line rate")
		}
	})
}

func dcqcnParams() *DCQCNParams {
	return &DCQCNParams{Line: line, Min: 100 * units.Mbps, AI: 40 * units.Mbps, HAI: 100 * units.Mbps, G: 1. / 256,
		AlphaTimer: 55 * units.Microsecond, RateTimer: 55 * units.Microsecond, ByteCount: 10 * units.MB, Threshold: 5}
}

// slowDCQCN keeps a list of timers and walks time in steps of one nanosecond's
// multiples given by the events; every rule is the paper's sentence.
type slowDCQCN struct {
	p              *DCQCNParams
	rc, rt, alpha  float64
	lastCut        units.Time
	cut            bool
	alphas, timers int // expiries since the last cut
	sent           units.Size
}

func (s *slowDCQCN) stage() int { return int(s.sent / s.p.ByteCount) }

func (s *slowDCQCN) raise(timer, counter int) {
	f := s.p.Threshold
	if timer < f && counter < f { // fast recovery
	} else if timer > f && counter > f { // hyper increase
		s.rt += float64(min(timer, counter)-f) * float64(s.p.HAI)
	} else {
		s.rt += float64(s.p.AI)
	}
	s.rt = min(s.rt, float64(s.p.Line))
	s.rc = (s.rt + s.rc) / 2
}

func (s *slowDCQCN) until(now units.Time) {
	for s.cut {
		nextAlpha := s.lastCut + units.Time(s.alphas+1)*s.p.AlphaTimer
		nextTimer := s.lastCut + units.Time(s.timers+1)*s.p.RateTimer
		switch {
		case nextAlpha <= now && nextAlpha <= nextTimer:
			s.alphas++
			s.alpha *= 1 - s.p.G
		case nextTimer <= now:
			s.timers++
			s.raise(s.timers, s.stage())
		default:
			return
		}
	}
}

func TestDCQCNAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		params := dcqcnParams()
		params.ByteCount = units.Size(rapid.IntRange(1_000, 100_000).Draw(t, "B"))
		params.RateTimer = units.Time(rapid.IntRange(20, 90).Draw(t, "T")) * units.Microsecond
		params.Alpha = rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "alpha")
		params.AlphaFirst = rapid.Bool().Draw(t, "alpha first")
		rp := NewDCQCN(params)
		slow := &slowDCQCN{p: params, rc: float64(line), rt: float64(line), alpha: 1}
		if params.Alpha > 0 {
			slow.alpha = params.Alpha
		}
		now := units.Time(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += units.Time(rapid.Int64Range(0, int64(150*units.Microsecond)).Draw(t, "dt"))
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				rp.Notify(now, wire.NotECT, 0)
				slow.until(now)
				cut, raised := slow.alpha, (1-params.G)*slow.alpha+params.G
				if params.AlphaFirst {
					cut = raised
				}
				slow.rt = slow.rc
				slow.rc = max(slow.rc*(1-cut/2), float64(params.Min))
				slow.alpha = raised
				slow.cut, slow.lastCut, slow.alphas, slow.timers, slow.sent = true, now, 0, 0, 0
			case 1, 2:
				n := rapid.IntRange(60, 9000).Draw(t, "n")
				rp.Sent(now, n)
				slow.until(now)
				if before := slow.stage(); slow.cut {
					slow.sent += units.Size(n)
					for s := before + 1; s <= slow.stage(); s++ {
						slow.raise(slow.timers, s)
					}
				}
			}
			slow.until(now)
			if got := rp.Rate(now); !near(float64(got), slow.rc, 1e-6) || !near(rp.alpha, slow.alpha, 1e-9) || !near(rp.rt, slow.rt, 1e-9) {
				t.Fatalf("at %v: rate %v alpha %v target %v, want %v %v %v", now, got, rp.alpha, rp.rt, slow.rc, slow.alpha, slow.rt)
			}
		}
	})
}

// The first cuts, worked by hand: alpha 1 halves, and again; then recovery.
func TestDCQCNByHand(t *testing.T) {
	d := NewDCQCN(dcqcnParams())
	d.Sent(0, 1_000_000_000)
	if d.Rate(units.Second) != line || d.byteStage != 0 {
		t.Fatal("before its first CNP a flow is not limited")
	}
	at := units.Second
	d.Notify(at, 0, 0)
	d.Notify(at, 0, 0)
	if d.Rate(at) != line/4 || d.rt != float64(line)/2 {
		t.Fatalf("%v, target %v", d.Rate(at), d.rt)
	}
	// Fast recovery: half the way to 5 Gbit/s with each of four timers.
	for i, want := range []float64{3.75e9, 4.375e9, 4.6875e9, 4.84375e9} {
		at += 55 * units.Microsecond
		if got := d.Rate(at); float64(got) != want {
			t.Fatalf("timer %d: %v, want %v", i+1, got, want)
		}
	}
	// The fifth reaches F: additive increase.
	at += 55 * units.Microsecond
	if got := d.Rate(at); got != (4_843_750_000+5_040_000_000)/2 {
		t.Fatalf("timer 5: %v", got)
	}
	if want := math.Pow(255./256, 5); !near(d.alpha, want, 1e-12) {
		t.Fatalf("alpha %v, want %v", d.alpha, want)
	}
}

func TestFloors(t *testing.T) {
	d := NewDCQCN(dcqcnParams())
	for range 100 {
		d.Notify(0, 0, 0)
	}
	if d.Rate(0) != 100*units.Mbps {
		t.Error(d.Rate(0))
	}
	p := NewPCN(&PCNParams{Line: line, WMin: 0.01, WMax: 0.5, Min: units.Mbps})
	p.Notify(0, wire.CE, 0)
	if p.Rate(0) != units.Mbps {
		t.Error(p.Rate(0))
	}
}

func TestValidate(t *testing.T) {
	good := PCNParams{Line: line, WMin: 0.01, WMax: 0.5, Min: units.Mbps}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for i, change := range []func(*PCNParams){
		func(p *PCNParams) { p.Line = 0 }, func(p *PCNParams) { p.WMin = 0 }, func(p *PCNParams) { p.WMin = math.NaN() },
		func(p *PCNParams) { p.WMax = 0.001 }, func(p *PCNParams) { p.WMax = 1 }, func(p *PCNParams) { p.Min = 0 }, func(p *PCNParams) { p.Min = 2 * line },
	} {
		bad := good
		if change(&bad); bad.Validate() == nil {
			t.Errorf("PCN %d passes", i)
		}
	}
	if err := dcqcnParams().Validate(); err != nil {
		t.Error(err)
	}
	for i, change := range []func(*DCQCNParams){
		func(p *DCQCNParams) { p.Line = 0 }, func(p *DCQCNParams) { p.Min = 0 }, func(p *DCQCNParams) { p.AI = -1 }, func(p *DCQCNParams) { p.G = 0 },
		func(p *DCQCNParams) { p.AlphaTimer = 0 }, func(p *DCQCNParams) { p.RateTimer = 0 }, func(p *DCQCNParams) { p.ByteCount = 0 }, func(p *DCQCNParams) { p.Threshold = 0 },
	} {
		bad := dcqcnParams()
		if change(bad); bad.Validate() == nil {
			t.Errorf("DCQCN %d passes", i)
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	rps := []RP{Unlimited{line}, NewPCN(&PCNParams{Line: line, WMin: 0.01, WMax: 0.5, Min: 1}), NewDCQCN(dcqcnParams())}
	pacer := NewPacer[struct{}](8)
	now := units.Time(0)
	if n := testing.AllocsPerRun(100, func() {
		now += units.Microsecond
		for i, rp := range rps {
			rp.Notify(now, wire.CE, 5000)
			rp.Sent(now, 1500)
			pacer.Wait(i, 3, now+rp.Rate(now).Serialize(1500))
		}
		for pacer.Advance(now) != 0 {
			pacer.Pop(3)
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func ExamplePCN() {
	rp := NewPCN(&PCNParams{Line: 10 * units.Gbps, WMin: 1. / 128, WMax: 0.5, Min: units.Mbps})
	rp.Notify(0, wire.CE, 2500) // congested; 2.5 Gbit/s arrive
	fmt.Println(rp.Rate(0))
	rp.Notify(0, wire.NotECT, 2480) // no longer congested
	fmt.Println(rp.Rate(0))
	// Output:
	// 2.48046875Gbps
	// 2.539215087Gbps
}

// Timers come out in the order of their times, none early and none lost,
// against a sorted list.
func TestWheelAgainstSlowTwin(t *testing.T) {
	type timer struct {
		flow int
		at   units.Time
	}
	rapid.Check(t, func(t *rapid.T) {
		const flows = 20
		w := NewWheel[struct{}](rapid.SampledFrom([]int{flows, 3000, 200_000}).Draw(t, "room"))
		slow := map[int]units.Time{}
		borders := []units.Time{0, Slot<<digitBits - 5, Slot<<(2*digitBits) - 5, Horizon - 3*Slot, 3*Horizon - 1}
		now := rapid.SampledFrom(borders).Draw(t, "now")
		w.Expire(now)
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				flow := rapid.IntRange(0, flows-1).Draw(t, "flow")
				scale := rapid.SampledFrom([]units.Time{1, Slot, 100 * Slot, 1 << 30, 1 << 40, 1 << 50, 2 * Horizon}).Draw(t, "scale")
				at := now + units.Time(rapid.Int64Range(-10, 300).Draw(t, "in"))*scale
				if at < 0 || scale == 2*Horizon && at > 8*Horizon {
					at = now
				}
				w.Schedule(flow, at)
				slow[flow] = at
			case 2:
				flow := rapid.IntRange(0, flows-1).Draw(t, "flow")
				if _, ok := slow[flow]; ok != w.Scheduled(flow) {
					t.Fatal("Scheduled is wrong")
				}
				w.Cancel(flow)
				delete(slow, flow)
			case 3:
				first := units.Never
				for _, at := range slow {
					first = min(first, at)
				}
				if next := w.Next(); next > max(first, 0) || (first == units.Never) != (next == units.Never) {
					t.Fatalf("Next %v, first timer %v", next, first)
				}
				if rapid.Bool().Draw(t, "exact") && first != units.Never {
					now = max(now, first)
				} else {
					now += units.Time(rapid.Int64Range(0, 1<<rapid.IntRange(1, 52).Draw(t, "log")).Draw(t, "dt"))
				}
				var got, want []timer
				for flow, ok := w.Expire(now); ok; flow, ok = w.Expire(now) {
					got = append(got, timer{flow, slow[flow]})
				}
				for flow, at := range slow {
					if at <= now {
						want = append(want, timer{flow, at})
						delete(slow, flow)
					}
				}
				inOrder := func(a, b timer) int { return int(a.at/Slot) - int(b.at/Slot) }
				overdue := slices.ContainsFunc(want, func(x timer) bool { return x.at+Horizon < now })
				if !overdue && !slices.IsSortedFunc(got, inOrder) {
					t.Fatalf("out of order: %v", got)
				}
				byFlow := func(a, b timer) int { return a.flow - b.flow }
				slices.SortFunc(got, byFlow)
				slices.SortFunc(want, byFlow)
				if !slices.Equal(got, want) {
					t.Fatalf("at %v: got %v, want %v", now, got, want)
				}
			}
			if w.Len() != len(slow) {
				t.Fatalf("%d timers, want %d", w.Len(), len(slow))
			}
		}
	})
}

func TestPacerTakesTurns(t *testing.T) {
	p := NewPacer[struct{}](3)
	for f := range 3 {
		p.Wait(f, 3, units.Time(f)) // ready at 0, 1, 2 ps
	}
	var order []int
	for range 9 {
		if p.Advance(100) != 1<<3 {
			t.Fatal("not ready")
		}
		f, _ := p.Pop(3)
		order = append(order, f)
		p.Wait(f, 3, 100) // backlogged: ready again at once
	}
	if !slices.Equal(order, []int{0, 1, 2, 0, 1, 2, 0, 1, 2}) {
		t.Fatal(order)
	}
	p.Advance(100)
	p.Stop(1)
	p.Wait(1, 5, 200)
	if p.Advance(200) != 1<<3|1<<5 {
		t.Fatalf("%b", p.Ready())
	}
	p.Stop(0)
	p.Stop(2)
	p.Stop(1)
	if p.Advance(300) != 0 || p.Next() != units.Never {
		t.Fatal("stopped flows are still there")
	}
}

// One frame of a flow: take it, schedule the next.
func BenchmarkPacer(b *testing.B) {
	for _, flows := range []int{10, 1_000, 100_000} {
		b.Run(fmt.Sprint(flows), func(b *testing.B) {
			p := NewPacer[struct{}](flows)
			gap := units.Microsecond * units.Time(flows)
			for f := range flows {
				p.Wait(f, 3, units.Time(f)*units.Microsecond)
			}
			now := units.Time(0)
			for b.Loop() {
				for p.Advance(now) == 0 {
					now = p.Next()
				}
				f, due := p.Pop(3)
				p.Wait(f, 3, due+gap)
			}
		})
	}
}
