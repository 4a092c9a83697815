package scheme

import (
	"math"
	"testing"

	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// fluid is PCN's fluid model (NSDI'20 appendix A.1, equations 3 to 7) around
// the reaction points that photon runs: one step is one control loop T.
type fluid struct {
	c, t float64 // capacity, bit/s, and control loop, s
	q    float64 // bits in the queue
	rps  []*ratelimit.PCN
}

const (
	wmin     = 1. / 128
	capacity = 10 * units.Gbps
)

// newFluid begins with flows at given rates in Mbit/s; 0 is line rate.
func newFluid(start ...uint32) *fluid {
	f := &fluid{c: float64(capacity), t: 500e-6}
	params := &ratelimit.PCNParams{Line: capacity, WMin: wmin, WMax: 0.5, Min: units.Mbps}
	for _, r := range start {
		rp := ratelimit.NewPCN(params)
		if r > 0 {
			rp.Notify(0, wire.CE, uint32(math.Round(float64(r)/(1-wmin))))
		}
		f.rps = append(f.rps, rp)
	}
	return f
}

func (f *fluid) rates() (all []float64, sum float64) {
	for _, rp := range f.rps {
		r := float64(rp.Rate(0))
		all = append(all, r)
		sum += r
	}
	return all, sum
}

// step is one control loop; it reports whether the port was congested.
func (f *fluid) step() (congested bool) {
	rates, sum := f.rates()
	f.q = max(0, f.q+(sum-f.c)*f.t) // equation 3
	congested = f.q > 0             // equation 4
	for i, rp := range f.rps {
		received := rates[i] // equation 5
		if congested {
			received = rates[i] / sum * f.c
		}
		ecn := wire.NotECT
		if congested {
			ecn = wire.CE
		}
		rp.Notify(0, ecn, uint32(math.Round(received/1e6))) // equations 6 and 7
	}
	return congested
}

// The rounding of RecRate to 1 Mbit/s is up to 1/2500 of a fair share here.
const rounding = 1e-3

// Proposition 1: from overload the total rate is (1-wmin)C after one control
// loop, and the queue is gone after ceil(1 + (sum R(0) - C)/(wmin C)).
func TestFluidConvergesInOneLoop(t *testing.T) {
	f := newFluid(0, 0, 0, 0)
	f.step()
	if _, sum := f.rates(); math.Abs(sum/f.c-(1-wmin)) > rounding {
		t.Errorf("after one loop %.5f C, want %.5f C", sum/f.c, 1-wmin)
	}
	loops := 1
	for ; f.q > 0; loops++ {
		f.step()
	}
	if want := int(math.Ceil(1 + 3/wmin)); math.Abs(float64(loops-want)) > 0.05*float64(want) {
		t.Errorf("drained after %d loops, want %d", loops, want)
	}
}

// From zero the total exceeds C after 10, 8 and 5 loops with 2, 4 and 16 flows.
func TestFluidGrowsFromZero(t *testing.T) {
	for n, want := range map[int]int{2: 10, 4: 8, 16: 5} {
		start := make([]uint32, n)
		for i := range start {
			start[i] = 1
		}
		f := newFluid(start...)
		loops := 0
		for {
			if _, sum := f.rates(); sum > f.c {
				break
			}
			f.step()
			loops++
		}
		if loops != want {
			t.Errorf("%d flows: %d loops, want %d", n, loops, want)
		}
	}
}

// Proposition 2: whatever the start, the shares approach C/N, by eta' = a eta + b
// in every cycle of N control loops (equations 13 and 14).
func TestFluidIsFair(t *testing.T) {
	f := newFluid(7000, 2000, 800, 200)
	n := float64(len(f.rps))
	a := (1 - wmin) * (1 - wmin) / ((1-wmin)*(1-wmin) + n*wmin)
	b := wmin / ((1-wmin)*(1-wmin) + n*wmin)
	for f.step(); f.q > 0; { // to the end of the first decrease
		f.step()
	}
	shares := func() (eta []float64) {
		rates, sum := f.rates()
		for _, r := range rates {
			eta = append(eta, r/sum)
		}
		return eta
	}
	for cycle := range 400 {
		before := shares()
		for increased := false; ; { // one increase and the decreases that follow
			congested := f.step()
			increased = increased || congested
			if increased && !congested {
				break
			}
		}
		for i, eta := range shares() {
			if want := a*before[i] + b; math.Abs(eta-want) > 0.02*want {
				t.Fatalf("cycle %d, flow %d: share %.4f, want %.4f", cycle, i, eta, want)
			}
		}
	}
	for i, eta := range shares() {
		if math.Abs(eta-1/n) > 0.01/n {
			t.Errorf("flow %d has %.4f in the end", i, eta)
		}
	}
}

// Proposition 3: in the steady state one loop increases and N-1 decrease, the
// queue stays within (N-2+wmin) wmin C T, and the rates within wmin C.
func TestFluidIsBounded(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		f := newFluid(make([]uint32, n)...)
		for range 3000 {
			f.step()
		}
		peak, decreases, loops := 0.0, 0, 100*n
		low, high := math.Inf(1), 0.0
		for range loops {
			if f.step() {
				decreases++
			}
			peak = max(peak, f.q)
			rates, _ := f.rates()
			low, high = min(low, rates[0]), max(high, rates[0])
		}
		bound := (float64(n) - 2 + wmin) * wmin * f.c * f.t
		if peak > bound*1.05+1e6*float64(n)*f.t || peak < bound*0.8 {
			t.Errorf("%d flows: queue up to %.0f bits, bound %.0f", n, peak, bound)
		}
		if want := loops * (n - 1) / n; math.Abs(float64(decreases-want)) > 0.03*float64(loops) {
			t.Errorf("%d flows: %d of %d loops decrease, want %d", n, decreases, loops, want)
		}
		if swing := high - low; swing > wmin*f.c*1.01 {
			t.Errorf("%d flows: a rate swings by %.0f bit/s, bound %.0f", n, swing, wmin*f.c)
		}
	}
}
