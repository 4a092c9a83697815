package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMeanError(t *testing.T) {
	for _, c := range []struct {
		v         []float64
		mean, err float64
	}{
		{slices.Repeat([]float64{1}, 100), 1, 0},
		{slices.Repeat([]float64{0.1}, 7), 0.1, 0},
		{[]float64{1, 2, 3, 4}, 2.5, math.Sqrt(5.0 / 3 / 4)},
		{[]float64{-3, 5}, 1, 4},
	} {
		mean, err := MeanError(c.v)
		if exact := c.err == 0; exact && (mean != c.mean || err != 0) || math.Abs(mean-c.mean) > 1e-12 || math.Abs(err-c.err) > 1e-12 {
			t.Errorf("%v: %v ± %v, want %v ± %v", c.v, mean, err, c.mean, c.err)
		}
	}
}

// The median is in the middle, or between the two that are; a quantile is one of the values. What never came is later
// than all that did.
func TestMediansAndQuantiles(t *testing.T) {
	for _, c := range []struct {
		v                    []float64
		lower, middle, upper float64
	}{
		{[]float64{7}, 7, 7, 7},
		{[]float64{2, 1}, 1, 1.5, 2},
		{[]float64{4, 1, 2}, 1, 2, 4},
		{[]float64{8, 1, 2, 4}, 1, 3, 4},
		{[]float64{1, 16, 2, 4, 8}, 2, 4, 8},
		{[]float64{60, 0, 1, 2, 3, 4, 5}, 1, 3, 5},
		{[]float64{Never, 1, 2}, 1, 2, Never},
		{[]float64{Never, 1}, 1, Never, Never},
	} {
		before := slices.Clone(c.v)
		if m := Median(c.v); m != c.middle || !slices.Equal(c.v, before) {
			t.Errorf("median of %v: %v, want %v", before, m, c.middle)
		}
		s := slices.Sorted(slices.Values(c.v))
		if l, u := Quantile(0.25, s), Quantile(0.75, s); l != c.lower || u != c.upper || Quantile(0, s) != s[0] || Quantile(1, s) != s[len(s)-1] {
			t.Errorf("quartiles of %v: %v and %v, want %v and %v", s, l, u, c.lower, c.upper)
		}
	}
}

// By what a quantile is said to be: no value below it is exceeded by so few.
func TestQuantileByItsDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		v := make([]float64, 1+random.IntN(40))
		for i := range v {
			v[i] = float64(random.IntN(20))
		}
		slices.Sort(v)
		p := float64(1+random.IntN(100)) / 100
		want := slices.IndexFunc(v, func(x float64) bool {
			n := 0
			for _, y := range v {
				if y <= x {
					n++
				}
			}
			return float64(n) >= p*float64(len(v))
		})
		if got := Quantile(p, v); got != v[want] {
			t.Fatalf("quantile %v of %v: %v, want %v", p, v, got, v[want])
		}
	}
}

func TestSpread(t *testing.T) {
	if got := Spread([]float64{3, 2, 4, 1}); got != 3/2.5 {
		t.Error(got)
	}
}

// An interval leaves out as much of what is drawn below as above, draws the same every time, and there is one of two
// runs but not of one.
func TestIntervalLeavesOutTheEnds(t *testing.T) {
	var drawn [2][]int
	for i := range drawn {
		call := Resamples
		low, high, ok := Interval(5, func(runs []int) float64 {
			drawn[i] = append(drawn[i], runs...)
			call--
			return float64(call) // each number below Resamples once
		})
		if !ok || low != 0.025*Resamples-1 || high != 0.975*Resamples-1 {
			t.Errorf("from %v to %v", low, high)
		}
	}
	times := make([]int, 5)
	for _, run := range drawn[0] {
		times[run]++
	}
	if !slices.Equal(drawn[0], drawn[1]) || len(drawn[0]) != 5*Resamples || slices.Min(times) < Resamples*9/10 {
		t.Errorf("runs were drawn %v times", times)
	}
	if low, high, ok := MedianInterval([]float64{1, 3}); !ok || low != 1 || high != 3 {
		t.Errorf("of two runs from %v to %v", low, high)
	}
	if _, _, ok := MedianInterval([]float64{1}); ok {
		t.Error("of one run there is an interval")
	}
}

// What came in none of n runs may be so frequent that in one of forty such series it comes in none. 0.1684 of 20 runs
// is in tables of Clopper and Pearson's intervals.
func TestMostUnseen(t *testing.T) {
	for n := 1; n <= 100; n++ {
		none := 1.0
		for range n {
			none *= 1 - MostUnseen(n)
		}
		if math.Abs(none-0.025) > 1e-12 {
			t.Errorf("of %d runs: %v, which is unseen in %v of all series", n, MostUnseen(n), none)
		}
	}
	if got := math.Round(1e4 * MostUnseen(20)); got != 1684 {
		t.Errorf("of 20 runs: %v", got)
	}
}
