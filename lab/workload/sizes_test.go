package workload

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

func TestPareto(t *testing.T) {
	p := Pareto{MeanBytes: 10e3, Shape: 1.1} // AF-QCN, table 1
	if p.Mean() != 10e3 {
		t.Errorf("mean %v", p.Mean())
	}
	// The least is 909.09 bytes, a part 2^-1.1 of the flows is above twice as much.
	for q, want := range map[float64]units.Size{0: 909, 1 - math.Pow(2, -1.1): 1818, 1: ParetoCap, -1: 909, 7: ParetoCap} {
		if got := p.Quantile(q); got != want {
			t.Errorf("Quantile(%v) = %v, want %v", q, got, want)
		}
	}
	if got := p.CappedMean(); math.Abs(got-7740) > 10 {
		t.Errorf("%v of the mean is below the cap", got)
	}
	if got := (Pareto{MeanBytes: 1e12, Shape: 2}).CappedMean(); got != float64(ParetoCap) {
		t.Errorf("all is above the cap: mean %v", got)
	}
	if got := (Pareto{MeanBytes: 0.01, Shape: 2}).Quantile(0); got != 1 {
		t.Errorf("the smallest flow has %v", got)
	}
}

// The slow twin of CappedMean adds up quantiles. Shapes are not too close to 1:
// the tail between two steps would be too long.
func TestParetoMeans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Pareto{MeanBytes: rapid.Float64Range(1e3, 1e7).Draw(t, "mean"), Shape: rapid.Float64Range(2, 5).Draw(t, "shape")}
		const steps = 20_000
		sum := 0.0
		for i := range steps {
			sum += float64(p.Quantile((float64(i) + 0.5) / steps))
		}
		if got := sum / steps; math.Abs(got/p.CappedMean()-1) > 0.01 {
			t.Fatalf("%v by quantiles, %v computed", got, p.CappedMean())
		}
	})
}

func TestFixed(t *testing.T) {
	if f := Fixed(1500); f.Mean() != 1500 || f.Quantile(0) != 1500 || f.Quantile(1) != 1500 {
		t.Errorf("%v", f)
	}
}
