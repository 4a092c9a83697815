package stat

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Remissions of leukaemia in weeks, with 6-mercaptopurine (Freireich and others, Blood 21, 1963), which textbooks take
// for the estimate: these parts last longer than the times that ended, and the median is 23.
func TestOpenQuantileOfTextbooks(t *testing.T) {
	ended := []float64{23, 6, 6, 6, 7, 10, 13, 16, 22}
	open := []float64{6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35}
	times := []float64{6, 7, 10, 13, 16, 22, 23, Never}
	for i, lasts := range []float64{0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448} {
		if got := OpenQuantile(1-lasts-0.001, ended, open); got != times[i] {
			t.Errorf("%v last longer than %v, not than %v", lasts, times[i], got)
		}
		if got := OpenQuantile(1-lasts+0.001, ended, open); got != times[i+1] {
			t.Errorf("fewer than %v last longer than %v, not than %v", lasts, times[i+1], got)
		}
	}
	if got := OpenQuantile(0.5, ended, open); got != 23 {
		t.Errorf("the median is %v", got)
	}
}

// The same by Efron's rule (1967), in fractions: what is open gives its share in equal parts to all that lasted longer.
func TestOpenQuantileAgainstShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.IntRange(1, 9), 0, 12)
		ended, open := times.Draw(t, "ended"), times.Draw(t, "open")
		part := big.NewRat(int64(rapid.IntRange(0, 20).Draw(t, "part")), 20)

		var all []int // twice the time, and one more of what is open: it comes after what ended then
		for _, x := range ended {
			all = append(all, 2*x)
		}
		for _, x := range open {
			all = append(all, 2*x+1)
		}
		slices.Sort(all)
		shares := make([]*big.Rat, len(all))
		for i := range shares {
			shares[i] = big.NewRat(1, int64(len(all)))
		}
		want, sum := Never, new(big.Rat)
		for i, x := range all {
			if x%2 == 0 {
				if sum.Add(sum, shares[i]); want == Never && sum.Cmp(part) >= 0 {
					want = float64(x / 2)
				}
				continue
			}
			for k := i + 1; k < len(all); k++ {
				shares[k].Add(shares[k], new(big.Rat).Mul(shares[i], big.NewRat(1, int64(len(all)-1-i))))
			}
		}
		p, _ := part.Float64()
		if got := OpenQuantile(p, asFloats(ended), asFloats(open)); got != want {
			t.Fatalf("%v, not %v", got, want)
		}
		if len(open) == 0 && len(ended) > 0 {
			if got := Quantile(p, slices.Sorted(slices.Values(asFloats(ended)))); got != want {
				t.Fatalf("%v with all, %v with those that ended", got, want)
			}
		}
	})
}

func asFloats(v []int) (all []float64) {
	for _, x := range v {
		all = append(all, float64(x))
	}
	return all
}
